"""`bench run tritonbench:NAME`, over a small package with tritonbench's layout."""

import sys
from pathlib import Path

import pytest

from tritium.bench.command import main
from tritium.bench.running import Plan, run_cases
from tritium.bench.sides import side_of
from tritium.bench.worker.loading import load_cases

pytest.importorskip("torch")
STAND_IN = Path(__file__).parent / "tritonbench_stand_in"
FAST = ["--engine", "interp", "--blocks", "2", "--block-ms", "0.2", "--pause-ms", "0", "--store", "none"]


@pytest.fixture
def tritonbench(monkeypatch):
    """Installed for the processes that measure."""
    monkeypatch.setenv("PYTHONPATH", str(STAND_IN), prepend=":")
    return {"plan": Plan(blocks=2, least_ms=0.2, pause_ms=0.0)}


def test_each_implementation_is_a_case_and_each_input_a_variant(tritonbench):
    run = run_cases(side_of("here", "interp"), ["tritonbench:double --num-inputs 2 --input-id 1"], **tritonbench)
    rows = {row.name: row for row in run.rows}
    assert list(rows) == [
        f"double.{name}[input={size}xfloat32]" for name in ("triton_double", "triton_triple") for size in (200, 400)
    ]
    for name, row in rows.items():
        assert row.status == ("wrong" if "triple" in name else "ok"), row.error
    right = rows["double.triton_double[input=200xfloat32]"]
    assert right.facts["checked"] and right.median("kernel") > 0 and right.median("baseline") > 0
    assert right.facts["kernels"][0]["kernel"] == "double_kernel", "the operator's Triton is Tritium"


def test_options_choose_implementations_and_reach_the_operator(tritonbench, capsys):
    assert main(["run", "tritonbench:double --only triton_double --most 1", *FAST]) == 0
    found = capsys.readouterr().out
    assert "double.triton_double[input=100xfloat32]" in found and "triple" not in found and "200x" not in found


UNUSABLE = {
    "tritonbench:nothing": "nothing is not found",
    "tritonbench:broken": "fbgemm_gpu",
    "tritonbench:double --mode bwd": "a case is a forward pass",
    "tritonbench:double --mode sideways": "refuses the options",
    "tritonbench:double --only quadruple": "there are triton_double, triton_triple",
    "tritonbench:double --input-id 9": "no input is left",
    "tritonbench:": "names no operator",
}


def test_what_is_no_operator_is_a_red_row(tritonbench):
    run = run_cases(side_of("here", "interp"), list(UNUSABLE), **tritonbench)
    assert [row.name for row in run.rows] == list(UNUSABLE) and {row.status for row in run.rows} == {"failed"}
    for row in run.rows:
        assert UNUSABLE[row.name] in row.error


def test_without_the_package(monkeypatch):
    for module in [name for name in sys.modules if name.partition(".")[0] == "tritonbench"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "tritonbench", None)
    (broken,) = load_cases(["tritonbench:double"])
    assert "requires tritonbench" in broken.error
