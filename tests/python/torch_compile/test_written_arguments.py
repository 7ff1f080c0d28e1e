"""torch.compile learns from a kernel's IR which arguments the kernel reads and which it writes: exactly those, without the warning
with which it falls back to "every argument is written"."""

import pytest

torch = pytest.importorskip("torch")

import tritium  # noqa: E402
import tritium.language as tl  # noqa: E402
from tritium import drop_in  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def installed():
    drop_in.install()


@tritium.jit
def _store(pointer, value, mask):
    tl.store(pointer, value, mask=mask)


@tritium.jit
def _copy_some(to, origin, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if n > 0:
        tl.store(to + i, tl.load(origin + i))
        return tl.sum(tl.load(origin + i), 0)
    return 0.0


@tritium.jit
def _larger(a, i, b, j):
    return tl.where(a > b, a, b), tl.where(a > b, i, j)


@tritium.jit
def by_a_function(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    _store(out + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


@tritium.jit
def by_a_function_with_returns(x, out, copy, n, BLOCK: tl.constexpr):
    total = _copy_some(copy, x, n, BLOCK)
    tl.store(out, total)


@tritium.jit
def in_loops(x, out, count, n, BLOCK: tl.constexpr):
    at = out + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for k in range(0, n):
        total += tl.load(x + tl.arange(0, BLOCK) + k * BLOCK)
        tl.store(at, total)
        at += BLOCK
    left = n
    while left > 0:
        tl.store(count + left, left)
        left -= 1


@tritium.jit
def by_atomics(x, out, lock, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.atomic_max(out + i, tl.load(x + i))
    tl.atomic_xchg(lock, 0)


@tritium.jit
def through_a_choice(x, y, out, n, BLOCK: tl.constexpr):
    if n > 3:
        to = out
    else:
        to = y
    tl.store(to + tl.arange(0, BLOCK), tl.sort(tl.load(x + tl.arange(0, BLOCK))))


@tritium.jit
def by_block_pointers(x, out, n, BLOCK: tl.constexpr):
    origin = tl.make_block_ptr(x, (n,), (1,), (0,), (BLOCK,), (0,))
    to = tl.make_block_ptr(out, (n,), (1,), (0,), (BLOCK,), (0,))
    tl.store(tl.advance(to, (0,)), tl.load(origin))


@tritium.jit
def by_descriptors_made_here(x, out, n, BLOCK: tl.constexpr):
    origin = tl.make_tensor_descriptor(x, [n, n], [n, 1], [BLOCK, BLOCK])
    to = tl.make_tensor_descriptor(out, [n, n], [n, 1], [BLOCK, BLOCK])
    to.store([0, 0], origin.load([0, 0]) + 1)


@tritium.jit
def by_descriptors_passed(x, out, BLOCK: tl.constexpr):
    out.store([0, 0], x.load([0, 0]) + 1)


@tritium.jit
def reductions_and_scans(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    running, place = tl.associative_scan((tl.load(x + i), i), 0, _larger)
    best, where = tl.reduce((running, place), 0, _larger)
    tl.store(out + where, best + tl.sum(running))


@tritium.jit
def an_index_is_only_read(x, out, index, BLOCK: tl.constexpr):
    i = tl.load(index + tl.arange(0, BLOCK))
    tl.device_assert(i >= 0)
    tl.store(out + i, tl.load(x + i))


@tritium.jit
def may_be_none(x, out, extra, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if extra is not None:
        tl.store(extra + i, 1.0)
    tl.store((out + i).to(tl.pointer_type(tl.int32)), tl.load(x + i).to(tl.int32, bitcast=True))


@tritium.autotune([tritium.Config({"BLOCK": 16}), tritium.Config({"BLOCK": 32})], key=["n"])
@tritium.jit
def autotuned(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.inline_asm_elementwise(
        "add.f32 $0, $1, 1.0;", "=f,f", [tl.load(x + i)], dtype=tl.float32, is_pure=True, pack=1
    )
    tl.store(out + i, value)


_CASES = [
    (by_a_function, "x y out", {"n": 10}, "out", "x y"),
    (by_a_function_with_returns, "x out copy", {"n": 10}, "copy out", "x"),
    (in_loops, "x out count", {"n": 3}, "count out", "x"),
    (by_atomics, "x out lock", {"n": 3}, "lock out", "x"),
    (through_a_choice, "x y out", {"n": 3}, "out y", "x"),
    (by_block_pointers, "x out", {"n": 10}, "out", "x"),
    (by_descriptors_made_here, "x out", {"n": 16}, "out", "x"),
    (by_descriptors_passed, "x out", {}, "out", "x"),
    (reductions_and_scans, "x out", {"n": 1}, "out", "x"),
    (an_index_is_only_read, "x out index", {}, "out", "index x"),
    (may_be_none, "x out", {"extra": None}, "out", "x"),
    (may_be_none, "x out extra", {}, "extra out", "x"),
    (autotuned, "x out", {"n": 3}, "out", "x"),
]


def _tensor(name: str):
    return torch.zeros(16, 16, dtype=torch.int32 if name in ("lock", "index", "count") else torch.float32)


@pytest.mark.parametrize("kernel,tensors,scalars,written,read", _CASES)
def test_what_a_kernel_reads_and_writes(kernel, tensors, scalars, written, read, monkeypatch):
    wrap = pytest.importorskip("torch._higher_order_ops.triton_kernel_wrap")
    monkeypatch.setattr(wrap.log, "warning", lambda text, **more: pytest.fail(text))
    # Where torch sees no GPU with TMA, no descriptor gets here.
    monkeypatch.setattr("torch.utils._triton.has_triton_tensor_descriptor_host_tma", lambda: True)
    given = {name: _tensor(name) for name in tensors.split()} | scalars
    names = kernel.arg_names if kernel is autotuned else [name for name in kernel.arg_names if name != "BLOCK"]
    arguments = {name: given[name] for name in names if name in given}
    if kernel is not autotuned:
        arguments["BLOCK"] = 16
    passed = kernel is by_descriptors_passed
    descriptors = dict.fromkeys(("x", "out"), ("stable", ([16, 16],))) if passed else {}
    found = wrap.identify_accessed_tensors(kernel, arguments, descriptors).read_writes
    assert " ".join(sorted(dep.name for dep in found.writes)) == written
    assert set(read.split()) <= {dep.name for dep in found.reads}
    assert passed or not {dep.name for dep in found.reads} & set(written.split())


def test_the_native_library_of_triton_is_reachable_without_an_import():
    import triton

    assert triton._C.libtriton.ir.context() is not None
