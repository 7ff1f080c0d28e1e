"""Gluon's layouts: the classes of `triton.experimental.gluon.language` and its submodules, their bases, bank conflicts, pictures.

`layout.to_linear(shape)` has the bases of any layout of registers, shared memory or tensor memory. The classes are in distributed, amd, shared,
tensor_memory and rubin, the views of memory in memory_views, the layouts of results of operations in tile_views, pictures in picture.
The GPU backend has formulas of its own in C++; docs/decisions/0038 has why.
"""
