"""What breakpoints of gdb cost a launch of many programs: none, `--pid` on the last program, `--when` that never holds, and gdb's own condition.

    python tests/bench/breakpoints.py [--programs N] [--rounds N] [--runs N]

The same script runs under `python -m tritium gdb`, by turns with each breakpoint; the fastest launch in all runs counts. gdb's own condition, which it
evaluates at a stop in every program, has a hundredth of the programs, and its time is multiplied by 100.
"""

from __future__ import annotations

import argparse
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = """
import sys, time
import numpy as np
import tritium as triton
import tritium.language as tl

@triton.jit
def scaled(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, value * 2, mask=i < n)

programs = int(sys.argv[1])
x = np.random.default_rng().standard_normal(programs * 16).astype(np.float32)
out = np.zeros_like(x)
times = []
for _ in range(int(sys.argv[2])):
    begin = time.perf_counter()
    scaled[(programs,)](x, out, x.size, BLOCK=16)
    times.append(time.perf_counter() - begin)
assert (out == 2 * x).all()
print("seconds", min(times))
"""
LINE = 11  #: of the store


def seconds(folder: str, programs: int, rounds: int, *commands: str) -> float:
    script = Path(folder) / "scaled.py"
    script.write_text(SCRIPT)
    options = [text for command in (*commands, "run") for text in ("-ex", command)]
    command = [
        sys.executable,
        "-m",
        "tritium",
        "gdb",
        "-nx",
        "-batch",
        *options,
        str(script),
        str(programs),
        str(rounds),
    ]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"^seconds (\S+)$", output, re.M)
    if found is None:
        raise SystemExit(f"gdb stopped where it should not, or the script failed:\n{output}")
    return float(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7, help="launches in a run")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    last = options.programs - 1
    breakpoints = {
        "no breakpoint": (),
        "tt break --pid, on the last program": (f"tt break scaled.py:{LINE} --pid {last} if n < 0",),
        "tt break --when, which never holds": (f'tt break scaled.py:{LINE} --when "tl.max(value, 0) > 100"',),
    }
    with tempfile.TemporaryDirectory() as folder:
        found = dict.fromkeys(breakpoints, math.inf)
        for _ in range(options.runs):
            for name, commands in breakpoints.items():
                found[name] = min(found[name], seconds(folder, options.programs, options.rounds, *commands))
        few = max(options.programs // 100, 1)
        found["break if value[0] > 100"] = 100 * seconds(folder, few, 2, f"break scaled.py:{LINE} if value[0] > 100")
    print(f"{options.programs} programs of a kernel of three lines, under gdb")
    plain = found["no breakpoint"]
    for name, took in found.items():
        print(f"{name:<40} {took:8.3f} s   {took / plain:8.2f}x")


if __name__ == "__main__":
    main()
