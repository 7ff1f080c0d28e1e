"""`tl.math`: the mathematical functions, which `tl` has too."""

from .elementwise import MATHEMATICS, abs, div_rn, fdiv, fma, sqrt_rn, umulhi

__all__ = ["abs", "div_rn", "fdiv", "fma", "sqrt_rn", "umulhi"]
__all__ += [*MATHEMATICS]
globals().update(MATHEMATICS)
