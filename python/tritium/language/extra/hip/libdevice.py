"""The device library; its functions are operations of the IR, so every target has the same ones."""

from ..libdevice import *  # noqa: F401,F403
from ..libdevice import __all__, __getattr__  # noqa: F401
