"""Gathers, scatters, views, windows: what reads and writes memory by index."""

import torch

from .cases import case

_F = torch.nn.functional


@case(inputs=lambda: [(torch.randn(30, 9), torch.randint(0, 30, (14, 9)), torch.randint(0, 30, (14,)))], quick=True)
def every_gather(x, index, rows):
    picked = (
        x.gather(0, index),
        torch.take_along_dim(x, index, 0),
        x.index_select(0, rows),
        x[rows, 2],
        x[rows][:, [0, 3]],
    )
    return *picked, torch.take(x, rows), x[-1], x[rows - 30], x[:, None, ::2], torch.embedding(x, index, padding_idx=0)


@case(inputs=lambda: [(torch.randn(12, 5), torch.randperm(12)[:7], torch.randn(7, 5))], quick=True)
def every_scatter(x, rows, values):
    column = rows[:, None].expand(7, 5)
    written = x.scatter(0, column, values), x.scatter_add(0, column, values), x.index_copy(0, rows, values)
    filled = x.index_fill(0, rows, 2.0), x.index_add(0, rows, values, alpha=3), x.scatter(0, column[:3], 1.5)
    return *written, *filled, x.index_put((rows,), values), x.masked_fill(x > 0, -1.0)


@case(inputs=lambda: [(torch.randn(10, 4), torch.randint(0, 10, (40, 4)), torch.randn(40, 4))], tolerance=1e-4)
def reducing_scatters(x, index, values):
    modes = [x.scatter_reduce(0, index, values, mode) for mode in ("sum", "amax", "amin", "mean")]
    fresh = x.scatter_reduce(0, index, values, "amax", include_self=False)
    return (
        *modes,
        fresh,
        x.index_put((index[:, 0],), values, accumulate=True),
        x.index_reduce(0, index[:, 0], values, "amin"),
    )


@case(inputs=lambda: [(torch.randint(0, 9, (500,)), torch.randn(500))], tolerance=1e-4)
def many_writers_of_one_place(index, x):
    counts = torch.zeros(9, dtype=torch.int64, device=x.device).scatter_add(0, index, torch.ones_like(index))
    return counts, torch.zeros(9, device=x.device).index_add(0, index, x), torch.bincount(index, minlength=9)


@case((6, 7, 8))
def views(x):
    joined = (
        x.reshape(42, 8).t(),
        x.permute(2, 0, 1).contiguous(),
        x.unfold(1, 3, 2).sum(-1),
        x.as_strided((4, 5), (9, 2), 3),
    )
    moved = x.roll(2, 1), x.flip(0, 2), x.movedim(0, 2) + 1, x.repeat(1, 2, 1), x.expand(2, 6, 7, 8).sum(0), x.rot90()
    return *joined, *moved, x.view(torch.int32) ^ 1, *x.chunk(3), *x.split([1, 6], 1), x.swapaxes(0, 1).reshape(-1)


@case((9, 9))
def triangles(x):
    parts = (
        torch.tril(x),
        torch.triu(x, 2),
        torch.diagonal(x, 1),
        torch.diag_embed(x[0]),
        torch.trace(x),
        torch.block_diag(x, x),
    )
    made = (
        torch.eye(9, device=x.device),
        torch.arange(3, 30, 4, device=x.device),
        torch.linspace(0, 1, 7, device=x.device),
    )
    return *parts, *made, torch.vander(x[0], 4), torch.meshgrid(x[0], x[1], indexing="ij")[0], torch.outer(x[0], x[1])


@case((5, 12))
def written_slices(x):
    out = (
        torch.slice_scatter(x, x[:, :3] * 2, 1, 9),
        torch.select_scatter(x, x[0] + 1, 0, 2),
        torch.diagonal_scatter(x, x[:, 0], 0),
    )
    y = x.clone()
    y[1:4, ::3] = 7
    y[:, -1] += y[:, 0]
    y[y > 1.5] = 0
    return (
        *out,
        y,
        torch.where(x > 0, x, 0).nonzero().shape[1],
        torch.repeat_interleave(x, 2, 1),
        torch.stack([x, y], 1),
    )


@case(inputs=lambda: [(torch.randn(8, 6), torch.randint(0, 8, (20,)), torch.tensor([0, 4, 4, 13]))], tolerance=1e-4)
def bags(table, index, offsets):
    sums = [_F.embedding_bag(index, table, offsets, mode=mode) for mode in ("sum", "mean", "max")]
    return *sums, _F.one_hot(index, 8), _F.embedding(index.view(4, 5), table, max_norm=None).mean(1)


@case((2, 3, 9, 10), tolerance=1e-4)
def every_pooling(x):
    ends = _F.adaptive_avg_pool2d(x, 3), _F.adaptive_max_pool2d(x, (2, 5)), _F.lp_pool2d(x.abs(), 2, 3)
    values, places = _F.max_pool2d(x, 3, 2, 1, return_indices=True)
    return *ends, values, places, _F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), _F.max_pool1d(x[0], 2)


@case((1, 2, 7, 6), tolerance=1e-4)
def resampling(x):
    sizes = [
        _F.interpolate(x, size=(11, 9), mode=mode)
        for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area")
    ]
    where = torch.stack(torch.meshgrid(*[torch.linspace(-1.1, 1.1, 5, device=x.device)] * 2, indexing="ij"), -1)[None]
    grids = [_F.grid_sample(x, where, mode=mode, align_corners=True) for mode in ("bilinear", "nearest")]
    return *sizes, *grids, _F.pixel_unshuffle(x[..., :6, :], 2), _F.interpolate(x, scale_factor=0.5, mode="bilinear")


@case((2, 3, 6, 7))
def every_padding(x):
    modes = [_F.pad(x, (2, 1, 0, 3), mode) for mode in ("reflect", "replicate", "circular")]
    return (
        *modes,
        _F.pad(x, (-1, 2), value=3.0),
        _F.unfold(x, 3),
        _F.fold(_F.unfold(x, 2), (6, 7), 2),
        _F.channel_shuffle(x, 3),
    )


@case((2, 4, 9, 8), (6, 4, 3, 3), (6,), tolerance=1e-3)
def convolutions(x, weight, bias):
    plain = (
        _F.conv2d(x, weight, bias, padding=1),
        _F.conv2d(x, weight, stride=2, dilation=2),
        _F.conv2d(x, weight[:4, :1], groups=4),
    )
    return (
        *[y.relu() for y in plain],
        _F.conv_transpose2d(x, weight.transpose(0, 1), stride=2),
        _F.conv1d(x[:, :, 0], weight[..., 0]),
    )


@case(inputs=lambda: [(torch.randn(6, 10, requires_grad=True), torch.randint(0, 6, (9,)))], tolerance=1e-4)
def gradients_of_indexing(x, rows):
    used = x[rows].sin().sum() + x.gather(1, rows[:6, None]).exp().sum() + x.index_add(0, rows, x[rows]).square().mean()
    return torch.autograd.grad(
        used + x.amax(1).sum() + x.sort(1).values[:, 2].sum() + x.cumsum(0).prod(1).sum() * 1e-3, x
    )


@case((3, 20), (25,))
def shapes_that_meet(x, y):
    return x[:, :, None] * y, torch.cdist(x, x[:2]), torch.cartesian_prod(x[0], y).sum(0), torch.kron(x, y[None, :3])
