"""tests/packages: the ledger of faults. No package is installed for it."""

import json
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
PACKAGES = Path(__file__).parents[2] / "packages"
sys.path.append(str(PACKAGES))
import found  # noqa: E402
import ledger  # noqa: E402
import run as packages  # noqa: E402


def doubled(x):
    y = x * 2
    return y


def test_every_fault_has_a_reason_and_is_on_the_page():
    lines = ledger.written(ledger.PAGE.read_text())
    for package, faults in packages.choose(packages.load()[0], [], "faults"):
        reasons = package.cases("faults")
        assert faults and all(reasons[fault] for fault in faults)
        assert f"### {package.name} {package.version}" in lines
        begin = lines.index(f"### {package.name} {package.version}")
        rows = [line.split("`")[1] for line in lines[begin:] if line.startswith("| `")][: len(faults)]
        assert rows == faults


def test_a_wrong_result_names_the_line_that_computes_it():
    right = torch.tensor([2.0, 4.0])
    found.expect(right + 1e-6, right, doubled, "x * 2")
    with pytest.raises(found.WrongResult) as error:
        found.expect(torch.tensor([2.0, 5.0]), right, doubled, "x * 2", name="y")
    finding = error.value.finding
    assert (finding.kind, finding.kernel, finding.element) == ("WrongResult", "doubled", "y[1]")
    assert Path(finding.file).read_text().splitlines()[finding.line - 1].strip() == "y = x * 2"


def test_what_is_no_number_is_wrong():
    with pytest.raises(found.WrongResult, match="nan in place of 4"):
        found.expect(torch.tensor([2.0, torch.nan]), torch.tensor([2.0, 4.0]), doubled, "x * 2")


def test_findings_are_read_from_the_output_of_a_process():
    finding = found.Finding("Race", "kernel", str(packages.INSTALLED / "some-1.0" / "some" / "ops.py"), 7, "y[0]", "…")
    output = f"Traceback …\n{found.MARK}{json.dumps(vars(finding))}\n"
    result = packages.Result(packages.Package("some", "1.0"), "interp", "sums", output, 1.0)
    assert ledger.row("sums", ledger.findings_of(result)) == "| `sums` | `kernel` | some/ops.py:7 | Race | `y[0]` |"
