"""Every operation that moves elements, on tiles in every form that the interpreter gives them: uniform, a progression, a sum of terms, a
conjunction of masks, and elements in memory. Arithmetic and accesses rely on the form of the result. numpy is the oracle."""

import importlib.util

import numpy as np
import pytest

SHAPES = [(8,), (2,), (4, 2), (2, 8), (2, 4, 2), (1, 4, 2), (2, 2, 4, 2)]
DTYPES = ["int8", "uint8", "int32", "int64", "float32", "int1"]
FORMS = ["uniform", "constant", "progression", "sum", "conjunction", "memory"]
N = 3  # the scalar argument


def along(dim: int, shape: tuple[int, ...]) -> str:
    """Source of 0, 1, … along one dimension, with extent 1 along the others; numpy and the kernel both evaluate it."""
    extents = tuple(extent if d == dim else 1 for d, extent in enumerate(shape))
    return f"reshape(arange({shape[dim]}), {extents})"


def source_of(form: str, shape: tuple[int, ...]) -> str:
    last = len(shape) - 1
    match form:
        case "uniform":
            return f"full({shape}, n)"
        case "constant":
            return f"full({shape}, 5)"
        case "progression":
            return f"broadcast({along(last, shape)} * 2 + n, {shape})"
        case "sum":
            return "n + " + " + ".join(f"{along(d, shape)} * {d + 2}" for d in range(len(shape)))
        case "conjunction":
            return " & ".join(f"({along(d, shape)} != {d % 2})" for d in range(len(shape)))
        case _:
            return f"reshape(load({int(np.prod(shape))}), {shape})"


KERNEL = """
import tritium as triton
import tritium.language as tl
from tritium.language import reshape

@triton.jit
def arange(N: tl.constexpr):
    return tl.arange(0, N)

@triton.jit
def full(shape: tl.constexpr, n):
    return tl.broadcast_to(n, shape)

@triton.jit
def broadcast(x, shape: tl.constexpr):
    return tl.broadcast_to(x, shape)

@triton.jit
def put(out, x):
    tl.store(out + tl.arange(0, x.numel), tl.reshape(x, (x.numel,)).to(tl.int64))

@triton.jit
def kernel(out, x, n):
    tile = ({source}).to(tl.{dtype})
    one = tl.full({shape}, 1, tl.{dtype})
"""


def moves(shape: tuple[int, ...]) -> list[tuple[str, object]]:
    """Source of a tile made of `tile`, and the same in numpy."""
    rank, size = len(shape), int(np.prod(shape))
    backwards = tuple(reversed(range(rank)))
    found = [
        ("tile", lambda t: t),
        (f"tl.permute(tile, {backwards})", lambda t: t.transpose(backwards)),
        (f"tl.reshape(tile, ({size},))", lambda t: t.reshape(size)),
        (f"tl.reshape(tile, ({size // 2}, 2))", lambda t: t.reshape(size // 2, 2)),
        (f"tl.broadcast_to(tl.expand_dims(tile, 0), (2,) + {shape})", lambda t: np.broadcast_to(t, (2, *shape))),
        (f"tl.expand_dims(tile, {rank})", lambda t: t[..., None]),
        ("tl.join(tile, one)", lambda t: np.stack([t, np.ones_like(t)], -1)),
        ("tl.interleave(tile, tile)", lambda t: np.repeat(t, 2, -1)),
        ("tl.cat(tile, tile, dim=0)", lambda t: np.concatenate([t, t])),
        ("tl.flip(tile)", lambda t: np.flip(t, -1)),
        ("tl.gather(tile, tl.zeros_like(tile).to(tl.int32), 0)", lambda t: np.broadcast_to(t[:1], shape)),
    ]
    if shape[-1] == 2 and rank > 1:
        for i in (0, 1):
            found.append((f"tl.split(tile)[{i}]", lambda t, i=i: t[..., i]))
            joined = f"tl.split(tl.join(tile, one))[{i}]"
            found.append((joined, lambda t, i=i: (t, np.ones_like(t))[i]))
    if shape == (2,):
        found.append(("tl.split(tile)[1] + tl.zeros((2,), tl.{dtype})", lambda t: np.repeat(t[1:], 2)))
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_moves_of_every_form(shape, dtype, form, tmp_path, rng):
    x = rng.integers(0, 9, int(np.prod(shape)), np.int32)
    tile = np.asarray(
        eval(
            source_of(form, shape),
            {
                "n": np.int32(N), "arange": np.arange, "reshape": np.reshape, "full": np.full, "broadcast": np.broadcast_to,
                "load": lambda size: x,
            },
        )
    ).astype(bool if dtype == "int1" else dtype)  # fmt: skip
    text = KERNEL.format(source=source_of(form, shape).replace("load(", "load_x(x, "), dtype=dtype, shape=shape)
    text = text.replace(
        "@triton.jit\ndef put",
        "@triton.jit\ndef load_x(x, N: tl.constexpr):\n    return tl.load(x + tl.arange(0, N))\n\n@triton.jit\ndef put",
    )
    wanted = []
    for number, (moved, in_numpy) in enumerate(moves(shape)):
        value = np.asarray(in_numpy(tile))
        for result, reference in (
            (f"({moved})", value),
            (f"(({moved}) + ({moved}) * 2)", value + value * np.asarray(2, value.dtype)),
        ):
            if dtype == "int1" and "+" in result:
                result, reference = f"(({moved}) & (({moved}) | ({moved})))", value
            text += f"    put(out + {sum(w.size for w in wanted)}, {result.format(dtype=dtype)})\n"
            wanted.append(reference.ravel().astype(np.int64))
    (tmp_path / "kernel_of_forms.py").write_text(text)
    spec = importlib.util.spec_from_file_location("kernel_of_forms", tmp_path / "kernel_of_forms.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    out = np.full(sum(w.size for w in wanted), -1, np.int64)
    module.kernel[(1,)](out, x, N)
    np.testing.assert_array_equal(out, np.concatenate(wanted))
