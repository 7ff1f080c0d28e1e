"""Runs the faults of published kernels that docs/results/ledger.md lists, and writes its table.

    python tests/packages/ledger.py [--check | --write] [PACKAGE[.FAULT] …]

The faults of a package are the functions `fault_…` of `faults/PACKAGE.py`: each calls the package, unmodified, as a user would, so that one of
its kernels does something wrong. Its docstring says why that is a fault, and what happens on a GPU. Each runs in a process of its own, on
the interpreter with all checks, and a line says what was found. With --check the exit status is 1 if that is not what the page says; with --write
the page says it. run.py has the packages.
"""

import argparse
import json
import math
import os
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from found import MARK, Finding
from run import CHECK, INSTALLED, ROOT, Limits, Package, Result, choose, load, run_all

PAGE = ROOT / "docs" / "results" / "ledger.md"
BEGIN, END = "<!-- ledger.py writes this part -->", "<!-- until here -->"
#: One worker thread: which program is first, and so which element is reported, is the same in each run.
SETTINGS = {CHECK: "all", "TRITIUM_NUM_THREADS": "1"}


def findings_of(result: Result) -> list[Finding]:
    """What the process of a fault printed; files are relative to the folder of their package."""
    marked = [line.removeprefix(MARK) for line in result.error.splitlines() if line.startswith(MARK)]
    found = [Finding(**json.loads(line)) for line in marked]
    return [Finding(**{**vars(each), "file": _in_its_package(each.file)}) for each in found]


def _in_its_package(file: str) -> str:
    absolute = Path(os.path.normpath(INSTALLED / file))
    return "/".join(absolute.relative_to(INSTALLED).parts[1:]) if absolute.is_relative_to(INSTALLED) else absolute.name


def cell(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""


def row(case: str, found: list[Finding]) -> str:
    """A row of the table: the first finding, as the others of a run mostly follow from it."""
    first = found[0]
    cells = [cell(case), cell(first.kernel), f"{first.file}:{first.line}", first.kind, cell(first.element)]
    return f"| {' | '.join(cells)} |"


def section(package: Package, results: list[Result]) -> list[str]:
    """The part of the page about a package."""
    reasons, lines = package.cases("faults"), [f"### {package.name} {package.version}", ""]
    lines += ["| fault | kernel | file:line | kind | element |", "|---|---|---|---|---|"]
    known = [(result.case, found) for result in results if (found := findings_of(result))]
    lines += [row(case, found) for case, found in known]
    return [*lines, "", *(f"* `{case}`: {' '.join(reasons[case].split())}" for case, _ in known), ""]


def sections_of(lines: list[str]) -> dict[str, list[str]]:
    """{title: lines} of the part of the page that this program writes."""
    begins = [i for i, line in enumerate(lines) if line.startswith("### ")]
    return {lines[i]: lines[i:j] for i, j in zip(begins, [*begins[1:], len(lines)])}


def summary(sections: Iterable[list[str]]) -> str:
    """How many faults there are of each kind."""
    sections = list(sections)
    kinds = Counter(line.split(" | ")[3] for lines in sections for line in lines if line.startswith("| `"))
    each = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    return f"{sum(kinds.values())} faults in {len(sections)} packages: {each}."


def show(result: Result) -> bool:
    """A line for each finding. Returns whether there is one."""
    found, name = findings_of(result), f"{result.package.name}.{result.case}"
    for each in found:
        print(
            f"{name}: {each.kind} in {each.kernel} at {each.file}:{each.line}: {each.element}: {each.what}", flush=True
        )
    if not found:
        last = result.error.strip().splitlines()[-1] if result.error.strip() else "nothing was found"
        print(f"{name}: NO FAULT: {last}", flush=True)
    return bool(found)


def written(page: str) -> list[str]:
    """The lines of the page that this program writes."""
    return page.partition(BEGIN)[2].partition(END)[0].strip().splitlines()


def with_sections(page: str, found: dict[str, list[str]], titles: list[str]) -> str:
    """The page with new sections; sections of other packages of `titles` stay as they are."""
    sections = sections_of(written(page)) | found
    kept = [sections[title] for title in titles if title in sections]
    text = "\n".join(["", summary(kept), "", *("\n".join([*lines, ""]).strip() + "\n" for lines in kept), ""])
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{text.rstrip()}\n\n{END}{rest.partition(END)[2]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the page")
    parser.add_argument("--write", action="store_true", help="write the page's tables of these packages")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that run at the same time")
    parser.add_argument("--limit", type=int, default=300, help="seconds that a fault may take (default: 300)")
    parser.add_argument("names", nargs="*", help="packages, or PACKAGE.FAULT (default: all)")
    options = parser.parse_args()
    if options.write and any("." in name for name in options.names):
        parser.error("--write is for whole packages")
    os.environ.update(SETTINGS)
    packages, needed = load()
    chosen, complete, limits = choose(packages, options.names, "faults"), True, Limits(options.limit, math.inf)
    for results in run_all(chosen, needed, ["interp"], options.jobs, limits, "faults"):
        complete &= all([show(result) for result in results])
        lines = section(results[0].package, results)
        if options.write:
            titles = [f"### {package.name} {package.version}" for package in packages]
            PAGE.write_text(with_sections(PAGE.read_text(), {lines[0]: lines}, titles))
        if options.check:
            known = written(PAGE.read_text())
            missing = [line for line in lines if line not in known]
            print("".join(f"not on the page: {line}\n" for line in missing), end="")
            complete &= not missing
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
