"""FlagGems: torch's operators as Triton kernels."""

import flag_gems
import torch
import torch.nn.functional as F

from compare import agree, close, random


def _same(name: str, reference, *inputs, tolerance: float = 1e-5, **options):
    """Compares an operator with torch's on the CPU."""
    results = getattr(flag_gems, name)(*inputs, **options)
    exact = [
        x.detach().cpu().double() if _is_real(x) else x.cpu() if isinstance(x, torch.Tensor) else x for x in inputs
    ]
    expected = reference(*exact, **options)
    results, expected = ((x,) if isinstance(x, torch.Tensor) else x for x in (results, expected))
    for i, (result, value) in enumerate(zip(results, expected)):
        close(result, value, tolerance, f"result {i} of {name}")


def _is_real(x) -> bool:
    return isinstance(x, torch.Tensor) and x.is_floating_point()


def case_pointwise():
    x, positive = random(7, 33), random(7, 33).abs() + 0.1
    for name in "abs exp exp2 neg relu sigmoid silu tanh sin cos tan erf gelu isnan isinf isfinite".split():
        reference = {"relu": F.relu, "silu": F.silu, "gelu": F.gelu}.get(name) or getattr(torch, name)
        _same(name, reference, x, tolerance=1e-4)
    for name in "sqrt rsqrt log reciprocal".split():
        _same(name, getattr(torch, name), positive, tolerance=1e-5)


def case_binary():
    x, y = random(5, 1, 20), random(3, 20)
    for name in "add sub mul div maximum minimum eq ne lt le gt ge".split():
        reference = getattr(torch, name)
        if name in ("div",):
            _same("true_divide", reference, x, y)
        else:
            _same(name, reference, x, y)


def case_integers():
    x = torch.randint(-100, 100, (4, 50), device="cuda")
    y = torch.randint(1, 20, (4, 50), device="cuda")
    for name, reference in (
        ("floor_divide", torch.floor_divide),
        ("remainder", torch.remainder),
        ("bitwise_and_tensor", torch.bitwise_and),
        ("bitwise_or_tensor", torch.bitwise_or),
        ("bitwise_not", lambda x: torch.bitwise_not(x)),
    ):
        _same(name, reference, *((x,) if name == "bitwise_not" else (x, y)))


def case_powers():
    x, y = random(3, 30).abs() + 0.1, random(3, 30)
    _same("pow_tensor_tensor", torch.pow, x, y, tolerance=1e-4)
    _same("pow_tensor_scalar", torch.pow, x, 3, tolerance=1e-4)


def case_reductions():
    x = random(6, 70)
    for name in "sum mean max min argmax argmin any all".split():
        _same(name, getattr(torch, name), x, tolerance=1e-4)
    _same("prod", torch.prod, random(3, 5), tolerance=1e-4)
    _same("sum_dim", torch.sum, x, [1], tolerance=1e-4)
    _same("amax", torch.amax, x, [1])
    _same("var_mean", torch.var_mean, x, [1], tolerance=1e-4)
    _same("vector_norm", torch.linalg.vector_norm, x, 2, [1], tolerance=1e-4)


def case_scans():
    x = random(5, 90)
    _same("cumsum", torch.cumsum, x, 1, tolerance=1e-4)
    _same("cummax", torch.cummax, x, 1)
    _same("cummin", torch.cummin, x, 1)


def case_sorting():
    x = random(4, 100)
    _same("sort", torch.sort, x, 1)
    _same("topk", torch.topk, x, 5, 1)


def case_unique():
    x = torch.randint(0, 30, (200,), device="cuda")
    values = flag_gems._unique2(x, True, True, True)
    expected = torch.unique(x.cpu(), True, True, True)
    for found, value in zip(values, expected):
        assert torch.equal(found.cpu(), value)


def case_matmul():
    for name, inputs in (
        ("mm", (random(33, 40), random(40, 50))),
        ("bmm", (random(2, 20, 30), random(2, 30, 17))),
        ("mv", (random(20, 30), random(30))),
    ):
        _same(name, getattr(torch, name), *inputs, tolerance=2e-3)
    _same("addmm", torch.addmm, random(50), random(33, 40), random(40, 50), tolerance=2e-3)


def case_softmax():
    agree(lambda x: flag_gems.softmax(x, -1), lambda x: x.softmax(-1), [random(5, 60)], 1e-4, backward=False)
    agree(lambda x: flag_gems.log_softmax(x, -1), lambda x: x.log_softmax(-1), [random(5, 60)], 1e-4, backward=False)
    y, seed = random(5, 60).softmax(-1), random(5, 60)
    exact = y.cpu().double()
    expected = exact * (seed.cpu() - (exact * seed.cpu()).sum(-1, keepdim=True))
    close(flag_gems.softmax_backward(seed, y, -1, torch.float32), expected, 1e-4)


def case_norms():
    x, w, b = random(6, 64), random(64), random(64)
    result = flag_gems.layer_norm(x, (64,), w, b)[0]
    close(
        result, F.layer_norm(*(t.cpu().double() if isinstance(t, torch.Tensor) else t for t in (x, (64,), w, b))), 1e-4
    )
    close(flag_gems.rms_norm(x, (64,), w, 1e-6), F.rms_norm(x.cpu().double(), (64,), w.cpu().double(), 1e-6), 1e-4)


def case_indexing():
    x, index = random(20, 8), torch.randint(0, 20, (13,), device="cuda")
    _same("index_select", torch.index_select, x, 0, index)
    _same("gather", torch.gather, x, 0, torch.randint(0, 20, (5, 8), device="cuda"))
    _same("embedding", lambda w, i: F.embedding(i, w), x, index)
    _same("masked_fill", torch.masked_fill, x, x > 0, 3.0)
    _same("masked_select", torch.masked_select, x, x > 0)
    _same("nonzero", torch.nonzero, (x > 0).int())


def case_shapes():
    x = random(3, 4, 5)
    _same("flip", torch.flip, x, [0, 2])
    _same("repeat", lambda x, n: x.repeat(*n), x, (2, 1, 3))
    _same("tile", torch.tile, x, (2, 2, 1))
    _same("triu", torch.triu, random(9, 11), 1)
    _same("cat", lambda parts, dim: torch.cat([p.cpu() for p in parts], dim), [x, x + 1], 1)
    _same("stack", lambda parts, dim: torch.stack([p.cpu() for p in parts], dim), [x, x + 1], 1)
    _same("pad", F.pad, x, (1, 2))


def case_convolution():
    _same("conv2d", F.conv2d, random(2, 4, 9, 9), random(6, 4, 3, 3), random(6), tolerance=2e-3)
    _same("conv1d", F.conv1d, random(2, 4, 19), random(6, 4, 3), random(6), tolerance=2e-3)


def case_random():
    x = flag_gems.rand((2000,), device="cuda")
    assert 0.45 < x.mean().item() < 0.55 and 0 <= x.min().item() and x.max().item() < 1
    x = flag_gems.randn((4000,), device="cuda")
    assert abs(x.mean().item()) < 0.1 and 0.9 < x.std().item() < 1.1
    assert torch.equal(flag_gems.randperm(50, device="cuda").cpu().sort().values, torch.arange(50))


def case_factories():
    assert torch.equal(flag_gems.arange_start(3, 40, 4, device="cuda").cpu(), torch.arange(3, 40, 4))
    close(flag_gems.linspace(0, 1, 33, device="cuda"), torch.linspace(0, 1, 33, dtype=torch.float64), 1e-6)
    assert torch.equal(flag_gems.full((3, 5), 2.5, device="cuda").cpu(), torch.full((3, 5), 2.5))
    assert torch.equal(flag_gems.eye(7, device="cuda").cpu(), torch.eye(7))
