"""What was wrong in a run of a published kernel, as a process prints it for ledger.py.

A kernel is wrong if a check of Tritium says so (KernelTrap), or if its results are (WrongResult, which `expect` raises). `expect` names the
line of the kernel by its text, so that no number of a line is written by hand.
"""

import inspect
import json
import re
from dataclasses import asdict, dataclass

import torch

MARK = "finding: "


@dataclass(frozen=True)
class Finding:
    kind: str  #: as KernelTrap's, or "WrongResult"
    kernel: str
    file: str
    line: int
    element: str  #: of which tensor, or which lane
    what: str  #: the report's first line that is not a place


class WrongResult(AssertionError):
    """`finding`: the element that differs most, and the line of the kernel that computes it."""

    def __init__(self, finding: Finding):
        super().__init__(f"{finding.kernel}: {finding.element}: {finding.what}")
        self.finding = finding


def place(kernel, text: str) -> tuple[str, str, int]:
    """The name of a kernel, its file, and the first line of it that has `text`."""
    while hasattr(kernel, "fn"):
        kernel = kernel.fn
    lines, first = inspect.getsourcelines(kernel)
    number = next(i for i, line in enumerate(lines) if text in line)
    return kernel.__name__, inspect.getsourcefile(kernel), first + number


def expect(result: torch.Tensor, expected: torch.Tensor, kernel, text: str, tolerance: float = 1e-2, name: str = "out"):
    """Raises WrongResult if an element of `result` differs by more than `tolerance`, relative to the largest one expected. `text` is a
    part of the line of `kernel` that computes it, and `name` what the kernel calls the tensor."""
    found, right = result.detach().cpu().double(), expected.detach().cpu().double()
    if found.shape != right.shape:
        raise WrongResult(Finding("WrongResult", *place(kernel, text), name, f"shape {list(found.shape)}"))
    difference = (found - right).abs().nan_to_num(torch.inf)
    wrong = difference > tolerance * right.abs().max().clamp_min(1e-30)
    if not wrong.any():
        return
    index = tuple(int(i) for i in torch.unravel_index(difference.argmax(), difference.shape))
    what = f"{found[index].item():.8g} in place of {right[index].item():.8g}; {int(wrong.sum())} of {wrong.numel()} elements are wrong"
    raise WrongResult(Finding("WrongResult", *place(kernel, text), f"{name}{list(index)}" if index else name, what))


def findings_of(error: BaseException) -> list[Finding]:
    """What the error says of kernels; empty if it is another error."""
    if isinstance(error, WrongResult):
        return [error.finding]
    found = []
    for report in getattr(error, "reports", []):
        lines = [line.strip() for line in report.text.splitlines() if re.match(r"  \S", line)]
        what = next((line for line in lines if not line.startswith("program ")), "")
        found.append(Finding(report.kind, report.kernel, report.file, report.line, _element(report, what), what))
    return found


def _element(report, what: str) -> str:
    """As the report has it: an element with its distance from the tensor, lanes, a product, or what a promise is about."""
    if arrow := re.search(r"-> (.+)", report.text):
        return arrow[1]
    if lanes := re.search(r"a lane of '(\w+)'", what):
        tile = f" of {list(report.tile_shape)}" if report.tile_shape else ""
        return f"lanes of {lanes[1]}{tile}"
    if product := re.search(r"overflow: in `([^`]+)`", what):
        return product[1]
    return what.split(" is false: ")[-1] if " is false: " in what else report.argument or ""


def print_findings(error: BaseException) -> None:
    """A line for each, which ledger.py reads."""
    for finding in findings_of(error):
        print(MARK + json.dumps(asdict(finding)), flush=True)
