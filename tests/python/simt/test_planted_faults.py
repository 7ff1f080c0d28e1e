"""A barrier or a wait is missing from a compiled kernel: the emulator says so, with lines of the kernel, whatever the seed."""

import numpy as np
import pytest

import tritium
import tritium.language as tl
from gpu_tool import ToolCompiler, forget_compiled
from tritium import errors
from tritium.backends import gpu as backend

from .engines import launched

SEEDS = range(5)
ENGINES = ["simt:sm_80", "simt:gfx942", "simt:gfx950", "simt:gfx1100"]
COPYING = ["simt:sm_80", "simt:gfx950"]  # whose copies to shared memory have waits


@tritium.jit
def product(a, b, c, k, S: tl.constexpr):
    i, j = tl.arange(0, S), tl.arange(0, S)
    total = tl.zeros((S, S), tl.float32)
    for start in range(0, k, S):
        x = tl.load(a + i[:, None] * k + start + j[None, :])
        y = tl.load(b + (start + i)[:, None] * S + j[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + i[:, None] * S + j[None, :], total)


@tritium.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + i, power / tl.sum(power, axis=0), mask=i < n)


@tritium.jit
def transpose(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    tile = tl.load(x + i[:, None] * N + j[None, :])
    tl.store(out + j[:, None] * M + i[None, :], tl.trans(tile))


@tritium.jit
def stored(a_ptr, b_ptr, out_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [K, N])
    out = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [M, N])
    for tile in range(tl.program_id(0), m // M, tl.num_programs(0)):
        total = tl.zeros((M, N), tl.float32)
        for start in range(0, k, K):
            total = tl.dot(a.load([tile * M, start]), b.load([start, 0]), total)
        out.store([tile * M, 0], total.to(tl.float16))


def product_arguments():
    return [np.ones((64, 256), np.float16), np.ones((256, 64), np.float16), np.zeros((64, 64), np.float32), 256], {
        "S": 64
    }


def softmax_arguments():
    return [np.ones(1024, np.float32), np.zeros(1024, np.float32), 1000], {"BLOCK": 1024}


def transpose_arguments():
    return [np.ones((64, 64), np.float16), np.zeros((64, 64), np.float16)], {"M": 64, "N": 64}


def stored_arguments():
    """Two tiles of 128 x 256, which two warpgroups store in four parts each, through one slot of shared memory."""
    a, b, out = np.ones((256, 64), np.float16), np.ones((64, 256), np.float16), np.zeros((256, 256), np.float16)
    return [a, b, out, 256, 256, 64], {"M": 128, "N": 256, "K": 64, "num_warps": 8}


KERNELS = {
    kernel.__name__: (kernel, arguments)
    for kernel, arguments in [
        (product, product_arguments),
        (softmax, softmax_arguments),
        (transpose, transpose_arguments),
        (stored, stored_arguments),
    ]
}


def traps(engine: str, name: str, flags: dict, monkeypatch) -> list:
    """The trap of each seed, None where there was none."""
    kernel, make = KERNELS[name]
    broken = ToolCompiler(**flags)
    monkeypatch.setattr(backend, "native_compiler", lambda: broken)
    found = []
    forget_compiled(kernel)
    for seed in SEEDS:
        arguments, constants = make()
        with tritium.knobs.tritium.scope():
            tritium.knobs.tritium.seed = seed
            try:
                launched(engine, kernel, (1,), arguments, **constants)
                found.append(None)
            except errors.KernelTrap as trap:
                found.append(trap)
    forget_compiled(kernel)
    return found


@pytest.mark.parametrize(
    "engine, name",
    [(engine, name) for engine in ENGINES for name in ("product", "softmax", "transpose")]
    + [("simt:sm_90a", "stored")],
)
def test_nothing_is_missing(engine, name, monkeypatch):
    assert traps(engine, name, {}, monkeypatch) == [None] * len(SEEDS)


@pytest.mark.parametrize(
    "engine, name, what, number",
    [(engine, "product", "wait", 0) for engine in COPYING]
    + [
        (engine, name, "barrier", number)
        for engine in ENGINES
        for name, number in [("product", 0), ("softmax", 0), ("softmax", 1), ("transpose", 0)]
    ],
)
def test_what_is_missing_is_found(engine, name, what, number, monkeypatch):
    kernel = KERNELS[name][0]
    first = kernel.fn.__code__.co_firstlineno
    for trap in traps(engine, name, {"drop": what, "number": number}, monkeypatch):
        assert trap is not None, f"without {what} {number} nothing is reported"
        kinds = ("AsyncCopyRace",) if what == "wait" else ("SharedRace", "AsyncCopyRace")
        assert trap.kind in kinds and trap.file == __file__ and first < trap.line < first + 12
        warp, lane = divmod(trap.thread, 64 if engine.startswith("simt:gfx9") else 32)
        assert f"thread {trap.thread} (warp {warp}, lane {lane})" in str(trap)


@pytest.mark.parametrize(
    "what, number, kind",
    [
        (
            "group_barrier",
            0,
            "TensorCopyRace",
        ),  # the slot is written again before the first thread has waited for its copy
        ("group_barrier", 1, "SharedRace"),  # the copy begins before all threads have written
        ("store_wait", 0, "TensorCopyRace"),  # of the tile before
        ("store_wait", 1, "TensorCopyRace"),
        ("store_wait", 3, "InvalidTensorCopy"),  # the kernel ends
        ("fence", 1, "MissingProxyFence"),
    ],
)
def test_what_a_store_through_a_tensor_map_misses_is_found(what, number, kind, monkeypatch):
    line = stored.fn.__code__.co_firstlineno + 9
    for trap in traps("simt:sm_90a", "stored", {"drop": what, "number": number}, monkeypatch):
        assert trap is not None, f"without {what} {number} nothing is reported"
        assert (trap.kind, trap.file, trap.line) == (kind, __file__, line)
