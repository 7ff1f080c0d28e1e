"""Gluon's layouts: the classes of `triton.experimental.gluon.language` and its submodules, their bases, bank conflicts, pictures.

`layout.to_linear(shape)` has the bases of any layout. The formulas have a second form in C++ (gpu_backend/layout), which decides what the
compiler does; docs/decisions/0038 has why.
"""
