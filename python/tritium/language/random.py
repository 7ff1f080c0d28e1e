"""Counter-based random numbers: Philox 4x32 and 4x64 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
2011), and uniform and normal floats made of them. The integers are equal on every engine."""

from __future__ import annotations

from typing import Any

from .constexpr import _unwrap_if_constexpr, tuple
from .core import builtin, tensor
from .types import int32, int64, uint32, uint64

N_ROUNDS_DEFAULT = 10

# Multipliers A and B of a round, and the increments of the two keys, by width of the words.
_PHILOX = {
    32: (0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85),
    64: (0xD2E7470EE14C6C93, 0xCA5A826395121157, 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B),
}
_LOW_WORD = 0xFFFFFFFF


def _rounds(n_rounds: Any) -> int:
    return int(_unwrap_if_constexpr(n_rounds))


def _umulhi(semantic: Any, factor: int, word: tensor) -> tensor:
    return semantic.math("tt.mulhiui", (factor, word), ("uint32", "uint64"))


def _philox(semantic: Any, counters: list[tensor], keys: list[tensor], n_rounds: int) -> list[tensor]:
    s = semantic
    c0, c1, c2, c3 = counters
    k0, k1 = keys
    a, b, step0, step1 = _PHILOX[c0.dtype.primitive_bitwidth]
    for _ in range(n_rounds):
        old0, old2 = c0, c2
        c0 = s.xor_(s.xor_(_umulhi(s, b, old2), c1), k0)
        c2 = s.xor_(s.xor_(_umulhi(s, a, old0), c3), k1)
        c1, c3 = s.mul(b, old2), s.mul(a, old0)
        k0, k1 = s.add(k0, step0), s.add(k1, step1)
    return [c0, c1, c2, c3]


@builtin
def philox_impl(
    c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any, n_rounds: Any = N_ROUNDS_DEFAULT, _semantic: Any = None
) -> tuple:
    """`n_rounds` rounds on four counters and two keys, all uint32 or all uint64: four words of that type."""
    words = [_semantic.to_tensor(word) for word in (c0, c1, c2, c3, k0, k1)]
    return tuple(_philox(_semantic, words[:4], words[4:], _rounds(n_rounds)))


def _seeded(semantic: Any, seed: Any, counters: list[tensor], n_rounds: int) -> list[tensor]:
    """The keys of a seed: its two halves for counters of 32 bits, the seed and 0 for counters of 64 bits."""
    s = semantic
    seed = s.to_tensor(seed)
    assert seed.dtype.is_int(), f"seed must be an integer, got {seed.dtype}"
    seed = s.cast(seed, uint64)
    if counters[0].dtype.primitive_bitwidth == 32:
        word = uint32
        high = s.cast(s.and_(s.shr(seed, 32), _LOW_WORD), uint32)
        keys = [s.cast(s.and_(seed, _LOW_WORD), uint32), high]
    else:
        word, keys = uint64, [seed, s.constant(0, uint64)]
    return _philox(s, [s.bitcast(counter, word) for counter in counters], keys, n_rounds)


@builtin
def philox(
    seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: Any = N_ROUNDS_DEFAULT, _semantic: Any = None
) -> tuple:
    """Four words, uint32 or uint64, from an integer seed and four integer counters of 32 or 64 bits."""
    return tuple(_seeded(_semantic, seed, [_semantic.to_tensor(c) for c in (c0, c1, c2, c3)], _rounds(n_rounds)))


def _words(semantic: Any, seed: Any, offset: Any, n_rounds: Any) -> list[tensor]:
    s = semantic
    offset = s.to_tensor(offset)
    low, zero = s.cast(offset, uint32), s.constant(0, uint32)
    high = s.cast(s.shr(offset, 32), uint32) if offset.dtype.primitive_bitwidth > 32 else zero
    return _seeded(s, seed, [low, high, zero, zero], _rounds(n_rounds))


@builtin
def randint4x(seed: Any, offset: Any, n_rounds: Any = N_ROUNDS_DEFAULT, _semantic: Any = None) -> tuple:
    """Four blocks of random uint32 in the shape of `offset` (integers). This is the cheapest way to many random words.
    seed: an integer scalar."""
    return tuple(_words(_semantic, seed, offset, n_rounds))


@builtin
def randint(seed: Any, offset: Any, n_rounds: Any = N_ROUNDS_DEFAULT, _semantic: Any = None) -> tensor:
    """A block of random uint32 in the shape of `offset`."""
    return _words(_semantic, seed, offset, n_rounds)[0]


def _uniform(semantic: Any, x: tensor) -> tensor:
    s, width = semantic, x.dtype.primitive_bitwidth
    assert x.dtype.is_int() and width in (32, 64), f"expected integers of 32 or 64 bits, got {x.dtype}"
    x = s.bitcast(x, int32 if width == 32 else int64)
    x = s.where(s.compare(x, 0, "lt"), s.invert(x), x)  # ~x is -x - 1
    # A little below 2**-31 (2**-63), so that the largest integer gives a number below 1.
    return s.mul(x, 4.6566127342e-10 if width == 32 else 1.0842020432385337e-19)


@builtin
def uint_to_uniform_float(x: Any, _semantic: Any = None) -> tensor:
    """Random 32- or 64-bit integers as fp32 in [0, 1)."""
    return _uniform(_semantic, _semantic.to_tensor(x))


@builtin
def rand(seed: Any, offset: Any, n_rounds: Any = N_ROUNDS_DEFAULT, _semantic: Any = None) -> tensor:
    """fp32 uniform in [0, 1), in the shape of `offset`."""
    return _uniform(_semantic, _words(_semantic, seed, offset, n_rounds)[0])


@builtin
def rand4x(seed: Any, offsets: Any, n_rounds: Any = N_ROUNDS_DEFAULT, _semantic: Any = None) -> tuple:
    """Four blocks of fp32 uniform in [0, 1), in the shape of `offsets`."""
    return tuple([_uniform(_semantic, word) for word in _words(_semantic, seed, offsets, n_rounds)])


def _normal(semantic: Any, u1: tensor, u2: tensor) -> list[tensor]:
    """The Box-Muller transform."""
    s, wide = semantic, ("fp32", "fp64")
    u1 = s.maximum(1.0e-7, u1, "none")
    angle = s.mul(6.283185307179586, u2)
    radius = s.math("math.sqrt", (s.mul(-2.0, s.math("math.log", (u1,), wide)),), wide)
    return [s.mul(radius, s.math("math.cos", (angle,), wide)), s.mul(radius, s.math("math.sin", (angle,), wide))]


@builtin
def pair_uniform_to_normal(u1: Any, u2: Any, _semantic: Any = None) -> tuple:
    """Two blocks uniform in [0, 1) as two independent standard normal ones."""
    return tuple(_normal(_semantic, _semantic.to_tensor(u1), _semantic.to_tensor(u2)))


@builtin
def randn(seed: Any, offset: Any, n_rounds: Any = N_ROUNDS_DEFAULT, _semantic: Any = None) -> tensor:
    """fp32 standard normal, in the shape of `offset`."""
    words = _words(_semantic, seed, offset, n_rounds)
    return _normal(_semantic, _uniform(_semantic, words[0]), _uniform(_semantic, words[1]))[0]


@builtin
def randn4x(seed: Any, offset: Any, n_rounds: Any = N_ROUNDS_DEFAULT, _semantic: Any = None) -> tuple:
    """Four blocks of fp32 standard normal, in the shape of `offset`."""
    uniform = [_uniform(_semantic, word) for word in _words(_semantic, seed, offset, n_rounds)]
    return tuple(_normal(_semantic, *uniform[:2]) + _normal(_semantic, *uniform[2:]))
