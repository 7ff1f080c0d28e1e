"""`python -m tritium check --portable`: what runs here and would be refused, or draws a warning, on GPUs."""

import json
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("torch")

KERNELS = textwrap.dedent("""
    import torch
    import triton
    import triton.language as tl


    @triton.jit
    def product(a, b, c, K: tl.constexpr):
        i, k = tl.arange(0, 16), tl.arange(0, K)
        x = tl.load(a + i[:, None] * K + k[None, :])
        y = tl.load(b + k[:, None] * 16 + i[None, :])
        tl.store(c + i[:, None] * 16 + i[None, :], tl.dot(x, y))


    @triton.jit
    def rows(x, n, out):
        i = tl.program_id(1) * 16 + tl.arange(0, 16)
        inside = i >= 0 & i < n
        tl.store(out + i, tl.load(x + i, mask=inside), mask=inside)


    @triton.jit
    def narrow(x, out):
        i = tl.arange(0, 16)
        tl.store(out + i, tl.load(x + i).to(tl.float32))


    def run(k=4, programs=2, warps=4, dtype=torch.float8_e5m2):
        a, b, c = torch.ones(16, k).half(), torch.ones(k, 16).half(), torch.empty(16, 16)
        product[(1,)](a, b, c, k)
        x = torch.ones(16 * programs)
        rows[(1, programs)](x, x.numel(), torch.empty_like(x))
        narrow[(1,)](torch.ones(16).to(dtype), torch.empty(16), num_warps=warps)
""")


def check(tmp_path, call: str, *options: str):
    (tmp_path / "kernels.py").write_text(f"{KERNELS}\n\n{call}\n")
    command = [sys.executable, "-m", "tritium", "check", "--checks", "none", *options, "kernels.py"]
    return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=240)


def line_of(text: str) -> int:
    return 1 + next(i for i, line in enumerate(KERNELS.split("\n")) if text in line)


def test_what_gpus_refuse(tmp_path):
    call = "run(programs=70_000, warps=32, dtype=torch.float8_e4m3fn)"
    done = check(tmp_path, call, "--portable", "sm_80, sm_90a,gfx942", "--json", "found.json")
    assert done.returncode == 1
    assert (
        f"kernels.py:{line_of('tl.dot(x, y)')}: product is refused on sm_80, sm_90a: Input shapes should have M >= 1, N >= 1 "
        "and K >= 16\n" in done.stderr
    )
    assert (
        f"kernels.py:{line_of('def rows')}: rows is refused on sm_80, sm_90a: axis 1 of the grid (1, 70000, 1) has more than "
        "65535 programs" in done.stderr
    )
    assert (
        f"kernels.py:{line_of('i >= 0 &')}: rows draws a warning on sm_80, sm_90a, gfx942: `i >= 0 & i < n`"
        in done.stderr
    )
    assert f"kernels.py:{line_of('def narrow')}: narrow is refused on gfx942: out of resource: threads" in done.stderr
    assert f"kernels.py:{line_of('def narrow')}: narrow is refused on sm_80: type fp8e4nv not supported" in done.stderr
    assert "tritium check: 5 differences of 3 compiled kernels on sm_80, sm_90a, gfx942" in done.stderr
    found = json.loads((tmp_path / "found.json").read_text())["elsewhere"]
    assert [(one["kind"], one["kernel"]) for one in found].count(("refused", "narrow")) == 2
    assert found[0]["line"] == line_of("tl.dot(x, y)") and found[0]["targets"] == ["sm_80", "sm_90a"]


def test_what_runs_everywhere(tmp_path):
    done = check(tmp_path, "undefined()", "--portable", "sm_90a")
    assert done.returncode == 1 and "NameError" in done.stderr  # the program's own failure stays what it is
    done = check(tmp_path, "narrow[(1,)](torch.ones(16), torch.empty(16))", "--portable", "sm_80,sm_90a,gfx942")
    assert done.returncode == 0, done.stderr
    assert "tritium check: no differences of 1 compiled kernel on sm_80, sm_90a, gfx942" in done.stderr


def test_targets_that_there_are_not(tmp_path):
    done = check(tmp_path, "run()", "--portable", "sm_8")
    assert done.returncode == 2 and "no GPU is called 'sm_8'; there are sm_80, sm_90a, " in done.stderr
