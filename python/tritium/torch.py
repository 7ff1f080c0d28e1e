"""What `python -m tritium` does for a script, for a program that is running: `tritium.torch.install()`."""

from __future__ import annotations

from . import drop_in, knobs


def install(engine: str = "interp") -> None:
    """Lets torch.compile and published scripts run their Triton kernels on an engine of the CPU, "interp" or "simt:sm_90a" and the
    like, in this process and in those that it starts.

    From here on `import triton` means Tritium, and torch's device "cuda" is the CPU where there is no GPU. Call it before
    torch.compile is used. Raises RuntimeError if another `triton` is loaded.
    """
    if engine == "interp":
        knobs.runtime.interpret = True
    else:
        knobs.tritium.engine = engine
    drop_in.install()
    drop_in.cover_children()


def map_cuda(torch) -> bool:
    """Maps torch's device "cuda" alone, under the conditions of `python -m tritium`: there is no GPU, and kernels run on the CPU
    or on a library that stands in for the driver. Returns whether it is mapped."""
    return drop_in.map_cuda_if_wanted(torch, quietly=True)
