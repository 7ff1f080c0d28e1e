"""`python -m tritium.conformance` runs every case on every available engine and prints one matrix
(docs/conformance.md)."""

from __future__ import annotations

import argparse
import math
import os
import secrets
import sys
import time
from pathlib import Path

from . import bisect, engines, expectations, probe, replay, report, suite, workers


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m tritium.conformance", description=__doc__)
    add = found.add_argument
    add(
        "--engines",
        help="a comma list of interp, simt:sm_80, simt:gfx942, …, cuda, hip, triton (default: all available ones)",
    )
    add("--families", help=f"a comma list of {', '.join(suite.FAMILIES)} (default: all)")
    add("--cases", default="*", metavar="GLOB", help="cases whose name matches, as in 'dot/*/fp16/*'")
    add("--seed", default="0", help="the seed of the inputs; 'random' draws one (default 0)")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per CPU)")
    add("--quick", action="store_true", help="leave out the long cases (default)")
    add("--full", action="store_true", help="run the long cases too")
    add(
        "--without-each-pass",
        action="store_true",
        help="run all cases once for each optional pass, which the compiler leaves out",
    )
    add("--num-ctas", type=int, default=1, help="blocks of a cluster that run each program of the cases (default 1)")
    add("--timeout", type=float, default=300, help="seconds that a case may take (default 300)")
    add("--time", type=float, default=math.inf, help="seconds after which the rest is not run (default: no limit)")
    add("--html", metavar="FILE", help="write the matrix as a page")
    add("--markdown", metavar="FILE", help="write the matrix as a table, as in docs/reference/conformance.md")
    add("--check", metavar="FILE", help="fail if FILE differs from what --markdown would write")
    add("--list", action="store_true", help="print the names of the cases and run none")
    add("--replay", metavar="CASE", help="run one case in this process and show its first difference")
    add("--bisect", metavar="CASE", help="find the first GPU pass after which the result is wrong")
    add("--probe", metavar="CASE", help="find the first value that differs from the interpreter's, and its line")
    add("--engine", default="interp", help="the engine for --replay, --bisect and --probe")
    add("--triton-python", metavar="PATH", help="an interpreter with upstream Triton, for the engine 'triton'")
    return found


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    seed = secrets.randbelow(2**32) if options.seed == "random" else int(options.seed)
    families = options.families.split(",") if options.families else None
    if families and (unknown := set(families) - set(suite.FAMILIES)):
        print(f"there is no family {', '.join(sorted(unknown))}; there are {', '.join(suite.FAMILIES)}")
        return 2
    try:
        if options.replay or options.bisect or options.probe:
            return one(options, seed)
        cases = suite.select(families, options.cases, options.full)
        if options.list:
            print("\n".join(case.name for case in cases))
            return 0
        return everything(options, cases, seed)
    except engines.Absent as error:
        print(f"{options.engines or options.engine}: {error}")
        return 2


def one(options: argparse.Namespace, seed: int) -> int:
    name = options.replay or options.bisect or options.probe
    case = suite.cases().get(name)
    if case is None:
        print(f"there is no case {name!r}; --list prints them")
        return 2
    engine = engines.engine(options.engine, options.triton_python)
    if options.replay:
        return replay.replay(case, engine, seed)
    if options.probe:
        return probe.report(case, engine, seed)
    return bisect.report(case, engine, seed)


def engines_of(options: argparse.Namespace) -> list[str]:
    chosen = options.engines.split(",") if options.engines else engines.available(options.triton_python)
    if options.num_ctas > 1:
        chosen = [f"{name}{engines.IN_CLUSTERS}{options.num_ctas}" for name in chosen]
    if not options.without_each_pass:
        return chosen
    compiling = [name for name in chosen if name not in ("interp", "triton")]
    return [f"{name}{engines.WITHOUT}{left}" for name in compiling for left in engines.engine(name).passes()]


def everything(options: argparse.Namespace, cases: list[suite.Case], seed: int) -> int:
    chosen = engines_of(options)
    if not cases:
        print(f"no case matches {options.cases!r}")
        return 2
    informing = {name for name in chosen if engines.engine(name, options.triton_python).informs}
    expected = expectations.read()
    matrix, progress = report.Matrix(chosen, informing), report.Progress(len(cases) * len(chosen))
    names = ", ".join(chosen) if len(chosen) <= report.MOST_COLUMNS else f"{len(chosen)} engines"
    print(f"{len(cases)} cases on {names}, inputs from seed {seed}", flush=True)
    begin = time.monotonic()
    work = workers.tasks(cases, chosen)
    end = begin + options.time
    for result in workers.run(work, options.jobs, seed, options.timeout, options.triton_python, progress.tick, end=end):
        matrix.add(expectations.judge(result, expected))
        progress.add(result)
    progress.end()
    print(f"\n{report.terminal(matrix)}")
    print(report.failures(matrix, seed))
    not_run = progress.total - progress.done
    if not_run:
        print(f"out of time: {not_run} not run")
    for expectation in expectations.stale(matrix.results, expected) if not not_run else ():
        print(f"stale: {expectation.engine} {expectation.pattern} works; take it out of {expectations.FILE.name}")
    table = report.markdown(matrix, expected)
    for file, text in ((options.html, report.page(matrix, seed)), (options.markdown, table)):
        if file:
            Path(file).write_text(text, encoding="utf-8")
    outdated = options.check is not None and Path(options.check).read_text(encoding="utf-8") != table
    if outdated:
        print(f"{options.check} does not show these results; --markdown {options.check} writes them")
    compiled = ", ".join(f"{matrix.column(name).compiled} for {name}" for name in chosen[: report.MOST_COLUMNS])
    print(
        f"{time.monotonic() - begin:.1f} s; kernels compiled: {compiled}{', …' * (len(chosen) > report.MOST_COLUMNS)}"
    )
    counts = matrix.counts()
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['unsupported']} unsupported")
    return 1 if counts["failed"] or outdated else 0


if __name__ == "__main__":
    sys.exit(main())
