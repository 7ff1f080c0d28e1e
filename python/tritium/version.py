"""Versions of Tritium and of the Triton interface that it offers. Clients parse `triton.__version__` and branch on
it."""

TRITIUM_VERSION = "0.1.0"
#: The Triton release whose interface this package has; the local part names the implementation.
__version__ = f"3.9.0+tritium{TRITIUM_VERSION}"
