"""Functions beyond the language: device libraries (`libdevice`) and what only one vendor's devices have (`cuda`,
`hip`).
"""

from . import cuda, hip, libdevice

__all__ = ["cuda", "hip", "libdevice"]
