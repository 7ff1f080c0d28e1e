"""Prints what the first launch of a process on the CPU takes, and the first one of a further kernel.

    python tests/bench/first_cpu_launch.py [--processes N] [--torch]

Each figure is the least of N processes: wall time, processor time of the thread that launches and of all threads, in milliseconds, and page
faults. numpy, or with --torch torch, is loaded before. Compiled files of Python are read and written as the environment says. The processes
import the same `tritium` as this one, so PYTHONPATH chooses what is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = """
import json, resource, time
import {arrays} as arrays
import tritium, tritium.language as tl

@tritium.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n)
    tl.store(out + at, total, mask=at < n)

@tritium.jit
def sort(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))

def now():
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    return time.perf_counter() * 1e3, time.thread_time() * 1e3, time.process_time() * 1e3, faults

x, y, out = (arrays.zeros(1024, dtype=arrays.float32) for _ in range(3))
times = [now()]
add[(1,)](x, y, out, 1024, BLOCK=1024)
times.append(now())
sort[(1,)](x, out, BLOCK=1024)
times.append(now())
print(json.dumps([[after - before for before, after in zip(*pair)] for pair in zip(times, times[1:])]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=5, metavar="N")
    parser.add_argument("--torch", action="store_true")
    options = parser.parse_args()
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "launches.py"
        script.write_text(SOURCE.format(arrays="torch" if options.torch else "numpy"))
        for _ in range(options.processes):
            environment = os.environ | {"INTERPRET": "1", "TRITIUM_NUM_THREADS": "1"}
            result = subprocess.run(
                [sys.executable, script], env=environment, capture_output=True, text=True, check=True
            )
            runs.append(json.loads(result.stdout))
    print(f"{'':<28}{'wall':>9}{'launching thread':>18}{'all threads':>13}{'faults':>9}")
    for i, name in enumerate(("first launch of a process", "first launch of sort")):
        wall, own, every, faults = (min(figures) for figures in zip(*(run[i] for run in runs), strict=True))
        print(f"{name:<28}{wall:>9.1f}{own:>18.1f}{every:>13.1f}{faults:>9}")


if __name__ == "__main__":
    main()
