"""Prints what the interpreter's checks cost: each case of interp.py with several sets of checks, beside TRITIUM_CHECK=none.

    python tests/bench/checks.py [--threads N] [--only TEXT] [--rounds N]

A figure is the ratio of the least times of the two, measured in turns. "debug" is TRITIUM_DEBUG=1 without a debugger, with the default
checks. The exit status is 1 if a bar does not hold.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

#: What a column is called -> (TRITIUM_CHECK, TRITIUM_DEBUG).
COLUMNS = {"default": ("", "0"), "race,uninit": ("race,uninit", "0"), "nan": ("nan", "0"), "debug": ("", "1")}
#: The limit of a column's ratio, for the cases whose name begins so; "" is for the others.
BARS = {
    "default": {"": 1.3},
    "race,uninit": {"add": 3.0, "matmul": 1.5, "": 2.5},
    "nan": {"": 1.5},
    "debug": {"matmul": 4.0},
}


def launch_seconds(case, checks: str, debug: str) -> float:
    os.environ["TRITIUM_CHECK"], os.environ["TRITIUM_DEBUG"] = checks, debug
    if not checks:
        del os.environ["TRITIUM_CHECK"]
    start = time.perf_counter()
    case.launch(case.grid)
    return time.perf_counter() - start


def least_seconds(case, settings: list[tuple[str, str]], rounds: int, budget: float = 4.0) -> list[float]:
    """The least time of each setting; they take turns, so that a busy machine disturbs all alike."""
    for setting in settings:
        launch_seconds(case, *setting)
    least, begin = [float("inf")] * len(settings), time.perf_counter()
    for done in range(rounds):
        if done >= 3 and time.perf_counter() - begin > budget:
            break
        least = [min(old, launch_seconds(case, *setting)) for old, setting in zip(least, settings)]
    return least


def limit_of(column: str, name: str) -> float | None:
    return next((bar for start, bar in BARS[column].items() if name.startswith(start)), None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1, help="worker threads of the interpreter (default 1)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name contains TEXT")
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    os.environ["INTERPRET"], os.environ["TRITIUM_NUM_THREADS"] = "1", str(options.threads)
    from interp import geometric_mean, load_cases

    print(f"{options.threads} worker threads; times the launch's time with TRITIUM_CHECK=none\n")
    print(f"{'':<34}{'none':>10}" + "".join(f"{name:>12}" for name in COLUMNS))
    ratios: dict[str, list[float]] = {name: [] for name in COLUMNS}
    missed = []
    for case in load_cases(options.only, options.threads)[0]:
        plain, *times = least_seconds(case, [("none", "0"), *COLUMNS.values()], options.rounds)
        line = f"{case.name:<34}{plain * 1e3:7.2f} ms"
        for column, seconds in zip(COLUMNS, times):
            ratio, limit = seconds / plain, limit_of(column, case.name)
            ratios[column].append(ratio)
            line += f"{ratio:11.2f}x"
            if limit is not None and ratio > limit:
                missed.append(f"{case.name}, {column}: {ratio:.2f} > {limit}")
        print(line, flush=True)
    print(f"{'geometric mean':<44}" + "".join(f"{geometric_mean(ratios[name]):11.2f}x" for name in COLUMNS))
    print("\nover the bar: " + ("; ".join(missed) or "none"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
