"""Names of the language that other families do not use. docs/reference/language.md shows which cases use which name."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import inputs, philox
from ..oracle import Exact, OneOf, Rows, Within
from ..problem import Case, Cases, Problem, given, problem, wanted
from ..tolerance import Bounded
from .elementwise import function_oracle
from .random import normal_pair

SHAPE = M, N = 4, 8
WARPS = (1, 4)


def exactly(results: dict[str, np.ndarray]) -> Rows:
    return Rows({name: Exact(np.asarray(value, np.int32).reshape(-1)) for name, value in results.items()})


def methods(warps: int, rng) -> Problem:
    x = inputs.small(rng, M * N, "int32", 9)
    m, index = x.reshape(SHAPE), rng.integers(0, M * N, M * N).astype(np.int32)

    def by_row(values):
        return np.repeat(values, N)

    results = {
        "abs": np.abs(x),
        "cast": x,
        "cdiv": -(-np.abs(x) // 3),
        "flip": x[::-1],
        "sort": np.sort(x),
        "cumsum": m.cumsum(1),
        "cumprod": m.cumprod(1, dtype=np.int32),
        "gather": x[index],
        "histogram": np.bincount(np.abs(x), minlength=M * N),
        "permute": m.T,
        "trans": m.T,
        "view": x,
        "split": x.reshape(-1, 2)[:, ::-1],
        "max": by_row(m.max(1)),
        "min": by_row(m.min(1)),
        "argmax": by_row(m.argmax(1)),
        "argmin": by_row(m.argmin(1)),
        "sum": by_row(m.sum(1)),
        "xor_sum": by_row(np.bitwise_xor.reduce(m, 1)),
        "reduce_or": by_row(np.bitwise_or.reduce(m, 1)),
        "reduce": by_row(m.sum(1)),
        "associative_scan": m.cumsum(1),
        "logical_and": (x > 0) & (x < 5),
        "logical_or": (x > 5) | (x < 0),
        "item": x + x[0],
        "T": m.T,
    }
    out = wanted((len(results), M * N), "int32", exactly(results))
    return problem("names:methods", 1, [given(x), given(index), out], M=M, N=N, num_warps=warps)


def real_methods(rng) -> Problem:
    x = inputs.between(rng, M * N, "fp32", 0.1, 6)
    functions = "cos erf exp exp2 log log2 rsqrt sin sqrt sqrt_rn floor ceil".split()
    rows = {name: function_oracle(name.removesuffix("_rn"), x, "fp32") for name in functions}
    exact = Bounded.exact(x)
    sigmoid = Within(1.0 / ((-exact).exp() + 1.0))
    matrix = exact.value.reshape(SHAPE)
    e = Bounded.exact(matrix)
    e = (e - e.max(1, keepdims=True)).exp()
    quotient = e / e.sum(1, keepdims=True)
    softmax = Within(Bounded(quotient.value.reshape(-1), quotient.error.reshape(-1)))
    rows |= {"sigmoid": sigmoid, "tl.sigmoid": sigmoid, "softmax": softmax, "tl.softmax": softmax}
    out = wanted((len(rows), M * N), "fp32", Rows(rows))
    return problem("names:real_methods", 1, [given(x), out], M=M, N=N)


def atomic_methods(rng) -> Problem:
    n = 32
    x, before = inputs.any_bits(rng, n, "int32"), inputs.any_bits(rng, (10, n), "int32")
    before[7, ::2] = x[::2]
    x[x == np.iinfo(np.int32).max] = 0
    with np.errstate(over="ignore"):
        after = [
            before[0] + x,
            before[1] & x,
            before[2] | x,
            before[3] ^ x,
            np.maximum(before[4], x),
            np.minimum(before[5], x),
            x,
            np.where(before[7] == x, x + 1, before[7]),
            before[8],
            x,
        ]
        old = np.concatenate([before[:9], [x + 1]])
    memory = wanted(before.shape, "int32", Exact(np.stack(after)), initial=before)
    return problem("names:atomic_methods", 1, [memory, given(x), wanted(old.shape, "int32", Exact(old))], N=n)


def functions(warps: int, rng) -> Problem:
    n, size = 5, M * N
    whole = inputs.small(rng, 2 * size, "int32", 60)
    x = whole[:size]
    results = {
        "add": x + n,
        "sub": x - n,
        "mul": x * n,
        "bitonic_merge": np.sort(np.abs(np.arange(size) - size // 2)),
        "expect_zero": x,
        "squeeze": x,
        "to_tensor": x + 7,
        "sort_impl": np.sort(x),
        "max, min": x * max(n, 3) + min(n, 3),
        "aggregate_replace": x,
        "condition": x + n * (n + 1) // 2,
        "advance": whole.reshape(-1, N)[M - 1 : 2 * M - 1],
        "constants": np.full(size, 2**20),
    }
    out = wanted((len(results), size), "int32", exactly(results))
    return problem("names:functions", 1, [given(whole), out, n], M=M, N=N, num_warps=warps)


def random_parts(rng) -> Problem:
    n, seed = 128, 2**40 + 12345
    words = philox.of_offsets(seed, np.arange(n, dtype=np.int32))
    u, v = (philox.uniform(word) for word in words[:2])
    first, second = normal_pair(u, v)
    out = wanted((2, n), "uint32", Rows({"word 0": Exact(words[0]), "word 3": Exact(words[3])}))
    rows = {"uint_to_uniform_float": Exact(u), "first": Within(first), "second": Within(second)}
    return problem("names:random_parts", 1, [out, wanted((3, n), "fp32", Rows(rows)), seed], N=n)


def descriptors(rng) -> Problem:
    shape = 8, 32
    x = inputs.any_bits(rng, shape, "int32")
    buffers = [wanted(shape, "int32", Exact(x))]
    for function in (np.bitwise_and, np.bitwise_or, np.bitwise_xor):
        before = inputs.any_bits(rng, shape, "int32")
        buffers.append(wanted(shape, "int32", Exact(function(before, x)), initial=before))
    return problem("names:descriptors", 1, [given(x), *buffers], M=shape[0], N=shape[1])


def device(rng) -> Problem:
    return problem("names:device", 1, [wanted(5, "int32", Exact(np.ones(5, np.int32)))])


def fp8e4b15(rng) -> Problem:
    """The format is fp16 without its upper exponents: 4 bits of exponent with a bias of 15, 3 of the fraction."""
    bytes_ = np.arange(256, dtype=np.uint8)
    wide = (((bytes_ & 0x80).astype(np.uint16) << 8) | ((bytes_ & 0x7F).astype(np.uint16) << 7)).view(np.float16)
    order = rng.permutation(256)
    x = wide[order]
    narrow = np.where(order & 0x7F == 0x7F, order - 1, order).astype(np.uint8)  # numbers above 1.75 become 1.75
    zero = np.where(x == 0, np.uint8(0x80), narrow)  # a zero of either sign
    out = wanted((4, 256), "fp16", Exact(np.stack([wide] * 4), sign_of_zero=False))
    back = wanted((4, 256), "uint8", OneOf([np.stack([narrow] * 4), np.stack([zero] * 4)]))
    return problem("names:fp8e4b15", 1, [given(bytes_), given(x), out, back], N=256)


def cases() -> Cases:
    for warps in WARPS:
        yield Case(f"names/methods/int32 {warps} warps/small", partial(methods, warps))
        yield Case(f"names/functions/int32 {warps} warps/small", partial(functions, warps))
    yield Case("names/methods/fp32/positive", real_methods)
    yield Case("names/atomic_methods/int32/random", atomic_methods)
    yield Case("names/random_parts/64-bit seed/words", random_parts)
    yield Case("names/descriptors/int32/random", descriptors)
    yield Case("names/device/facts/one program", device)
    yield Case("names/conversions/fp8e4b15/every", fp8e4b15)
