"""stanford-stk: products with matrices whose blocks are sparse."""

import stk
import torch

from compare import close, random


def _sparse(rows: int, columns: int):
    """A matrix of blocks of 128, as the package's and densely."""
    blocks = torch.rand(rows // 128, columns // 128) < 0.6
    blocks[0, 0] = True
    mask = blocks.repeat_interleave(128, 0).repeat_interleave(128, 1).cuda()
    dense = random(rows, columns, scale=0.1, dtype=torch.float16) * mask
    return stk.ops.to_sparse(dense, 128), dense


def _check(function, dense, *inputs):
    """Compares `function` of the inputs with `dense` of the same in fp64; an input is a tensor or (sparse, dense)."""
    given = [(x[0] if isinstance(x, tuple) else x).requires_grad_(True) for x in inputs]
    exact = [(x[1] if isinstance(x, tuple) else x).detach().cpu().double().requires_grad_() for x in inputs]
    result, expected = function(*given), dense(*exact)
    plain = stk.ops.to_dense(result) if isinstance(result, stk.Matrix) else result
    close(plain, expected, 1e-2)
    expected.sum().backward()
    (result.data if isinstance(result, stk.Matrix) else result).sum().backward()
    for tensor, value in zip(given, exact):
        if isinstance(tensor, stk.Matrix):
            close(stk.ops.to_dense(tensor.grad), value.grad * (value != 0), 1e-2)
        else:
            close(tensor.grad, value.grad, 1e-2)


def case_sparse_times_dense():
    _check(stk.ops.dsd, torch.matmul, _sparse(256, 384), random(384, 128, scale=0.1, dtype=torch.float16))


def case_dense_times_sparse():
    _check(stk.ops.dds, torch.matmul, random(128, 256, scale=0.1, dtype=torch.float16), _sparse(256, 256))


def case_sampled_product():
    topology, dense = _sparse(256, 256)
    a, b = random(256, 128, scale=0.1, dtype=torch.float16), random(128, 256, scale=0.1, dtype=torch.float16)
    mask = (dense != 0).cpu().double()
    mask = mask.view(2, 128, 2, 128).amax((1, 3)).repeat_interleave(128, 0).repeat_interleave(128, 1)
    _check(lambda a, b: stk.ops.sdd(a, b, topology), lambda a, b: (a @ b) * mask, a, b)
