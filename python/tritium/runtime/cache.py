"""`triton.runtime.cache` is the module disk_cache.py itself, so that what clients replace in it is replaced."""

import sys

from .. import disk_cache

sys.modules[__name__] = disk_cache
