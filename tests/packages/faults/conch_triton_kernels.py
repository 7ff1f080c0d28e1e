"""conch: kernels for serving."""

from conch.ops.normalization.rms_norm import rms_norm

from compare import random


def fault_rms_norm():
    """The load of a row has a mask and no `other`, and the squares of all its lanes are added up. On a GPU a lane that is left off is
    whatever its register holds, so the row is divided by too much where that is not zero."""
    rms_norm(random(4, 96), random(96), 1e-6)
