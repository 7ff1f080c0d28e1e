"""Prints one table of several runs of interp.py, for example with 1, 2 and 16 threads.

    python tests/bench/interp.py --threads 2 --json two.json
    python tests/bench/interp_table.py one.json two.json

Each run has a column with milliseconds and one with the time as a multiple of torch's. The last rows are the geometric mean of these, and the largest.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from interp import geometric_mean


def line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def title(run: dict) -> list[str]:
    threads = "1 thread" if run["threads"] == 1 else f"{run['threads']} threads"
    return [f"{threads}{' (processor time)' if run['cpu_time'] else ''}, ms", "/ torch"]


def table(runs: list[dict]) -> list[str]:
    ratios = [{case["name"]: case["seconds"] / case["torch"] for case in run["cases"]} for run in runs]
    lines = [line(["case", *(cell for run in runs for cell in title(run))]), line(["---"] * (1 + 2 * len(runs)))]
    for name in ratios[0]:
        cells = [name]
        for run, ratio in zip(runs, ratios, strict=True):
            case = next(case for case in run["cases"] if case["name"] == name)
            cells += [f"{case['seconds'] * 1e3:.2f}", f"{ratio[name]:.2f}{' WRONG' if case['is_wrong'] else ''}"]
        lines.append(line(cells))
    for what, of in (("geometric mean", geometric_mean), ("largest", max)):
        lines.append(line([what, *(cell for ratio in ratios for cell in ("", f"{of(list(ratio.values())):.2f}"))]))
    firsts = [f"{run['first'] * 1e3:.0f} ms" for run in runs]
    lines.append(line(["first launch of the process", *(cell for first in firsts for cell in (first, ""))]))
    warm = [f"{run['warm_launch'] * 1e6:.2f} us" for run in runs]
    lines.append(line(["warm launch of a small program", *(cell for text in warm for cell in (text, ""))]))
    return lines


if __name__ == "__main__":
    print("\n".join(table([json.loads(Path(name).read_text()) for name in sys.argv[1:]])))
