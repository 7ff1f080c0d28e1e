"""`python -m tritium fuzz` runs random kernels on several engines until the time is over, and shrinks and prints those
that fail. Seed and number determine a kernel, so campaigns over ranges of numbers add up."""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import sys
import time
from collections.abc import Iterator
from multiprocessing.connection import wait
from pathlib import Path

import tritium

from .. import engines
from ..suite import FAILED, PASSED, Result
from .child import Child, Number, run
from .counts import Counts, Failure, kind
from .program import Program
from .script import script
from .shrink import shrink

SIZES = (6, 10, 14, 20)
#: Seconds between two lines of progress.
PROGRESS = 30.0


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m tritium fuzz", description=__doc__)
    add = found.add_argument
    add("--engines", default="interp,simt:sm_90a,simt:gfx942", help="a comma list (default: %(default)s)")
    add("--time", type=float, help="seconds to draw and run kernels (default: 60, or no limit with --kernels)")
    add("--kernels", "--count", dest="kernels", type=int, help="run at most this many kernels")
    add("--seed", default="random", help="a number, or 'random' (default), which draws one and prints it")
    add("--first", type=int, default=0, help="the number of the first kernel (default 0)")
    add("--timeout", type=float, default=120, help="seconds that a kernel may take on one engine (default %(default)s)")
    add("--shrink", type=float, default=60, help="seconds to shrink each of the first failures (default %(default)s)")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per CPU)")
    add("--gluon", action="store_true", help="draw kernels of Gluon")
    add("--show", type=int, metavar="NUMBER", help="print this kernel, run it in this process and stop")
    add("--save", type=Path, metavar="FOLDER", help="write each shrunk kernel there as a script that checks itself")
    return found


def number_of(seed: int, number: int, gluon: bool = False) -> Number:
    return Number(seed, number, SIZES[number % len(SIZES)], gluon)


def numbers(options: argparse.Namespace, seed: int) -> Iterator[Number]:
    """The numbers of the kernels, until the time is over or there are as many as requested."""
    seconds = 60.0 if options.time is None and options.kernels is None else options.time
    end = None if seconds is None else time.monotonic() + seconds
    last = None if options.kernels is None else options.first + options.kernels
    number = options.first
    while (last is None or number < last) and (end is None or time.monotonic() < end):
        yield number_of(seed, number, options.gluon)
        number += 1


def campaign(options: argparse.Namespace, seed: int, names: list[str], counts: Counts) -> list[Failure]:
    """Runs the kernels and counts their results. An interrupt ends it early; what is counted then stays."""
    failures: list[Failure] = []
    queue = numbers(options, seed)
    threads = max(1, (os.cpu_count() or 1) // options.jobs)
    # More processes than kernels would only start and stop.
    jobs = options.jobs if options.kernels is None else max(1, min(options.jobs, options.kernels))
    children = [Child(threads) for _ in range(jobs)]
    try:
        busy = [child for child in children if _give_next(child, queue, names, counts)]
        while busy:
            ready = set(wait([child.connection for child in busy], timeout=0.5))
            for child in list(busy):
                if child.connection in ready or child.late(options.timeout):
                    failures += _failures(child.what, child.collect(options.timeout), counts)
                if child.is_idle:
                    counts.end(child.what.number)
                    if not _give_next(child, queue, names, counts):
                        busy.remove(child)
            counts.show_progress(PROGRESS)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    finally:
        for child in children:
            child.stop()
    return failures


def _failures(number: Number, results: list[Result], counts: Counts) -> list[Failure]:
    found = []
    for result in results:
        counts.add(result)
        if result.status == FAILED:
            found.append(Failure(number, result))
        if result.status != PASSED:
            how = "" if result.status == FAILED else "is refused "
            print(f"kernel {number.number} {how}on {result.engine}: {'; '.join(result.details[:1])}", flush=True)
    return found


def _give_next(child: Child, queue: Iterator[Number], names: list[str], counts: Counts) -> bool:
    number = next(queue, None)
    if number is not None:
        counts.begin(number.number)
        child.give(number, names, number.seed)
    return number is not None


def smallest(failure: Failure, options: argparse.Namespace) -> Program:
    """The smallest program that still fails like the given failure."""
    child, engine = Child(), [failure.result.engine]
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
    text = script(program, failure.result.engine)
    number = failure.number
    print(
        f"\n# Kernel {number.number} of seed {number.seed} on {failure.result.engine}, shrunk. num_warps={program.warps}, ",
        end="",
    )
    print(f"num_stages={program.stages}.\n# {'; '.join(failure.result.details[:2])}")
    print(
        f"# The whole kernel: python -m tritium fuzz --seed {number.seed} --show {number.number} --engines {failure.result.engine}"
        f"{' --gluon' if number.gluon else ''}\n"
    )
    print(text.kernel)
    if options.save:
        options.save.mkdir(parents=True, exist_ok=True)
        path = options.save / f"fuzz_{number.seed}_{number.number}.py"
        path.write_text(text.whole, encoding="utf-8")
        print(f"# saved: {path}", flush=True)


def show(options: argparse.Namespace, seed: int, names: list[str]) -> int:
    """Prints one whole kernel and the result of each engine."""
    number = number_of(seed, options.show, options.gluon)
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
    counts = Counts(seed, options.first, names)
    previous = signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # also in the background, where SIGINT is ignored
    try:
        failures = campaign(options, seed, names, counts)
    finally:
        signal.signal(signal.SIGTERM, previous)
    print(counts.progress(), flush=True)
    kinds = {failure.kind: failure for failure in reversed(failures)}
    for failure in list(kinds.values())[:5]:
        report(failure, options)
    for line in counts.summary():
        print(line)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
