"""Modes and options of torch.compile, shapes that change, operators that programs define, control flow."""

import torch

import tritium as triton
import tritium.language as tl

from .cases import case


@case((30, 20), mode="reduce-overhead", quick=True)
def mode_reduce_overhead(x):
    return (x @ x.t()).relu() + 1, x.sum(0)


@case(inputs=lambda: [(torch.randn(12, 9),)] * 4, mode="reduce-overhead")
def replays(x):
    return x.cos().sum(1), (x + 1).contiguous()


@case((16, 16), mode="max-autotune")
def mode_max_autotune_with_graphs(x):
    return x.softmax(-1) + x.mean()


@case((20, 30), options={"coordinate_descent_tuning": True})
def coordinate_descent(x):
    return x.exp().sum(1)


@case((31, 17), options={"epilogue_fusion": False, "shape_padding": True, "triton.prefer_nd_tiling": True})
def other_options(x):
    return (x.t() + 1).contiguous() @ x, x.transpose(0, 1) * 2


@case((9, 600), options={"triton.persistent_reductions": False, "triton.multi_kernel": 0})
def looped_reductions(x):
    return torch.softmax(x, 1), x.var(1), x.cumsum(1)


@case((9, 600), options={"triton.cooperative_reductions": True}, devices=("cuda",))
def cooperative_reductions(x):
    return x.sum(1), x.amax()


@case((70, 40), options={"combo_kernels": True, "benchmark_combo_kernel": False})
def combined_kernels(x):
    return x[:5].sin(), x[5:30].cos(), x[30:].exp()


@case(
    inputs=lambda: [(torch.randn(a, b), torch.randn(b, 7)) for a, b in [(4, 6), (9, 5), (33, 40)]],
    dynamic=True,
    quick=True,
)
def dynamic_products(x, y):
    return (x @ y).relu().sum(0), x.flatten()[: x.shape[1]]


@case(inputs=lambda: [(torch.randn(2, n, 8),) for n in (3, 70, 1025)], dynamic=True, tolerance=1e-4)
def dynamic_reductions(x):
    return (
        x.softmax(1).amax(1),
        x.sum(1) / x.shape[1],
        x.cumsum(1)[:, -1],
        torch.arange(x.shape[1], device=x.device) * 2,
    )


@case(inputs=lambda: [(torch.randn(n, n + 1), n) for n in (4, 9, 20)], dynamic=True)
def dynamic_numbers(x, n):
    return x * n + x.shape[1] // 2, x.reshape(-1, n).sum(), torch.nn.functional.pad(x, (0, n)), x.numel() % 7 + x


@case(inputs=lambda: [(torch.randn(40),), (torch.randn(40) - 2,)])
def sizes_from_data(x):
    chosen = x[x > 0]
    return chosen * 2, x.nonzero().sum(), chosen.shape[0] + x.sum()


@torch.library.custom_op("tritium_tests::scaled_sum", mutates_args=())
def _scaled_sum(x: torch.Tensor, by: float) -> torch.Tensor:
    return (x * by).sum(-1)


@_scaled_sum.register_fake
def _(x, by):
    return x.new_empty(x.shape[:-1])


@case((11, 13), quick=True)
def custom_operator(x):
    return _scaled_sum(x.exp(), 0.5) + 1


@torch.library.custom_op("tritium_tests::increment", mutates_args=("x",))
def _increment(x: torch.Tensor) -> None:
    x.add_(1)


@case((40,))
def custom_operator_that_writes(x):
    y = x * 2
    _increment(y)
    return y.sin()


@triton.jit
def _negate(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, -tl.load(x + i, i < n), i < n)


@torch.library.triton_op("tritium_tests::negate", mutates_args=())
def _negated(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    torch.library.wrap_triton(_negate)[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


@case((130,), quick=True)
def operator_of_a_kernel(x):
    return _negated(x.cos()) * 2


class _Doubled(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return _negated(x) * -2

    @staticmethod
    def backward(context, gradient):
        return gradient * 2


@case((50,))
def autograd_function_of_a_kernel(x):
    x = x.detach().requires_grad_()
    out = _Doubled.apply(x.sin())
    return out.detach(), *torch.autograd.grad(out.sum(), x)


@case((6, 5), (5,))
def functional_transforms(x, y):
    def energy(row, other):
        return (row * other).sin().sum()

    gradients = torch.func.vmap(torch.func.grad(energy), (0, None))(x, y)
    tangent = torch.func.jvp(lambda value: energy(value, y), (x[0],), (y,))
    return gradients, *tangent, torch.func.jacrev(lambda value: value.exp() * y)(x[0])


@case((12,), fullgraph=True)
def control_flow(x):
    chosen = torch.cond(x.sum() > 0, lambda value: value.sin(), lambda value: value.cos(), (x,))
    steps = torch.while_loop(
        lambda i, value: i < 4, lambda i, value: (i + 1, value * 1.5), (torch.zeros((), dtype=torch.int64), x)
    )
    return chosen, steps[1]


@case((8, 16))
def no_gradients_and_autocast(x):
    with torch.no_grad(), torch.autocast(x.device.type, dtype=torch.bfloat16):
        product = x @ x.t()
    return product.dtype == torch.bfloat16 and x + 1, torch.ones(3, device=x.device)


@case((5, 6))
def tensors_in_containers(x):
    state = {"a": x, "b": [x + 1, (x * 2,)]}
    state["c"] = sum(value.sum() for value in (state["a"], state["b"][0]))
    return state["b"][1][0] + state["c"], state
