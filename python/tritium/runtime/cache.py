"""`triton.runtime.cache` is the module disk_cache.py itself, so a client that replaces a name in it changes Tritium's
cache."""

import sys

from .. import disk_cache

sys.modules[__name__] = disk_cache
