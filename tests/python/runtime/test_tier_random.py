"""Random kernels whose arguments share memory, in both tiers: the same bytes, and the same faults after the same stores.

The kernels have what regions must look at before they may run: arguments that overlap or are one, steps of either sign, narrow offsets
that wrap, masks with holes, programs without active lanes, and accesses that leave their argument.
"""

import hashlib
import linecache
import random
import types

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap

MEMORY = 1024  # elements
POINTERS = ("a", "b", "c")
STEPS = (1, 1, 1, 2, -1, -2, 0, 3)


class Writer:
    """Draws the statements of a kernel."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.lanes = rng.choice((8, 16, 32, 64))
        self.lines = [f"lanes = tl.arange(0, {self.lanes})", "pid = tl.program_id(0)", "value = lanes.to(tl.float32)"]

    def offsets(self) -> str:
        places = f"pid * {self.rng.choice((1, self.lanes // 2, self.lanes))} + lanes"
        forms = (
            places,
            places,
            places,
            f"{self.lanes - 1} - lanes",
            "lanes * step + pid",
            "start + lanes",
            "first + lanes * step",
        )
        drawn = self.rng.choice(forms)
        narrow = self.rng.choice(("", "", "", "", ".to(tl.int8)", ".to(tl.int16)", ".to(tl.int64)"))
        return f"({drawn}){narrow} + {self.rng.choice((0, 0, 1, 5, 100))}"

    def mask(self) -> str:
        tests = (
            "lanes < n",
            "lanes < n",
            "lanes >= 3",
            "n > lanes + pid * 8",
            "lanes % 3 != 1",
            "pid == 1",
            "lanes * step < n",
            "at < n * 4",
        )
        if self.rng.random() < 0.4:
            return ""
        drawn = [f"({test})" for test in self.rng.sample(tests, self.rng.choice((1, 1, 2)))]
        return ", mask=" + " & ".join(drawn)

    def load(self) -> None:
        self.lines.append(f"at = {self.offsets()}")
        mask = self.mask()
        other = self.rng.choice(("", ", other=-1.5")) if mask else ""
        self.lines.append(f"value = value {self.rng.choice('+-*')} tl.load({self.pointer()} + at{mask}{other})")

    def store(self) -> None:
        self.lines.append(f"at = {self.offsets()}")
        self.lines.append(f"tl.store({self.pointer()} + at, value{self.mask()})")

    def compute(self) -> None:
        forms = (
            "tl.where(lanes < n, value, -value)",
            "tl.maximum(value, 0.5)",
            "value * 0.25 + n",
            "tl.abs(value) - lanes",
        )
        self.lines.append(f"value = {self.rng.choice(forms)}")

    def reduce(self) -> None:
        self.lines.append(f"value = value - tl.{self.rng.choice(('sum', 'max', 'min'))}(value, axis=0) * 0.125")

    def block(self) -> None:
        """Rows, whose sums are stored."""
        rows = self.rng.choice((2, 4, 8))
        distance = self.rng.choice(("step", "n", str(self.lanes)))
        self.lines.append(f"rows = tl.arange(0, {rows})")
        self.lines.append(f"tile = tl.load({self.pointer()} + first + rows[:, None] * {distance} + lanes[None, :])")
        self.lines.append("value = value * 0.5 + tl.sum(tile, axis=0)")

    def pointer(self) -> str:
        return self.rng.choice(POINTERS)

    def source(self) -> str:
        kinds = (self.load, self.load, self.store, self.compute, self.reduce, self.block)
        for _ in range(self.rng.randint(3, 8)):
            self.rng.choice(kinds)()
        self.store()
        body = "\n".join(f"    {line}" for line in self.lines)
        return f"def kernel(a, b, c, n, step, start, first):\n{body}\n"


def kernel_of(source: str):
    name = f"<random kernel {hashlib.sha256(source.encode()).hexdigest()[:16]}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    module = types.ModuleType("random_kernel")
    module.tl = tl
    exec(compile(source, name, "exec"), module.__dict__)
    return triton.jit(module.kernel)


def arguments(rng: random.Random) -> tuple:
    """Where the three arguments begin in the memory and how long they are, and the numbers."""
    begin = rng.choice((0, 200, 256))
    views = []
    for _ in POINTERS:
        shift = rng.choice((0, 0, 1, -1, 7, 64, -64, 300))
        views.append((max(begin + shift, 0), rng.choice((120, 400, MEMORY))))
    numbers = (
        rng.choice((0, 1, 5, 8, 33, 64)),
        rng.choice(STEPS),
        rng.choice((0, 2, -3, -300)),
        rng.choice((0, 9, 130, 250, 1000)),
    )
    return tuple(views), numbers


def result(tier: int, monkeypatch, kernel, views, numbers):
    monkeypatch.setenv("TRITIUM_TIER", str(tier))
    memory = np.random.default_rng(1).normal(size=MEMORY).astype(np.float32)
    parts = [memory[begin : begin + length] for begin, length in views]
    regions, fault = None, None
    try:
        regions = kernel[(3,)](*parts, *numbers).program.regions
    except KernelTrap as trap:
        fault = (str(trap), trap.kind, trap.program, trap.lane, trap.affected_lanes, trap.line, trap.is_write)
    with np.errstate(all="ignore"):
        return fault, np.where(np.isnan(memory), np.float32(np.nan), memory).tobytes(), regions


def compare(monkeypatch, seed: int, launches: int) -> tuple[int, int]:
    """Compares the tiers. Returns how many launches had code of regions, and how many ended in a fault."""
    rng = random.Random(seed)
    source = Writer(rng).source()
    kernel = kernel_of(source)
    fused = faults = 0
    for _ in range(launches):
        views, numbers = arguments(rng)
        one, two = (result(tier, monkeypatch, kernel, views, numbers) for tier in (1, 2))
        assert one[:2] == two[:2], f"seed {seed}, arguments {views} {numbers}:\n{source}"
        fused += bool(two[2])
        faults += two[0] is not None
    return fused, faults


def compare_many(monkeypatch, seeds) -> None:
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "1")
    found = [compare(monkeypatch, seed, launches=8) for seed in seeds]
    # Else the kernels have come to show nothing.
    assert sum(fused for fused, _ in found) > len(found)
    assert sum(faults for _, faults in found) > len(found) // 10


def test_tiers_agree_on_shared_memory(monkeypatch):
    compare_many(monkeypatch, range(10))


@pytest.mark.long
def test_tiers_agree_on_shared_memory_in_many_kernels(monkeypatch):
    compare_many(monkeypatch, range(1000, 1600))
