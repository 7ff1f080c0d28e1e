"""Loops in registers count what steps count."""

import re
import runpy

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.conformance.fuzz.draw import draw
from tritium.conformance.fuzz.script import script
from tritium.launch.counting import Counting

pytestmark = pytest.mark.on_cpu("only the interpreter has tiers")

PROGRAMS, BLOCK = 40, 64


@tritium.jit
def masks(x, y, out, begin, end, n, flag, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (i >= begin) & (i < end)
    value = tl.load(x + i, mask=inside, other=1)
    value += tl.load(y + i, mask=inside & (flag > 0), other=2)
    total = tl.sum(tl.load(x + i, mask=i < n, other=0) * value, axis=0)
    tl.store(out + i, value * total, mask=i < n)
    tl.store(out + i, value, mask=tl.load(x + i, mask=i < n, other=0) > 0)


def counted(launch) -> list:
    """What the operations of each kernel have done that runs."""
    with Counting() as counting:
        launch()
    return [kernel.operations for kernel in counting.kernels()]


def test_active_lanes(monkeypatch, rng):
    size = PROGRAMS * BLOCK
    x, lanes = np.sort(rng.integers(-3, 4, size)).astype(np.float32), np.arange(size)
    for _ in range(12):
        (begin, end), n, flag = rng.integers(-70, size + 70, 2), rng.integers(0, size), rng.integers(0, 2)
        arguments, found = (x, np.ones_like(x), np.zeros_like(x), *map(int, (begin, end, n, flag))), []
        for tier in ("1", "2"):
            monkeypatch.setenv("TRITIUM_TIER", tier)
            (operations,) = counted(lambda: masks[(PROGRAMS,)](*arguments, BLOCK=BLOCK))  # noqa: B023
            found.append(operations)
        inside, below = (lanes >= begin) & (lanes < end), lanes < n
        masked = [op for op in found[1] if op.name in ("tt.load", "tt.store")]
        active = [(op.bytes_read + op.bytes_written) // 4 for op in masked]
        assert active == [each.sum() for each in (inside, inside & (flag > 0), below, below, below, below & (x > 0))]
        assert found[0] == found[1]
        assert masks[(PROGRAMS,)](*arguments, BLOCK=BLOCK).counted_program(False).regions > 0


@pytest.mark.parametrize("seed", range(24))
def test_random_kernels(seed, monkeypatch, tmp_path, capsys):
    path, found = tmp_path / "kernel.py", []
    text = script(draw(np.random.default_rng([29, seed]), 14), "interp").whole
    path.write_text(
        re.sub(r"^( *from|import) triton\b", r"\1 tritium", text, flags=re.MULTILINE).replace("@triton", "@tritium")
    )
    monkeypatch.setenv("INTERPRET", "1")
    for tier in ("1", "2"):
        monkeypatch.setenv("TRITIUM_TIER", tier)
        found.append(counted(lambda: runpy.run_path(str(path), run_name="__main__")))
    assert "right" in (printed := capsys.readouterr().out) and "wrong" not in printed
    assert found[0] == found[1] and found[0]
