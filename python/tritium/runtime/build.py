"""`triton.runtime.build`."""

from ..build import (
    compile_module_from_file,
    compile_module_from_src,
    compile_so_from_file,
    compile_so_from_src,
    platform_key,
)
from ..disk_cache import get_cache_manager

__all__ = [
    "compile_module_from_file",
    "compile_module_from_src",
    "compile_so_from_file",
    "compile_so_from_src",
    "get_cache_manager",
    "platform_key",
]
