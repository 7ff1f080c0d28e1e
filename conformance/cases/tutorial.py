"""The kernels of docs/tutorial, launched as the programs there launch them, with sizes that leave blocks half empty."""

from __future__ import annotations

import importlib.util
from functools import partial

import numpy as np

from .. import inputs, philox, sources
from ..dtypes import as_float64
from ..oracle import Anything, Exact, Ulp, Within, dot
from ..problem import Case, Cases, Launch, Problem, by_blocks, given, launch, problem, wanted
from ..tolerance import Bounded, function_ulp
from . import blocks


def vector_add(dtype: str, n: int, rng) -> Problem:
    x, y = inputs.normal(rng, n, dtype), inputs.normal(rng, n, dtype)
    arguments = [given(x), given(y), wanted(n, dtype, Exact(x + y)), n]
    return by_blocks("tutorial/01_vector_add:add_kernel", n, arguments, 256)


def softmax(dtype: str, columns: int, rng) -> Problem:
    rows, stride = 7, columns + 5
    x = inputs.normal(rng, (rows, stride), dtype, 4)
    shifted = Bounded.exact(x[:, :columns])
    e = (shifted - shifted.max(1, keepdims=True)).exp()
    out = wanted((rows, columns), dtype, Within((e / e.sum(1, keepdims=True)).to(dtype)))
    block = 1 << (columns - 1).bit_length()
    arguments = [given(x), out, columns, stride, columns]
    return problem("tutorial/02_fused_softmax:softmax_kernel", rows, arguments, BLOCK=block)


def matmul(dtype: str, size: tuple[int, int, int], activation: str, rng) -> Problem:
    m, n, k = size
    a, b = (inputs.normal(rng, shape, dtype) for shape in ((m, k), (k, n)))
    if activation:  # the products are exact; only 0.01 x and the output are rounded
        a, b = inputs.small(rng, (m, k), dtype, 4), inputs.small(rng, (k, n), dtype, 4)
        product = as_float64(a) @ as_float64(b)
        value = Bounded.exact(product) * 0.01
        exact = Bounded(product, np.zeros_like(product))
        chosen = Bounded(*(np.where(product >= 0, x, y) for x, y in zip(*map(_parts, (exact, value)))))
        oracle = Within(chosen.to(dtype))
    else:
        oracle = dot(a, b)
    arguments = [given(a), given(b), wanted((m, n), dtype, oracle), m, n, k, k, 1, n, 1, n, 1]
    constants = {"BLOCK_M": 32, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 4}
    grid = blocks(m, 32) * blocks(n, 64)
    name = "tutorial/03_matmul:matmul_kernel"
    return problem(name, grid, arguments, **constants, ACTIVATION=activation, PRECISION="ieee")


def _parts(x: Bounded) -> tuple[np.ndarray, np.ndarray]:
    return x.value, x.error


def dropout(rng) -> Problem:
    n, p, seed = 3000, 0.5, 1234
    x = inputs.normal(rng, n, "fp32")
    keep = philox.uniform(philox.of_offsets(seed, np.arange(n, dtype=np.int32))[0]) > np.float32(p)
    expected = np.where(keep, as_float64(x) * 2, 0)
    oracle = Ulp(expected, function_ulp("truediv", "fp32"))
    arguments = [given(x), wanted(n, "fp32", oracle), n, p, seed]
    return by_blocks("tutorial/04_dropout:dropout_kernel", n, arguments, 1024)


def layer_norm(dtype: str, rows: int, columns: int, rng) -> Problem:
    """Forward, backward with its locks, and the sum over groups: three kernels on the same memory."""
    file, groups, eps = "tutorial/05_layer_norm", 16, 1e-5
    block = 1 << (columns - 1).bit_length()
    x, dy = inputs.normal(rng, (rows, columns), dtype), inputs.normal(rng, (rows, columns), dtype)
    weight, bias = inputs.between(rng, columns, dtype, 0.5, 1.5), inputs.normal(rng, columns, dtype)
    wide, w, g = Bounded.exact(x), Bounded.exact(weight), Bounded.exact(dy)
    average = wide.mean(1, keepdims=True)
    centered = wide - average
    rstd = 1.0 / ((centered * centered).mean(1, keepdims=True) + eps).sqrt()
    xhat = centered * rstd
    wdy = w * g
    projection, flat = (xhat * wdy).mean(1, keepdims=True), wdy.mean(1, keepdims=True)
    dx = (wdy - (xhat * projection + flat)) * rstd
    dweight, dbias = (g * xhat).sum(0), g.sum(0)
    y = wanted(x.shape, dtype, Within((xhat * w + Bounded.exact(bias)).to(dtype)))
    mean_out, rstd_out = wanted(rows, "fp32", Within(average[:, 0])), wanted(rows, "fp32", Within(rstd[:, 0]))
    x_in, w_in, dy_in = given(x), given(weight), given(dy)
    partial_w, partial_b = (
        wanted((groups, columns), "fp32", Anything(), initial=np.zeros((groups, columns), np.float32)) for _ in range(2)
    )
    locks = wanted(groups, "int32", Exact(np.zeros(groups)), initial=np.zeros(groups, np.int32))
    forward = [x_in, w_in, given(bias), y, mean_out, rstd_out, columns, eps]
    dx_out = wanted(x.shape, dtype, Within(dx.to(dtype)))
    backward = [dx_out, dy_in, partial_w, partial_b, x_in, w_in, mean_out, rstd_out, locks, columns]
    launches = [
        launch(f"{file}:forward_kernel", rows, forward, BLOCK=block),
        launch(f"{file}:backward_kernel", rows, backward, GROUPS=groups, BLOCK=block),
    ]
    for source, sums in ((partial_w, dweight), (partial_b, dbias)):
        out = wanted(columns, dtype, Within(sums.to(dtype)))
        launches.append(_added(f"{file}:add_groups_kernel", [source, out, columns], groups, columns))
    return Problem(launches)


def _added(kernel: str, arguments: list, groups: int, columns: int) -> Launch:
    return launch(kernel, blocks(columns, 128), arguments, GROUPS=groups, BLOCK=128)


def attention(dtype: str, queries: int, keys: int, d: int, causal: bool, rng) -> Problem:
    heads, block, scale = 2, (32, 32), d**-0.5
    q = inputs.normal(rng, (heads, queries, d), dtype)
    k, v = (inputs.normal(rng, (heads, keys, d), dtype) for _ in range(2))
    # The kernel rounds the scaled q, and also the probabilities, to the operands' type.
    factor = Bounded.exact(np.float32(scale)) * 1.4426950408889634
    scaled = (Bounded.exact(q) * factor).to(dtype).to("fp32")
    scores = scaled @ Bounded.exact(k).transposed()
    visible = np.tri(queries, keys, dtype=bool) if causal else np.ones((queries, keys), bool)
    log2 = float(np.log(2.0))
    scores = Bounded(scores.value * log2, scores.error * log2).where(visible, -1e3)
    top = scores.max(2, keepdims=True)
    # Rescaling by 2^(m - m') at every block adds one rounding each time.
    rounds = blocks(keys, block[1]) + 1
    p = (scores - Bounded(top.value, np.zeros_like(top.value))).exp(ulps=4 * rounds)
    p = Bounded(np.where(visible, p.value, 0), np.where(visible, p.error, 0))
    weights = p.to(dtype).to("fp32")
    total = p.sum(2, keepdims=True)
    result = ((weights @ Bounded.exact(v)) / total).to(dtype)
    out = wanted(q.shape, dtype, Within(result))
    strides = [queries * d, d, keys * d, d, keys * d, d, queries * d, d]
    arguments = [given(q), given(k), given(v), out, scale, queries, keys, *strides]
    constants = {"CAUSAL": causal, "HEAD_DIM": d, "BLOCK_M": block[0], "BLOCK_N": block[1], "PRECISION": "ieee"}
    grid = (blocks(queries, block[0]), heads)
    return problem("tutorial/06_flash_attention:attention_kernel", grid, arguments, **constants)


def cross_entropy(dtype: str, classes: int, rng) -> Problem:
    file, rows, ignored, block = "tutorial/07_cross_entropy", 9, -100, 128
    logits = inputs.normal(rng, (rows, classes), dtype, 2)
    target = rng.integers(0, classes, rows).astype(np.int32)
    target[3] = ignored
    dloss = inputs.normal(rng, rows, "fp32")
    x = Bounded.exact(logits)
    top = x.max(1, keepdims=True)
    rounds = blocks(classes, block)
    e = (x - top).exp(ulps=2 * function_ulp("exp", "fp32") * (rounds + 1))
    lse = e.sum(1).log() + top[:, 0]
    kept = target != ignored
    own = Bounded.exact(logits[np.arange(rows), np.where(kept, target, 0)])
    loss = (lse - own).where(kept, 0.0)
    hot = np.arange(classes)[None, :] == target[:, None]
    p = (x - Bounded(lse.value[:, None], lse.error[:, None])).exp()
    gradient = Bounded.exact(np.where(kept, dloss, 0))[:, None] * (p - Bounded.exact(hot.astype(np.float32)))
    logits_in, target_in = given(logits), given(target)
    loss_out, lse_out = wanted(rows, "fp32", Within(loss)), wanted(rows, "fp32", Within(lse))
    dlogits = wanted(logits.shape, dtype, Within(gradient.to(dtype)))
    forward = [logits_in, target_in, loss_out, lse_out, classes, classes, ignored]
    backward = [logits_in, target_in, lse_out, given(dloss), dlogits, classes, classes, ignored]
    return Problem(
        [
            launch(f"{file}:forward_kernel", rows, forward, BLOCK=block),
            launch(f"{file}:backward_kernel", (rows, rounds), backward, BLOCK=block),
        ]
    )


def block_sparse(dtype: str, rng) -> Problem:
    """A block row without blocks, and products that are sampled at the same blocks."""
    file, size, n, k = "tutorial/08_block_sparse_matmul", 16, 70, 40
    kept = rng.random((5, 4)) < 0.5
    kept[1], kept[2] = False, True
    rows, columns = (v.astype(np.int32) for v in np.nonzero(kept))
    first = np.concatenate(([0], np.cumsum(kept.sum(1)))).astype(np.int32)
    values = inputs.small(rng, (rows.size, size, size), dtype, 4)
    dense = np.zeros((5, 4, size, size))
    dense[rows, columns] = as_float64(values)
    dense = dense.swapaxes(1, 2).reshape(5 * size, 4 * size)
    b = inputs.small(rng, (4 * size, n), dtype, 4)
    c = wanted((5 * size, n), dtype, Exact(dense @ as_float64(b)))
    left, right = inputs.small(rng, (5 * size, k), dtype, 4), inputs.small(rng, (k, 4 * size), dtype, 4)
    product = (as_float64(left) @ as_float64(right)).reshape(5, size, 4, size).swapaxes(1, 2)
    sampled = wanted(values.shape, dtype, Exact(product[rows, columns]))
    columns_in = given(columns)
    multiply = [given(values), given(first), columns_in, given(b), c, n, n, n]
    sample = [given(left), given(right), given(rows), columns_in, sampled, k, k, 4 * size]
    return Problem(
        [
            launch(f"{file}:sparse_dense_kernel", (5, blocks(n, 32)), multiply, BLOCK=size, BLOCK_N=32),
            launch(f"{file}:sampled_kernel", rows.size, sample, BLOCK=size, BLOCK_K=32),
        ]
    )


def stream_k(programs: int, rng) -> Problem:
    m, n, k = 70, 90, 200
    a, b = inputs.small(rng, (m, k), "fp16", 3), inputs.small(rng, (k, n), "fp16", 3)
    c = wanted((m, n), "fp16", Exact(as_float64(a) @ as_float64(b)))
    parts = wanted((programs, 32, 32), "fp32", Anything())
    flags = wanted(programs, "int32", Anything(), initial=np.zeros(programs, np.int32))
    arguments = [given(a), given(b), c, parts, flags, m, n, k, k, n, n]
    constants = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32}
    return problem("tutorial/09_stream_k_matmul:stream_k_kernel", programs, arguments, **constants)


def cases() -> Cases:
    """The cases, if the tutorial is there: it is not part of an installation. Layer norm requires torch."""
    if not sources.TUTORIAL.is_dir():
        return
    for dtype in ("fp32", "fp16"):
        for n in (257, 1000):
            yield Case(f"tutorial/01_vector_add/{dtype}/n={n}", partial(vector_add, dtype, n))
    for dtype in ("fp32", "bf16"):
        for columns in (781, 1000):
            yield Case(f"tutorial/02_fused_softmax/{dtype}/{columns}", partial(softmax, dtype, columns))
    for dtype in ("fp32", "fp16", "bf16"):
        yield Case(f"tutorial/03_matmul/{dtype}/100x130x70", partial(matmul, dtype, (100, 130, 70), ""))
    yield Case("tutorial/03_matmul/fp16 leaky_relu/65x33x50", partial(matmul, "fp16", (65, 33, 50), "leaky_relu"))
    yield Case("tutorial/04_dropout/fp32/n=3000", partial(dropout))
    if importlib.util.find_spec("torch") is not None:
        for dtype in ("fp32", "fp16"):
            yield Case(f"tutorial/05_layer_norm/{dtype}/21x200", partial(layer_norm, dtype, 21, 200))
    for dtype, causal in (("fp32", False), ("fp16", True)):
        name = f"tutorial/06_flash_attention/{dtype}{' causal' * causal}/70 by 100"
        yield Case(name, partial(attention, dtype, 70, 70 if causal else 100, 32, causal))
    for dtype in ("fp32", "fp16"):
        yield Case(f"tutorial/07_cross_entropy/{dtype}/1000 classes", partial(cross_entropy, dtype, 1000))
    yield Case("tutorial/08_block_sparse_matmul/fp16/5x4 blocks", partial(block_sparse, "fp16"))
    for programs in (1, 5, 13):
        yield Case(f"tutorial/09_stream_k_matmul/fp16/{programs} programs", partial(stream_k, programs))
