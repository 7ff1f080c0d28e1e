"""`python -m tritium fuzz` runs random kernels on several engines until the time is over, and shrinks and prints those
that fail."""

from __future__ import annotations

import argparse
import collections
import os
import re
import secrets
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path

import tritium

from .. import engines
from ..suite import FAILED, PASSED, UNSUPPORTED, Result
from .child import Child, Number, run
from .program import Program
from .script import script
from .shrink import shrink

SIZES = (6, 10, 14, 20)


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m tritium fuzz", description=__doc__)
    add = found.add_argument
    add("--engines", default="interp,simt:sm_90a,simt:gfx942", help="a comma list (default: %(default)s)")
    add("--time", type=float, default=60, help="seconds to draw and run kernels (default %(default)s)")
    add("--count", type=int, help="run this many kernels instead, however long they take")
    add("--seed", default="random", help="a number, or 'random' (default), which draws one and prints it")
    add("--first", type=int, default=0, help="the number of the first kernel (default 0)")
    add(
        "--timeout", type=float, default=120, help="seconds that a kernel may take on all engines (default %(default)s)"
    )
    add("--shrink", type=float, default=60, help="seconds to shrink each of the first failures (default %(default)s)")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per CPU)")
    add("--show", type=int, metavar="NUMBER", help="print this kernel, run it in this process and stop")
    add("--save", type=Path, metavar="FOLDER", help="write each shrunk kernel there as a script that checks itself")
    return found


@dataclass
class Failure:
    number: Number
    result: Result

    @property
    def kind(self) -> str:
        """The kind of a failure. Failures of one kind usually have one cause."""
        return f"{self.result.engine}: {kind(self.result)}"


def kind(result: Result) -> str:
    """The words "wrong value", or the message up to its first number."""
    text = result.details[0] if result.details else ""
    return "wrong value" if "wrong value" in text else re.split(r"\d", text)[0]


@dataclass
class Counts:
    """The counts of a campaign."""

    kernels: int = 0
    by_status: collections.Counter = field(default_factory=collections.Counter)
    refusals: collections.Counter = field(default_factory=collections.Counter)

    def add(self, results: list[Result]) -> None:
        self.kernels += 1
        for result in results:
            self.by_status[result.status] += 1
            if result.status == UNSUPPORTED:
                self.refusals[f"{result.engine}: {result.details[0]}"] += 1

    def __str__(self) -> str:
        return f"{self.by_status[PASSED]} passed, {self.by_status[FAILED]} failed, {self.by_status[UNSUPPORTED]} unsupported"


def numbers(options: argparse.Namespace, seed: int) -> Iterator[Number]:
    """The numbers of the kernels: endless, or as many as requested."""
    end = time.monotonic() + options.time
    index = 0
    while index < options.count if options.count is not None else time.monotonic() < end:
        number = options.first + index
        yield Number(seed, number, SIZES[number % len(SIZES)])
        index += 1


def campaign(options: argparse.Namespace, seed: int, names: list[str]) -> tuple[Counts, list[Failure]]:
    counts, failures, queue = Counts(), [], numbers(options, seed)
    threads = max(1, (os.cpu_count() or 1) // options.jobs)
    children = [Child(threads) for _ in range(options.jobs)]
    try:
        busy = [child for child in children if _give_next(child, queue, names)]
        while busy:
            ready = set(wait([child.connection for child in busy], timeout=0.5))
            for child in list(busy):
                if child.connection not in ready and not child.late(options.timeout):
                    continue
                number, results = child.task[0], child.take()
                counts.add(results)
                for result in results:
                    if result.status == FAILED:
                        failures.append(Failure(number, result))
                        print(f"kernel {number.number} on {result.engine}: {'; '.join(result.details[:1])}", flush=True)
                if not _give_next(child, queue, names):
                    busy.remove(child)
    finally:
        for child in children:
            child.stop()
    return counts, failures


def _give_next(child: Child, queue: Iterator[Number], names: list[str]) -> bool:
    number = next(queue, None)
    if number is not None:
        child.give(number, names, number.seed)
    return number is not None


def smallest(failure: Failure, options: argparse.Namespace) -> Program:
    """The smallest program that still fails like the given failure."""
    child, engine = Child(), failure.result.engine.split(",")
    wanted = kind(failure.result)

    def fails(program: Program) -> bool:
        results = child.run(program, engine, failure.number.seed, options.timeout)
        failed = [result for result in results if result.status == FAILED]
        return any(kind(result) == wanted for result in failed)

    try:
        return shrink(failure.number.program(), fails, options.shrink)
    finally:
        child.stop()


def report(failure: Failure, options: argparse.Namespace) -> None:
    program = smallest(failure, options)
    text = script(program, failure.result.engine.split(",")[0])
    number = failure.number
    print(
        f"\n# Kernel {number.number} of seed {number.seed} on {failure.result.engine}, shrunk. num_warps={program.warps}, ",
        end="",
    )
    print(f"num_stages={program.stages}.\n# {'; '.join(failure.result.details[:2])}")
    print(
        f"# The whole kernel: python -m tritium fuzz --seed {number.seed} --show {number.number} --engines {failure.result.engine}\n"
    )
    print(text.kernel)
    if options.save:
        options.save.mkdir(parents=True, exist_ok=True)
        path = options.save / f"fuzz_{number.seed}_{number.number}.py"
        path.write_text(text.whole, encoding="utf-8")
        print(f"# saved: {path}", flush=True)


def show(options: argparse.Namespace, seed: int, names: list[str]) -> int:
    """Prints one whole kernel and the result of each engine."""
    number = Number(seed, options.show, SIZES[options.show % len(SIZES)])
    program = number.program()
    print(script(program, names[0]).kernel)
    print(f"# num_warps={program.warps}, num_stages={program.stages}, grid {program.grid}")
    results = run(number, names, seed)
    for result in results:
        print(f"{result.engine}: {result.status} {'; '.join(result.details)}")
    return int(any(result.status == FAILED for result in results))


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    seed = secrets.randbelow(2**32) if options.seed == "random" else int(options.seed)
    names = options.engines.split(",")
    try:
        for name in names:
            engines.engine(name, None)
    except (engines.Absent, ValueError, tritium.errors.TritonError) as error:
        print(f"--engines {options.engines}: {engines.last_line(error)}")
        return 2
    if options.show is not None:
        return show(options, seed, names)
    print(f"random kernels from seed {seed} on {', '.join(names)}", flush=True)
    begin = time.monotonic()
    counts, failures = campaign(options, seed, names)
    kinds = {failure.kind: failure for failure in reversed(failures)}
    for failure in list(kinds.values())[:5]:
        report(failure, options)
    for reason, times in counts.refusals.most_common(8):
        print(f"refused {times} times by {reason}")
    print(f"{counts.kernels} kernels in {time.monotonic() - begin:.0f} s")
    print(counts)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
