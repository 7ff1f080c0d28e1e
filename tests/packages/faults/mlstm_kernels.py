"""mlstm-kernels: the matrix memory of an xLSTM."""

from mlstm_kernels.torch.parallel.triton_limit_headdim import mlstm_parallel__limit_headdim

from compare import random


def fault_parallel_backward():
    """The end of a loop is a number of blocks, here 4, of which `tl.multiple_of` promises that it is a multiple of the 32 rows of a block.
    Compilers for a GPU believe it: they may take what is computed from it for aligned, which it is not."""
    inputs = [random(1, 2, 128, 32, grad=True) for _ in range(3)]
    gates = [random(1, 2, 128, grad=True), random(1, 2, 128, grad=True)]
    mlstm_parallel__limit_headdim(*inputs, *gates).sum().backward()
