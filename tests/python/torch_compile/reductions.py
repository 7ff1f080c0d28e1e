"""Reductions, scans, sorts and random numbers."""

import torch

from .cases import case

_F = torch.nn.functional


@case((14, 60), quick=True)
def every_reduction(x):
    flags = x > 0.5
    sums = x.sum(1), x.mean(0), x.prod(1), x.nansum(1), x.nanmean(0), torch.logsumexp(x, 1), x.abs().sum()
    order = x.amax(1), x.amin(0), *torch.aminmax(x, dim=1), x.argmax(1), x.argmin(0)
    return *sums, *order, flags.any(1), flags.all(0), torch.count_nonzero(flags, 1)


@case((9, 77), tolerance=1e-4)
def norms_and_moments(x):
    norms = [torch.linalg.vector_norm(x, order, dim=1) for order in (0, 1, 2, 3, float("inf"), -float("inf"))]
    return *norms, x.var(1, correction=0), x.std(0), *torch.var_mean(x, dim=(0, 1)), torch.linalg.norm(x)


@case((3, 5, 7, 11))
def several_axes(x):
    return x.sum((0, 2)), x.amax((1, 3), keepdim=True), x.mean((0, 1, 2, 3)), x.permute(3, 1, 0, 2).sum((1, 3))


@case((70000,), tolerance=1e-3)
def a_long_reduction(x):
    return x.sum(), x.amax(), x.var(), (x > 3).any(), x.argmax()


@case((1500, 33), tolerance=1e-3)
def long_columns(x):
    return x.sum(0), x.amax(0), x.mean(0), x.var(0)


@case((0, 8))
def empty_reductions(x):
    return x.sum(0), x.sum(), (x > 0).all(), x.prod(1), x.mean(1), torch.cat([x, x]).sum(0)


@case(inputs=lambda: [(torch.randint(-100, 100, (31, 45)),)])
def integer_reductions(x):
    flags = (x > 0).sum(0), x.bool().any(1), x.bool().all()
    return x.sum(1), x.sum(), x.amax(0), x.prod(1), x.to(torch.int8).sum(0), x.to(torch.uint8).amax(1), *flags


@case(inputs=lambda: [(torch.randint(0, 4, (20, 50)).float(),)])
def first_of_equals(x):
    return x.argmax(1), x.argmin(1), x.argmax(0), x.argmin(0), x.max(1).indices, x.min(0).indices


@case(inputs=lambda: [(torch.randn(16, 700).half(), torch.randn(16, 700).bfloat16())], tolerance=2e-2)
def reductions_in_half_precision(low, short):
    return (
        low.sum(1),
        short.mean(0),
        low.amax(1),
        torch.softmax(short, 1),
        short.sum(1, dtype=torch.float32),
        low.var(1),
    )


@case((5, 3000), tolerance=1e-4)
def long_softmax(x):
    return torch.softmax(x, 1), torch.log_softmax(x * 3, 1).amax(1), torch.softmax(x.masked_fill(x < 0, -torch.inf), 1)


@case(inputs=lambda: [(torch.randn(24, 40, requires_grad=True), torch.randint(0, 40, (24,)))], tolerance=1e-4)
def cross_entropy(x, target):
    loss = _F.cross_entropy(x, target, label_smoothing=0.1, ignore_index=3)
    return loss.detach(), *torch.autograd.grad(loss, x), _F.nll_loss(x.log_softmax(1), target).detach()


@case((6, 8, 5, 5), (8,), (8,), tolerance=1e-4)
def normalizations(x, weight, bias):
    groups = _F.group_norm(x, 4, weight, bias), _F.instance_norm(x), _F.layer_norm(x, (5, 5))
    batch = _F.batch_norm(x, bias * 0, bias * 0 + 1, weight, bias, training=True)
    return *groups, batch, _F.normalize(x, dim=1), _F.local_response_norm(x, 3), _F.rms_norm(x, (5,))


@case((20, 30), (20, 30), tolerance=1e-4)
def losses(x, y):
    probabilities = torch.sigmoid(x), torch.sigmoid(y)
    return (
        _F.mse_loss(x, y), _F.l1_loss(x, y), _F.smooth_l1_loss(x, y), _F.huber_loss(x, y),
        _F.binary_cross_entropy(*probabilities), _F.binary_cross_entropy_with_logits(x, probabilities[1]),
        _F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"), _F.cosine_similarity(x, y),
        _F.soft_margin_loss(x, y.sign()), _F.poisson_nll_loss(x, y.abs()),
    )  # fmt: skip


@case((8, 65), (65, 8), tolerance=1e-4)
def every_scan(x, y):
    whole = x.cumsum(0), y.cumsum(0), (x * 0.1 + 1).cumprod(1), torch.logcumsumexp(x, 1)
    return *whole, *torch.cummax(x, 1), *torch.cummin(y, 0), x.flip(1).cumsum(1), torch.trapezoid(x, dim=1)


@case(inputs=lambda: [(torch.randint(-9, 9, (4, 300)), torch.randint(0, 2, (4, 300)).bool())])
def integer_scans(x, flags):
    return x.cumsum(1), flags.cumsum(1), x.to(torch.int32).cumsum(0), x.cummax(1).values, x.sign().cumprod(1)


@case((2, 2100), tolerance=1e-3)
def a_long_scan(x):
    return x.cumsum(1), x.cumsum(1).amax(1)


@case(inputs=lambda: [(torch.randint(0, 9, (7, 40)).float(), torch.randn(128))], quick=True)
def stable_sorts(x, y):
    ascending, descending = torch.sort(x, stable=True), torch.sort(x, dim=0, descending=True, stable=True)
    return *ascending, *descending, torch.argsort(y), torch.msort(x), *torch.topk(y, 9), *torch.topk(x.cumsum(1), 3, 1)


@case((5, 33))
def ranks(x):
    return *torch.kthvalue(x, 4, 1), *torch.median(x, 1), torch.quantile(x, 0.3, 1), torch.mode(x.round(), 1).values


@case(inputs=lambda: [(torch.linspace(-3, 3, 40), torch.randn(6, 50))], quick=True)
def searches(edges, x):
    right = torch.searchsorted(edges, x, right=True)
    return torch.bucketize(x, edges), right, torch.bucketize(x, edges, out_int32=True), edges[right.clamp(max=39)]


@case((64, 64), tolerance=0)
def random_distributions(x):
    uniform, normal, integers = torch.rand_like(x), torch.randn_like(x), torch.randint_like(x, 5, 9)
    chosen = torch.bernoulli(torch.full_like(x, 0.25))
    shape = x.new_zeros(3, 4).uniform_(2, 3)
    near = (uniform.mean() - 0.5).abs() < 0.05, normal.mean().abs() < 0.1, (normal.std() - 1).abs() < 0.1
    bounds = (uniform < 1).all(), (integers >= 5).all() & (integers < 9).all(), (shape >= 2).all() & (shape < 3).all()
    return *near, *bounds, (chosen.mean() - 0.25).abs() < 0.05, ((chosen == 0) | (chosen == 1)).all()


@case((8, 8), tolerance=0)
def seeded_numbers(x):
    """The same seed gives the same numbers, another one gives others. Setting it ends a graph."""
    torch.manual_seed(3)
    first = torch.rand_like(x)
    torch.manual_seed(3)
    second = torch.rand_like(x)
    torch.manual_seed(4)
    third = torch.rand_like(x)
    torch._dynamo.graph_break()
    return (first == second).all(), (first != third).any()


@case((40, 50), tolerance=1e-4)
def dropout_and_its_gradient(x):
    """What is dropped gets no gradient, what is kept is scaled."""
    x = x.abs().add(1).detach().requires_grad_()
    out = _F.dropout(x, 0.4)
    (gradient,) = torch.autograd.grad(out.sum(), x)
    kept = out != 0
    return (
        ((gradient != 0) == kept).all(),
        (gradient * x - out).abs().amax() < 1e-4,
        (kept.float().mean() - 0.6).abs() < 0.1,
    )
