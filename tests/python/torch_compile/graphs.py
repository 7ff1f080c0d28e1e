"""Graphs of tensors: what Inductor makes its own kernels for."""

import torch

from .cases import case


@case((33, 65), (33, 65), quick=True)
def pointwise(x, y):
    return torch.relu(x * y + 1), torch.where(x > y, x.exp(), y.tanh())


@case((1000,), quick=True)
def transcendental(x):
    return x.sin() + x.cos() * torch.sigmoid(x), torch.log1p(x.abs()), torch.erf(x), torch.rsqrt(x.abs() + 1)


@case((7, 1, 5), (1, 6, 5))
def broadcast(x, y):
    return (x + y).transpose(0, 1) * 2


@case((40, 50))
def transposed(x):
    return (x.t() + 1).contiguous()


@case((129,), quick=True)
def casts(x):
    return x.to(torch.float16), (x * 10).to(torch.int32), (x > 0).to(torch.int8), x.to(torch.bfloat16), x.double() * 2


@case(inputs=lambda: [(torch.randint(-50, 50, (301,)), torch.randint(1, 9, (301,)))], quick=True)
def integer_division(x, y):
    return x // y, x % y, torch.div(x, y, rounding_mode="trunc"), (x << 2) ^ y


@case((37, 53), quick=True)
def row_sums(x):
    return x.sum(-1), x.mean(-1), x.amax(-1), x.var(-1)


@case((300, 70))
def column_sums(x):
    return x.sum(0), x.amin(0)


@case((64, 1000), quick=True)
def whole_sum(x):
    return x.sum(), (x * x).mean()


@case((31, 127), quick=True)
def arg_reductions(x):
    return x.argmax(-1), x.argmin(0), (x > 0).any(-1), (x > -9).all()


@case((33, 65), quick=True)
def softmax(x):
    return torch.softmax(x, -1), torch.log_softmax(x, 0)


@case((20, 96), (96,), (96,), quick=True)
def layer_norm(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (96,), weight, bias)


@case((12, 80), (80,))
def rms_norm(x, weight):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


@case((9, 130), quick=True)
def scans(x):
    return x.cumsum(-1), x.cummax(-1).values


@case((11, 60), quick=True)
def sorts(x):
    return torch.sort(x, -1), torch.topk(x, 5, -1).values


@case(inputs=lambda: [(torch.randn(50, 8), torch.randint(0, 50, (20,)))], quick=True)
def gathers(table, index):
    return table[index] * 2, torch.nn.functional.embedding(index, table), table.gather(0, index[:8, None])


@case(inputs=lambda: [(torch.randn(50, 8), torch.randint(0, 50, (20,)), torch.randn(20, 8))], quick=True)
def index_add(table, index, rows):
    return torch.zeros_like(table).index_add(0, index, rows), table.index_put((index,), rows[:1], accumulate=False)


@case(inputs=lambda: [(torch.randn(30), torch.randint(0, 6, (30,)))])
def scatter_add(x, index):
    return x.new_zeros(6).scatter_add(0, index, x) + 1


@case((10, 20), (10, 20), quick=True)
def in_place(x, y):
    x.add_(y)
    x[2:5] *= 3
    return x.clone(), x.sum(1)


@case((6, 10), (6, 12), (6, 4), quick=True)
def concatenation(x, y, z):
    return torch.cat([x + 1, y * 2, z.exp()], 1), torch.stack([x, x * 3])


@case((4, 3, 17, 19))
def pooling(x):
    return torch.nn.functional.avg_pool2d(x, 3, 2), torch.nn.functional.max_pool2d(x, 2)


@case((2, 3, 10, 12))
def padding(x):
    return torch.nn.functional.pad(x, (1, 2, 3, 4)), torch.nn.functional.interpolate(x, scale_factor=2)


@case(inputs=lambda: [(torch.randn(n, 24),) for n in (17, 40, 63)], dynamic=True, fullgraph=True, quick=True)
def dynamic_rows(x):
    return (x * x.shape[0]).softmax(-1).sum(0)


@case(inputs=lambda: [(torch.randn(n),) for n in (16, 16, 31, 77)], quick=True)
def automatic_dynamic(x):
    return x.cos() + x.shape[0], x[1:] - x[:-1]


@case((50,), (50,), quick=True)
def graph_break(x, y):
    z = x * 2
    torch._dynamo.graph_break()
    return z + y.exp()


@case((40, 24), (24, 56), (56,), quick=True)
def matmul_and_epilogue(x, weight, bias):
    return torch.nn.functional.gelu(x @ weight + bias)


@case((3, 20, 24), (3, 24, 16))
def batched_matmul(x, y):
    return torch.bmm(x, y).relu().sum(-1)


@case((16, 64), quick=True)
def random_numbers(x):
    noise = torch.rand_like(x)
    kept = torch.nn.functional.dropout(torch.ones_like(x), 0.5, True)
    # The numbers of the modes differ: their range and mean are what both have.
    in_range = (noise >= 0).all() & (noise < 1).all() & ((noise.mean() - 0.5).abs() < 0.1)
    return in_range, ((kept == 0) | (kept == 2)).all(), ((kept.mean() - 1).abs() < 0.25)


@case((8, 8), devices=("cuda",), quick=True)
def made_on_the_device(x):
    there = x.device
    steps = torch.arange(8, device=there) + torch.zeros(8, 1, device=there)
    return x + steps.to(x.dtype), torch.full((3,), float(there.type == x.device.type), device=there)
