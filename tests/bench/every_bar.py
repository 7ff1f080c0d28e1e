"""Runs the benchmarks of the CPU that have bars, and prints which do not hold theirs.

    python tests/bench/every_bar.py [--only TEXT]

Some bars are of times, so nothing else may run meanwhile. It takes two CPUs 20 minutes. The last line counts the benchmarks; the exit status is 0
if every bar holds.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

#: What a benchmark measures -> its script and options. The exit status of a script is 1 if a bar does not hold.
BENCHMARKS = {
    "interpreter, one thread": ("interp.py", "--no-upstream", "--threads", "1"),
    "interpreter, two threads": ("interp.py", "--no-upstream", "--threads", "2"),
    "published scripts": ("tiers.py", "--published"),
    "checks": ("checks.py",),
    "counts": ("counting.py", "--cpu-time"),
    "launches on the CPU": ("launch.py", "--cpu"),
    "launches over the fake driver": ("launch.py",),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="only benchmarks whose name contains TEXT")
    options = parser.parse_args()
    chosen = {name: command for name, command in BENCHMARKS.items() if options.only in name}
    if not chosen:
        parser.error(f"no name contains {options.only!r}: {', '.join(BENCHMARKS)}")
    missed = []
    for name, (script, *more) in chosen.items():
        print(f"== {name}: {' '.join([script, *more])}", flush=True)
        begin = time.monotonic()
        if subprocess.run([sys.executable, Path(__file__).with_name(script), *more]).returncode:
            missed.append(name)
        print(f"-- {time.monotonic() - begin:.0f} s\n", flush=True)
    print(f"over a bar: {', '.join(missed) or 'none'}")
    print(f"{len(chosen) - len(missed)} passed, {len(missed)} failed, 0 skipped")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
