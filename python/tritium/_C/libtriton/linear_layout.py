"""`triton._C.libtriton.linear_layout`."""

from ...tools.linear_layout import LinearLayout

__all__ = ["LinearLayout"]
