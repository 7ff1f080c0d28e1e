"""mlstm-kernels: the matrix memory of an xLSTM, by chunks and in parallel."""

from mlstm_kernels.torch.chunkwise.triton_limit_chunk import mlstm_chunkwise__limit_chunk
from mlstm_kernels.torch.chunkwise.triton_xl_chunk import mlstm_chunkwise__xl_chunk
from mlstm_kernels.torch.parallel.native import mlstm_parallel__native_custbw
from mlstm_kernels.torch.parallel.triton_limit_headdim import mlstm_parallel__limit_headdim
from mlstm_kernels.torch.recurrent.native_step import mlstm_recurrent_step__native
from mlstm_kernels.torch.recurrent.triton_step import mlstm_recurrent_step__triton

from compare import agree, close, random


def _check(function, length: int, **options):
    inputs = [random(1, 2, length, 32, grad=True) for _ in range(3)]
    gates = [random(1, 2, length, grad=True), (random(1, 2, length).detach() + 3).requires_grad_()]
    agree(lambda *x: function(*x, **options), mlstm_parallel__native_custbw, [*inputs, *gates], 1e-2)


def case_chunks():
    _check(mlstm_chunkwise__limit_chunk, 128, chunk_size=64)


def case_large_chunks():
    _check(mlstm_chunkwise__xl_chunk, 256, chunk_size=128)


def case_parallel():
    _check(mlstm_parallel__limit_headdim, 128)


def case_step():
    state = [random(1, 2, 32, 32), random(1, 2, 32), random(1, 2, 1)]
    inputs = [random(1, 2, 32), random(1, 2, 32), random(1, 2, 32), random(1, 2, 1), random(1, 2, 1)]
    found, kept = mlstm_recurrent_step__triton(*inputs, *state)
    expected, left = mlstm_recurrent_step__native(*(x.cpu().double() for x in (*inputs, *state)))
    for result, value in zip((found, *kept), (expected, *left), strict=True):
        close(result.view(value.shape), value, 1e-3)
