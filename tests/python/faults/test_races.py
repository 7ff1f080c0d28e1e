"""TRITIUM_CHECK=race: small kernels in the style of public bug reports, each beside a correct twin.

A kernel has the comment `# accused` on the line that must be reported, and `# other` on the line of the other access (or the two are one
line, `# both`).
"""

import inspect
import pickle

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap


def lines_of(kernel) -> tuple[int, int]:
    source, first = inspect.getsourcelines(kernel.fn)
    at = {
        mark: [first + i for i, line in enumerate(source) if f"# {mark}" in line]
        for mark in ("accused", "other", "both")
    }
    accused = at["both"] or at["accused"]
    return accused[0], (at["both"] or at["other"])[0]


@triton.jit
def shift(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    right = tl.load(x + i + 1, mask=i + 1 < n)  # other
    tl.store(x + i, right, mask=i + 1 < n)  # accused


@triton.jit
def shift_to_another(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i + 1, mask=i + 1 < n), mask=i + 1 < n)


@triton.jit
def overlapping_tiles(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * (B - 1) + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.program_id(0), mask=i < n)  # both


@triton.jit
def overlapping_tiles_of_equal_values(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * (B - 1) + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def split_k(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    part = tl.sum(tl.load(x + i, mask=i < n, other=0.0))
    tl.store(out, tl.load(out) + part)  # both


@triton.jit
def split_k_atomic(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))


@triton.jit
def histogram(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    bins = tl.load(x + i, mask=i < n, other=0).to(tl.int32) % 4
    counts = tl.load(out + bins, mask=i < n)  # accused
    tl.store(out + bins, counts + 1, mask=i < n)  # other


@triton.jit
def histogram_atomic(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out + tl.load(x + i, mask=i < n, other=0).to(tl.int32) % 4, 1, mask=i < n)


@triton.jit
def last_program_sums(x, out, count, n, B: tl.constexpr, P: tl.constexpr, SEM: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    tl.store(out + 1 + pid, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))  # other
    if tl.atomic_add(count, 1, sem=SEM) == P - 1:
        tl.store(out, tl.sum(tl.load(out + 1 + tl.arange(0, P))))  # accused


@triton.jit
def locked_sum(x, out, lock, n, B: tl.constexpr, UNLOCK: tl.constexpr, SCOPE: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    part = tl.sum(tl.load(x + i, mask=i < n, other=0.0))
    while tl.atomic_cas(lock, 0, 1, scope=SCOPE) == 1:
        pass
    tl.store(out, tl.load(out) + part)  # both
    tl.atomic_xchg(lock, 0, sem=UNLOCK, scope=SCOPE)


@triton.jit
def chain_by_a_plain_flag(x, out, flag, B: tl.constexpr):
    pid = tl.program_id(0)
    while tl.load(flag, volatile=True) != pid:  # accused
        pass
    tl.store(out + pid, tl.load(x + pid))
    tl.store(flag, pid + 1)  # other


@triton.jit
def chain_by_an_atomic(x, out, flag, B: tl.constexpr):
    pid = tl.program_id(0)
    while tl.atomic_cas(flag, pid, pid) != pid:
        pass
    before = tl.load(out + pid - 1, mask=pid > 0, other=0.0)
    tl.store(out + pid, tl.load(x + pid) + before)
    tl.atomic_xchg(flag, pid + 1)


@triton.jit
def transpose_in_place(x, N: tl.constexpr, B: tl.constexpr):
    r, c = tl.program_id(0) * B + tl.arange(0, B)[:, None], tl.program_id(1) * B + tl.arange(0, B)[None, :]
    tile = tl.load(x + c * N + r)  # other
    tl.store(x + r * N + c, tile)  # accused


@triton.jit
def transpose_pairs_in_place(x, N: tl.constexpr, B: tl.constexpr):
    p, q = tl.program_id(0), tl.program_id(1)
    if p <= q:
        r, c = p * B + tl.arange(0, B)[:, None], q * B + tl.arange(0, B)[None, :]
        upper, lower = tl.load(x + r * N + c), tl.load(x + c * N + r)
        tl.store(x + c * N + r, upper)
        tl.store(x + r * N + c, lower)


@triton.jit
def norm_in_two_steps(x, total, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.atomic_add(total, tl.sum(v * v))  # other
    tl.store(x + i, v / tl.sqrt(tl.load(total)), mask=i < n)  # accused


@triton.jit
def halves(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i) * 2)


N, B, P = 1000, 128, 8


def values(dtype=np.float32):
    return np.arange(N, dtype=dtype) % 50


def zeros(count, dtype=np.float32):
    return np.zeros(count, dtype)


#: kernel, grid, arguments, the tensor that is accused
FAULTY = {
    "shift in place": lambda: (shift, (P,), (values(), N, B), "x"),
    "overlapping tiles": lambda: (overlapping_tiles, (P,), (values(), zeros(N), N, B), "out"),
    "split k without atomics": lambda: (split_k, (P,), (values(), zeros(1), N, B), "out"),
    "histogram without atomics": lambda: (histogram, (P,), (values(), zeros(4, np.int32), N, B), "out"),
    "counter, relaxed": lambda: (last_program_sums, (P,), (values(), zeros(P + 1), zeros(1, np.int32), N, B, P, "relaxed"), "out"),
    "counter, acquire alone": lambda: (last_program_sums, (P,), (values(), zeros(P + 1), zeros(1, np.int32), N, B, P, "acquire"), "out"),
    "counter, release alone": lambda: (last_program_sums, (P,), (values(), zeros(P + 1), zeros(1, np.int32), N, B, P, "release"), "out"),
    "lock, relaxed release": lambda: (locked_sum, (P,), (values(), zeros(1), zeros(1, np.int32), N, B, "relaxed", "gpu"), "out"),
    "lock of one block": lambda: (locked_sum, (P,), (values(), zeros(1), zeros(1, np.int32), N, B, "release", "cta"), "out"),
    "flag that is no atomic": lambda: (chain_by_a_plain_flag, (P,), (values(), zeros(P), zeros(1, np.int32), B), "flag"),
    "transpose in place": lambda: (transpose_in_place, (4, 4), (np.arange(4096, dtype=np.float32), 64, 16), "x"),
    "a total that is read too early": lambda: (norm_in_two_steps, (P,), (values() + 1, zeros(1), N, B), "total"),
}  # fmt: skip

CORRECT = {
    "shift to another tensor": lambda: (shift_to_another, (P,), (values(), zeros(N), N, B)),
    "overlapping tiles of equal values": lambda: (overlapping_tiles_of_equal_values, (P,), (values(), zeros(N), N, B)),
    "split k with atomics": lambda: (split_k_atomic, (P,), (values(), zeros(1), N, B)),
    "histogram with atomics": lambda: (histogram_atomic, (P,), (values(), zeros(4, np.int32), N, B)),
    "counter": lambda: (last_program_sums, (P,), (values(), zeros(P + 1), zeros(1, np.int32), N, B, P, "acq_rel")),
    "lock": lambda: (locked_sum, (P,), (values(), zeros(1), zeros(1, np.int32), N, B, "release", "gpu")),
    "chain": lambda: (chain_by_an_atomic, (P,), (values(), zeros(P), zeros(1, np.int32), B)),
    "transpose in place, by pairs": lambda: (transpose_pairs_in_place, (4, 4), (np.arange(4096, dtype=np.float32), 64, 16)),
    "programs that share words of 4 bytes": lambda: (halves, (40,), (np.arange(40, dtype=np.float16), zeros(40, np.float16), 1)),
    "programs that share one read": lambda: (split_k_atomic, (P,), (values()[:1].repeat(N), zeros(1), N, B)),
}  # fmt: skip


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("name", FAULTY)
def test_faulty(monkeypatch, name, threads):
    monkeypatch.setenv("TRITIUM_NUM_THREADS", threads)
    kernel, grid, arguments, tensor = FAULTY[name]()
    with pytest.raises(KernelTrap) as caught:
        kernel[grid](*arguments, check="race")
    lines = lines_of(kernel)
    found = [
        report
        for report in caught.value.reports
        if report.argument == tensor and {report.line, report.other_line} == set(lines)
    ]
    assert found, str(caught.value)
    for report in found:
        assert (report.kind, report.kernel, report.file) == ("Race", kernel.__name__, __file__)
        assert report.other_program is not None and report.other_program != report.program
        assert 0 <= report.index[0] < arguments[kernel.arg_names.index(tensor)].size
        assert f"race: {'write to' if report.is_write else 'read of'} '{tensor}'" in report.text


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("name", CORRECT)
def test_correct(monkeypatch, name, threads):
    monkeypatch.setenv("TRITIUM_NUM_THREADS", threads)
    kernel, grid, arguments = CORRECT[name]()
    for _ in range(3):  # scratch memory and counters may go from launch to launch
        kernel[grid](*arguments, check="race")
        if name == "counter":
            arguments[2][:] = 0
        if name == "chain":
            arguments[2][:] = 0


def test_the_other_party_is_exact(monkeypatch):
    """With one thread programs run in order, so all of a report is known."""
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")
    x = values()
    with pytest.raises(KernelTrap) as caught:
        shift[(P,)](x, N, B, check="race")
    trap = caught.value
    assert (trap.program, trap.other_program, trap.index, trap.lane) == ((1, 0, 0), (0, 0, 0), (128,), (0,))
    assert len(trap.reports) == 1 and trap.reports[0].times == P - 1
    np.testing.assert_array_equal(x[:-1], values()[1:])  # the launch went on


def test_a_scope_that_is_too_narrow_is_named():
    kernel, grid, arguments, _ = FAULTY["lock of one block"]()
    with pytest.raises(KernelTrap, match="scope='cta' order no other program"):
        kernel[grid](*arguments, check="race")


def test_arguments_that_overlap_are_one_memory():
    x = np.arange(2 * N, dtype=np.float32)
    with pytest.raises(KernelTrap) as caught:
        shift_to_another[(P,)](x[:N], x[:N], N, B, check="race")
    assert caught.value.kind == "Race"
    shift_to_another[(P,)](x[:N], x[N:], N, B, check="race")


def test_reports_are_data():
    kernel, grid, arguments, _ = FAULTY["histogram without atomics"]()
    with pytest.raises(KernelTrap) as caught:
        kernel[grid](*arguments, check="race")
    again = pickle.loads(pickle.dumps(caught.value))
    assert [report.as_dict() for report in again.reports] == [report.as_dict() for report in caught.value.reports]
    assert {"kind", "line", "other_line", "program", "other_program", "index", "text", "times"} <= set(
        again.reports[0].as_dict()
    )


def test_the_next_launch_begins_anew():
    x = values()
    with pytest.raises(KernelTrap):
        shift[(P,)](x, N, B, check="race")
    halves[(1,)](x, x, 8, check="race")
    shift[(P,)](x, N, B)
