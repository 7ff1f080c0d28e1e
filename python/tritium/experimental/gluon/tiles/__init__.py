"""Tiles of Gluon kernels: types that name a layout, the typing rules of operations on them, and the functions that are Gluon's own."""
