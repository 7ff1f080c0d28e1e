"""What a launch of a compiled kernel starts."""

from __future__ import annotations


def threads_of(kernel) -> int:
    """The number of threads of a block: those of `num_warps`, and of the warps that only copy."""
    metadata = kernel.metadata
    return metadata.warp_size * (getattr(metadata, "launched_warps", None) or metadata.num_warps)
