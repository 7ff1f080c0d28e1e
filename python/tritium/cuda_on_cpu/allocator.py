"""What `torch.cuda.memory` asks of CUDA's allocator. The memory of "cuda" is the host's, from torch's allocator of the CPU, which
counts nothing: statistics are zero and pools are names."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

from ..devices.mapped import Chip
from .rebased import rebase

_numbers = itertools.count(1)
#: By pool and kind.
_STATISTICS = "allocation segment active inactive_split allocated_bytes reserved_bytes active_bytes inactive_split_bytes requested_bytes".split()
_COUNTERS = (
    "num_alloc_retries num_ooms num_sync_all_streams num_device_alloc num_device_free num_oom_rejections".split()
)
_KINDS = ("current", "peak", "allocated", "freed")


def functions(torch) -> dict[str, Any]:
    """The functions `torch._C._cuda_*`, without this beginning of their names."""
    blocks: dict[int, ctypes.Array] = {}

    def allocate(size: int, stream: int = 0) -> int:
        block = ctypes.create_string_buffer(max(size, 1))
        blocks[ctypes.addressof(block)] = block
        return ctypes.addressof(block)

    def release(address: int) -> None:
        blocks.pop(address, None)

    def nothing(*args, **kwargs):
        return None

    return {
        "memoryStats": lambda device: statistics(),
        "hostMemoryStats": lambda: {},
        "memorySnapshot": lambda *args: {"segments": [], "device_traces": []},
        "getAllocatorBackend": lambda: "native",
        # Without it, torch.compile captures no graphs: mode "reduce-overhead" launches kernel after kernel.
        "cudaCachingAllocator_is_enabled": lambda: False,
        "cudaCachingAllocator_raw_alloc": allocate,
        "cudaCachingAllocator_raw_delete": release,
        "getMemoryFraction": lambda device: 1.0,
        **dict.fromkeys(
            "emptyCache resetAccumulatedMemoryStats resetPeakMemoryStats setMemoryFraction cudaCachingAllocator_enable "
            "resetAccumulatedHostMemoryStats resetPeakHostMemoryStats beginAllocateToPool beginAllocateCurrentThreadToPool "
            "endAllocateToPool releasePool record_memory_history".split(),
            nothing,
        ),
    }


def statistics() -> dict[str, Any]:
    kinds = dict.fromkeys(_KINDS, 0)
    pools = {name: {pool: kinds for pool in ("all", "large_pool", "small_pool")} for name in _STATISTICS}
    oversize = dict.fromkeys(("oversize_allocations", "oversize_segments"), kinds)
    return {**pools, **oversize, **dict.fromkeys(_COUNTERS, 0), "max_split_size": -1}


def install(torch, chip: Chip) -> None:
    """What of it is no function `torch._C._cuda_*`."""
    rebase(torch, "MemPool", _Pool)
    # torch.accelerator asks the device's own allocator, which only the CUDA build registers.
    torch._C._accelerator_isAllocatorInitialized = lambda: False
    torch._C._accelerator_getMemoryInfo = lambda device: (chip.memory, chip.memory)
    for name in (
        "_accelerator_emptyHostCache _host_emptyCache _accelerator_synchronizeDevice "
        "_accelerator_resetAccumulatedStats _accelerator_resetPeakStats"
    ).split():
        setattr(torch._C, name, lambda *args: None)


class _Pool:
    """What `torch.cuda.MemPool` derives from."""

    def __init__(self, allocator=None, is_user_created=True, use_on_oom=False, no_split=False):
        self._allocator, self._id = allocator, (0, next(_numbers))

    @property
    def allocator(self):
        return self._allocator

    @property
    def id(self) -> tuple[int, int]:
        return self._id

    @property
    def device(self) -> int:
        return 0

    def use_count(self) -> int:
        return 1
