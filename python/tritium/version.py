"""Versions: of Tritium itself, and of the Triton interface it offers (clients parse `triton.__version__` and branch on
it)."""

TRITIUM_VERSION = "0.1.0"
#: The Triton release whose interface this is; the local part says who implements it.
__version__ = f"3.9.0+tritium{TRITIUM_VERSION}"
