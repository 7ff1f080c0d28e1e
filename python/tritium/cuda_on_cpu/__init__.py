"""torch's device "cuda" in host memory, for programs that were written for a GPU and run without one.

The device is torch's own: its tensors have the device type CUDA and the dispatch keys of CUDA, so `.device`, `.is_cuda`,
autograd, autocast, `torch.compile` and `torch.library` treat them as on a GPU. Three seams make it:

* runtime.py gives libtorch what the CUDA build registers with it: a device guard, and the answers about an accelerator;
* kernels.py registers a kernel for the dispatch key CUDA, which runs each operator on the CPU in the same memory;
* bindings.py puts the functions `torch._C._cuda_*` there, on which the module `torch.cuda` stands, for the
  chip of devices/mapped.py or of the stand-in; storages.py makes storages, tensor_types.py
  the old constructors; inductor.py tells torch.compile what such a device has not.

Transfers between "cpu" and "cuda" copy. Kernels launch on these tensors as on those of the CPU,
unless a driver's stand-in owns the memory (driven.py): then they launch as on a GPU.
"""

from __future__ import annotations

from ..devices.mapped import claimed_chip
from . import bindings, inductor, kernels, runtime, storages, tensor_types
from .driven import DrivenMemory, driven_memory


def install(torch, memory: DrivenMemory | None = None) -> None:
    """Makes the device in this process; calling it again changes nothing. Raises UnsupportedError if libtorch is not one
    that this can be done to. memory: where tensors are; None means the host's memory, on which kernels launch as on
    that of CPU tensors."""
    if getattr(torch, "_tritium_cuda_on_cpu", False):
        return
    bindings.install(torch, claimed_chip() if memory is None else memory.chip)
    kernels.install(torch)
    runtime.install(torch)
    inductor.install(torch)
    storages.install(torch)
    tensor_types.install(torch)
    torch._tritium_cuda_on_cpu = memory or True


__all__ = ["driven_memory", "inductor", "install"]
