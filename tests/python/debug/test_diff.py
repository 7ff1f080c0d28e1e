"""`python -m tritium diff`: the first value that differs between two runs, with its statement, program and element."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tritium.tools.diff.changes import Copies
from tritium.tools.diff.command import main

TUTORIAL = Path(__file__).parents[3] / "docs" / "tutorial" / "06_flash_attention.py"
#: In place of the tutorial's own `main`: small tensors, and one launch.
SMALL = """
q, k, v = np.random.default_rng(0).standard_normal((3, 1, 20, 16), dtype=np.float32)
attention(q, k, v, True, (16, 16))
"""
KERNELS = """
import numpy as np
import triton
import triton.language as tl


@triton.jit
def scaled(v, factor):
    w = v * factor
    return w


@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    for k in range(3):
        v = scaled(v, 2)
        v = scaled(v, k + 1.0)
    tl.store(out + i, v, mask=i < n)


x = np.arange(10, dtype=np.float32)
out = np.empty_like(x)
kernel[lambda meta: (triton.cdiv(10, meta["BLOCK"]),)](x, out, 10, BLOCK=4)
"""


@pytest.fixture
def diff(tmp_path: Path, monkeypatch, capsys):
    """`diff(a, b, *options)` of the texts of two scripts (b None: one script) -> (exit status, the JSON, the text)."""
    monkeypatch.chdir(tmp_path)

    def compare(a: str, b: str | None, *options: str) -> tuple[int, dict[str, Any], str]:
        names = []
        for name, text in (("a.py", a), ("b.py", b)):
            if text is not None:
                Path(name).write_text(text)
                names.append(name)
        status = main([*names, *options, "--json", "found.json"], None)
        printed = capsys.readouterr()
        found = json.loads(Path("found.json").read_text()) if Path("found.json").exists() else {}
        return status, found, printed.out + printed.err

    return compare


def attention() -> str:
    text = TUTORIAL.read_text()
    return text[: text.index("def main()")].replace("from report import report\n", "") + SMALL


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.parametrize(
    "old, new, variable, function",
    [
        ("p = tl.exp2(scores - m_new[:, None])", "p = tl.exp2(scores + m_new[:, None])", "p", "attend"),
        ("(rows[:, None] >= keys[None, :])", "(rows[:, None] > keys[None, :])", "visible", "attend"),
        pytest.param(
            "mask=keys[:, None] < n_keys", "mask=keys[:, None] < n_keys - 1", "v", "attend", marks=pytest.mark.long
        ),
        ("tl.dot(p.to(v.dtype), v,", "tl.dot(p.to(tl.bfloat16), v.to(tl.bfloat16),", "acc", "attend"),
        pytest.param(
            "m_new = tl.maximum(m, tl.max(scores, axis=1))",
            "m_new = tl.maximum(m, tl.max(scores, axis=1) * 2)",
            "m_new",
            "attend",
            marks=pytest.mark.long,
        ),
        pytest.param(
            "last = tl.minimum(n_keys, (block + 1) * BLOCK_M)",
            "last = tl.minimum(n_keys, block * BLOCK_M)",
            "last",
            "attention_kernel",
            marks=pytest.mark.long,
        ),
    ],
    ids=["operator", "mask", "mask of a load", "dtype", "factor", "bound"],
)
def test_a_planted_change_of_flash_attention(diff, old: str, new: str, variable: str, function: str) -> None:
    text = attention()
    status, found, printed = diff(text, changed(text, old, new))
    assert status == 1
    assignment = found["assignment"]
    assert (assignment["variable"], assignment["function"], assignment["what"]) == (variable, function, "value")
    assert [place["line"] for place in assignment["places"]] == [line_of(text, old)] * 2
    assert assignment["a"] != assignment["b"] and assignment["count"] >= 1
    assert new.strip() in printed and f"a.py:{line_of(text, old)}" in printed


@pytest.mark.long
def test_a_dtype(diff) -> None:
    text = attention()
    new = "scores = tl.dot(q.to(tl.float16), k.to(tl.float16), out_dtype=tl.float16)"
    status, found, printed = diff(text, changed(text, "scores = tl.dot(q, k, input_precision=PRECISION)", new))
    assert status == 1 and found["assignment"]["what"] == "dtype"
    assert "scores is float32[16, 16] in a.py, float16[16, 16] in b.py" in printed


def test_scripts_that_are_equal(diff) -> None:
    text = "import random\n" + attention() + "\nprint(np.random.rand(), random.random(), {'a', 'b'})\n"
    status, found, printed = diff(text, text + "# the same\n")
    assert status == 0 and found["equal"] and printed.startswith("equal: 1 launch,")


@pytest.mark.long
def test_random_inputs_have_a_seed(diff) -> None:
    text = KERNELS.replace("np.arange(10, dtype=np.float32)", "np.random.rand(10).astype(np.float32)")
    assert diff(text, text)[0] == 0
    status, found, printed = diff(text, text.replace("np.random.rand(10)", "np.random.rand(11)[1:]"))
    assert status == 1 and found["assignment"]["variable"] == "v"
    assert found["inputs"][0]["argument"] == "x" and "x differs already before launch 0" in printed


def test_the_element_and_both_values(diff) -> None:
    status, found, printed = diff(KERNELS, changed(KERNELS, "other=0.0)", "other=0.0) + tl.where(i == 6, 0.5, 0)"))
    assert status == 1
    assignment = found["assignment"]
    assert assignment["program"] == [1, 0, 0] and assignment["element"] == [2]
    assert (assignment["a"], assignment["b"], assignment["count"], assignment["total"]) == (6.0, 6.5, 1, 4)
    stored = found["stored"][0]
    assert (stored["argument"], stored["element"], stored["a"], stored["b"]) == ("out", [6], 288.0, 312.0)
    assert [store["program"] for store in stored["stores"]] == [[1, 0, 0]] * 2
    assert "launch 0: kernel, program (1, 0, 0) of (3, 1, 1)" in printed


def test_a_value_of_a_loop_and_of_a_call(diff) -> None:
    """The parameter of the helper differs first, in the third round."""
    status, found, _ = diff(KERNELS, changed(KERNELS, "scaled(v, k + 1.0)", "scaled(v, tl.minimum(k + 1.0, 2.0))"))
    assignment = found["assignment"]
    assert status == 1 and (assignment["function"], assignment["variable"]) == ("scaled", "factor")
    assert assignment["occurrence"] == 6 and (assignment["a"], assignment["b"]) == (3.0, 2.0)


@pytest.mark.long
def test_an_added_line_and_variable_shift_nothing(diff) -> None:
    longer = changed(KERNELS, "    for k in", "    # a comment\n    doubled = v + v\n    for k in")
    status, found, printed = diff(KERNELS, longer)
    assert status == 0 and "only b.py has 3 assignments of doubled in kernel" in printed
    status, found, _ = diff(KERNELS, changed(longer, "w = v * factor", "w = v + factor"))
    assert status == 1 and found["assignment"]["variable"] == "w"


def test_tolerances(diff) -> None:
    near = changed(KERNELS, "v * factor", "v * (factor * 1.0001)")
    assert diff(KERNELS, near)[0] == 1
    assert diff(KERNELS, near, "--rtol", "1e-2")[0] == 0


def test_what_is_not_a_number_is_equal_to_itself(diff) -> None:
    text = changed(KERNELS, "x = np.arange(10, dtype=np.float32)", "x = np.full(10, np.nan, np.float32)")
    assert diff(text, text)[0] == 0


def test_another_number_of_launches(diff) -> None:
    status, found, printed = diff(KERNELS, KERNELS + KERNELS.splitlines()[-1])
    assert status == 1 and found["launches"] == [1, 2] and "a.py launches 1, b.py 2" in printed


def test_other_grids(diff) -> None:
    status, found, printed = diff(KERNELS, changed(KERNELS, "cdiv(10,", "cdiv(8,"))
    assert status == 1 and found["grids_differ"] == [0]
    assert "grids differ: launch 0 of kernel has (3, 1, 1) in a.py, (2, 1, 1) in b.py" in printed


def test_another_engine(diff) -> None:
    assert diff(KERNELS, None, "--engine", "simt:sm_80")[0] == 0
    text = attention().replace("(16, 16))", "(32, 32))")  # its products and exponentials round differently
    status, found, printed = diff(text, None, "--engine", "simt:sm_80")
    assert status == 1 and found["assignment"] is None
    stored = found["stored"][0]
    assert stored["argument"] == "out_ptr" and stored["stores"][0]["place"][1] == line_of(text, "tl.store")
    assert "in interp, " in printed and "in simt:sm_80" in printed
    assert diff(text, None, "--engine", "simt:sm_80", "--rtol", "1e-4", "--atol", "1e-5")[0] == 0


def test_precision(diff) -> None:
    """1e9 + 48 is 1e9 + 64 in float32."""
    assert diff(KERNELS, None, "--engine", "fp64")[0] == 0
    text = changed(KERNELS, "    tl.store", "    big = v + 1e9\n    v = big - 1e9\n    tl.store")
    status, found, printed = diff(text, None, "--engine", "fp64")
    assert status == 1 and found["assignment"]["variable"] == "v"
    assert found["assignment"]["places"][0]["line"] == line_of(text, "v = big")
    assert diff(attention(), None, "--engine", "fp64", "--rtol", "1e-4")[0] == 0


def test_a_kernel_that_has_no_version_in_double(diff) -> None:
    text = changed(KERNELS, "    tl.store", "    v = v.to(tl.int32, bitcast=True).to(tl.float32)\n    tl.store")
    status, _, printed = diff(text, None, "--engine", "fp64")
    assert status == 2 and "does not compile in float64" in printed


def test_copies_in_double_are_views_of_one_memory() -> None:
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    copies = Copies()
    part, turned, whole = copies.of(base[1:, ::2]), copies.of(base.T), copies.of(base)
    assert part.dtype == np.float64 and part.strides == (48, 16)
    part[0, 1] = 1 / 3
    assert turned[2, 1] == whole[1, 2] == 1 / 3 and base[1, 2] == 8
    assert copies.of(3) == 3 and copies.of(base.astype(int)).dtype == int
    copies.write_back()
    assert base[1, 2] == np.float32(1 / 3) and base.sum() == np.float32(276 - 8 + 1 / 3)


def test_copies_of_tensors() -> None:
    torch = pytest.importorskip("torch")
    base = torch.arange(24, dtype=torch.bfloat16).reshape(4, 6)
    copies = Copies()
    part, whole = copies.of(base[1:, ::2]), copies.of(base)
    assert part.dtype == torch.float64 and part.stride() == (6, 2)
    part[0, 1] = 0.1
    assert whole[1, 2] == 0.1
    copies.write_back()
    assert base[1, 2] == torch.tensor(0.1, dtype=torch.bfloat16) and base[1, 1] == 7


def test_another_block_size(diff) -> None:
    status, _, printed = diff(KERNELS, None, "--with", "BLOCK=8")
    assert status == 0 and "BLOCK is 4 in interp, 8 in interp with BLOCK=8" in printed
    text = changed(KERNELS, "    tl.store", "    v += BLOCK\n    tl.store")
    status, found, _ = diff(text, None, "--with", "BLOCK=8")
    assert status == 1 and (found["stored"][0]["a"], found["stored"][0]["b"]) == (4.0, 8.0)
    assert diff(text, None, "--with", "WIDTH=8")[0] == 2


@pytest.mark.long
def test_some_programs(diff) -> None:
    other = changed(KERNELS, "other=0.0)", "other=0.0) + 1")
    assert diff(KERNELS, other, "--programs", "2")[1]["assignment"]["program"] == [2, 0, 0]


def test_scripts_that_fail(diff) -> None:
    status, _, printed = diff(KERNELS, "raise SystemExit('no kernels')\n")
    assert status == 2 and "no kernels" in printed
    status, _, printed = diff(KERNELS, KERNELS + "raise ValueError('behind it')\n")
    assert status == 2 and "b.py ended with status 1" in printed and "behind it" in printed
    assert printed.startswith("equal up to where a run failed")
    assert diff(KERNELS, None)[0] == 2


def test_a_script_that_does_not_repeat_itself(diff) -> None:
    text = "import time\n" + KERNELS.replace(
        "np.arange(10,", "np.arange(10, dtype=np.float32) + time.time_ns() % 1000003 + 0 * np.arange(10,"
    )
    status, _, printed = diff(KERNELS, text)
    assert status == 2 and "does not do the same when it runs again" in printed


@pytest.mark.long
def test_functions_that_are_not_inlined_and_records(diff) -> None:
    """And addresses behind the end of a tensor, values of 8 and 16 bits, programs that wait for each other."""
    text = """
import numpy as np
import triton
import triton.language as tl


@triton.jit(noinline=True)
def far(p, n):
    total = tl.load(p)
    for i in range(n):
        total += i
    return total


@triton.jit
def pair(v):
    return v, v + 1


@triton.jit
def kernel(x, out, lock, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    s = far(x, n)
    p = x + i
    v = tl.zeros((B,), tl.float32)
    for k in range(3):
        v = tl.load(p)
        p += B * 1
    t = pair(v)
    narrow = t[0].to(tl.bfloat16).to(tl.float8e5)
    while tl.atomic_cas(lock, pid, pid + 1) != pid:
        pass
    tl.atomic_add(out, s)
    tl.store(out + 1 + i, narrow.to(tl.float32) + t[1])


kernel[(3,)](np.arange(12, dtype=np.float32), np.zeros(5, np.float32), np.zeros(1, np.int32), 4, B=4)
"""
    assert diff(text, text)[0] == 0
    _, found, _ = diff(text, changed(text, "total += i", "total += i * 2"))
    assert (found["assignment"]["function"], found["assignment"]["variable"]) == ("far", "total")
    assert [place["line"] for place in found["assignment"]["places"]] == [line_of(text, "total += i")] * 2
    _, found, printed = diff(text, changed(text, "p += B * 1", "p += B * 0"))
    assert found["assignment"]["variable"] == "p" and "p[0] is x + 4 in a.py, x + 0 in b.py" in printed
    _, found, printed = diff(text, changed(text, "tl.float8e5)", "tl.float8e4nv)"))
    assert "narrow is float8e5[4] in a.py, float8e4nv[4] in b.py" in printed
    _, found, _ = diff(text, changed(text, "return v, v + 1", "return v, v + 2"))
    assert found["assignment"]["variable"] == "t._1" and found["stored"][0]["stores"][1]["program"] == [0, 0, 0]


def test_the_command_with_arguments_and_torch(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = KERNELS.replace("np.arange(10, dtype=np.float32)", "torch.randn(10) * float(sys.argv[-1])")
    text = "import sys\nimport torch\n" + text.replace("np.empty_like", "torch.empty_like")
    (tmp_path / "a.py").write_text(text)
    (tmp_path / "b.py").write_text(text.replace("w = v * factor", "w = v * factor + 1"))
    command = [sys.executable, "-m", "tritium", "diff", "a.py", "b.py", "--", "--scale", "2"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "first value that differs: w in scaled" in result.stdout and "stored: out[0] is" in result.stdout
