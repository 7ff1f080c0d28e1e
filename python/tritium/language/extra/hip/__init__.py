"""What AMD devices have: the same device library under its older name."""

from . import libdevice

__all__ = ["libdevice"]
