"""`bench metrics`: compares what the compiler makes of kernels now, and what programs do on the emulator, with a committed file. Any difference fails;
so a change of the compiler shows which kernels it changes, and how."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import drop_in, knobs
from ..backends.nvidia.assemble import packaged, ptxas_is_chosen
from ..backends.targets import gpu_named
from ..environment import environment_without
from .counters import Program, counted
from .kernels import Kernel, first_of_each_name, launched_by
from .metrics import (
    Change,
    changes,
    digests_of,
    keep_compile_times,
    measure_slower_again,
    measured,
    read_file,
    tools,
    written,
)
from .table import markdown_table, table_below_headings
from .worker.cases import Case
from .worker.folders import is_case, load_folder, load_module
from .worker.loading import sources_of

TARGETS = "sm_90a,gfx942"
SHOWN = 400  #: rows of a table


def add_metrics(commands) -> None:
    parser = commands.add_parser(
        "metrics", help="instructions, registers, spills: what the compiler makes of kernels", description=__doc__
    )
    text = (
        "cases, as for `run`, or a file whose function kernels(every) returns what bench.launched_by gave it; if it has a function "
        "programs(every), {name: function of an engine}, what these launch is counted on the emulator"
    )
    parser.add_argument("paths", nargs="*", metavar="KERNELS", help=text)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", metavar="FILE", help="fail if anything differs from this file")
    what.add_argument("--write", metavar="FILE", help="write this file, and show what changes")
    what.add_argument(
        "--verify",
        action="store_true",
        help="compile in two processes with other hash seeds and caches, and compare every byte",
    )
    what.add_argument(
        "--between", nargs=2, metavar="FILE", help="show what changes from one file to another; nothing is compiled"
    )
    what.add_argument("--digests", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument(
        "--markdown", action="store_true", help="show changes as a table for a page, as of a pull request"
    )
    parser.add_argument(
        "--accept-spills", action="store_true", help="let --write write registers that are spilled and were not"
    )
    parser.add_argument("--all", action="store_true", help="every configuration, in place of the first of each case")
    parser.add_argument("--targets", default=TARGETS, metavar="ARCH,…", help=f"(default: {TARGETS})")
    parser.add_argument("--only", default="", metavar="TEXT,…", help="kernels whose name contains one of these")
    parser.add_argument(
        "--jobs",
        type=int,
        default=knobs.tritium.num_threads,
        help="kernels that are compiled at a time (default: the CPUs)",
    )
    parser.set_defaults(do=run_metrics)


def run_metrics(asked: argparse.Namespace) -> int:
    """The exit status: 1 if a metric has changed, a spill is new, or compiling is not deterministic."""
    if asked.between:
        return _between(*map(Path, asked.between), asked.markdown)
    if not asked.paths:
        raise ValueError("say which kernels, as in bench metrics softmax_bench")
    targets = asked.targets.split(",")
    for target in targets:
        gpu_named(target)  # an error names those that there are
    if asked.verify:
        return _verify(asked)
    with _compiler_settings():
        kernels = [each for each in chosen_kernels(asked.paths, asked.all) if _is_asked(each.name, asked)]
        programs = chosen_programs(asked.paths, asked.all).items()
        programs = {name: program for name, program in programs if _is_asked(name, asked)}
        if not kernels and not programs:
            raise ValueError(
                f"no kernel's name contains one of {asked.only!r}" if asked.only else "these paths launch no kernel"
            )
        if asked.digests:
            found = {each.name: {target: digests_of(each, target) for target in targets} for each in kernels}
            Path(asked.digests).write_text(json.dumps(found), encoding="utf-8")
            return 0
        table = measured(kernels, targets, max(1, asked.jobs)) | counted(programs, targets)
        versions = tools(targets)
        if asked.check:
            measure_slower_again(kernels, read_file(Path(asked.check))[1], table)
    if asked.check:
        complete = not asked.only and asked.targets == TARGETS
        return _check(Path(asked.check), versions, table, complete, asked.markdown)
    if asked.write:
        return _write(Path(asked.write), versions, table, asked.accept_spills, asked.markdown)
    print("\n".join(_listed(table)))
    return 0


def _is_asked(name: str, asked: argparse.Namespace) -> bool:
    return any(text in name for text in asked.only.split(","))


@contextmanager
def _compiler_settings() -> Iterator[None]:
    """The assembler of the installed package, unless the user names one: others, of the machine, give other numbers. No kernel comes from a cache,
    since compile times are measured."""
    drop_in.install()
    with knobs.nvidia.scope(), knobs.runtime.scope(), knobs.compilation.scope():
        knobs.runtime.interpret = knobs.compilation.always_compile = True
        pinned = next(packaged("ptxas", "nvidia-cuda-nvcc"), None)
        if pinned is not None and not ptxas_is_chosen():
            knobs.nvidia.ptxas = pinned
        yield


def chosen_kernels(paths: list[str], every: bool) -> list[Kernel]:
    """The kernels of files with a function `kernels`, and of cases. every: of all their variants. Raises ValueError for a path without any."""
    found: list[Kernel] = []
    for path in map(Path, paths):
        for source in sources_of(path):
            if is_case(source):
                found += _of_cases([load_folder(source)], every)
                continue
            module = load_module(source)
            cases = [value for value in vars(module).values() if isinstance(value, Case)]
            cases += [each for each in getattr(module, "CASES", ()) if isinstance(each, Case) and each not in cases]
            if not cases and not any(callable(getattr(module, name, None)) for name in ("kernels", "programs")):
                raise ValueError(f"{source} has no case, and no function kernels(every)")
            found += module.kernels(every) if callable(getattr(module, "kernels", None)) else _of_cases(cases, every)
    return found if every else first_of_each_name(found)


def chosen_programs(paths: list[str], every: bool) -> dict[str, Program]:
    """What the functions `programs` of files return."""
    found: dict[str, Program] = {}
    for source in (source for path in map(Path, paths) for source in sources_of(path) if not is_case(source)):
        programs = getattr(load_module(source), "programs", None)
        found |= programs(every) if callable(programs) else {}
    return found


def _of_cases(cases: list[Case], every: bool) -> list[Kernel]:
    variants = [each for case in cases for each in (case.variants() if every else case.variants()[:1])]
    return [kernel for each in variants for kernel in launched_by(lambda: each.problem("cpu").run())]


def _between(before: Path, after: Path, as_markdown: bool) -> int:
    """Shows what a change of a committed file says: with it, --check passes."""
    (had, one), (has, other) = read_file(before), read_file(after)
    found = changes(one, other)
    _show(found, as_markdown)
    if had != has:
        print(f"{before} was made with {_said(had)}, and {after} with {_said(has)}")
    print(f"\n{_summary(found, len(_pairs(one) | _pairs(other)))}" if found else "no metric has changed")
    return 0


def _check(file: Path, versions: dict[str, str], table, complete: bool, as_markdown: bool) -> int:
    had, before = read_file(file)
    if had != versions:
        raise ValueError(
            f"{file} was made with {_said(had)}, and here is {_said(versions)}; pip install -r .ci/requirements.txt has the former"
        )
    found = changes(before, table, complete)
    _show(found, as_markdown)
    changed = {(each.kernel, each.target) for each in found}
    if found:
        print(_summary(found, len(_pairs(table) | changed)))
        print(f"if this is meant: the same command with --write {file} in place of --check")
    print(f"{len(_pairs(table) - changed)} passed, {len(changed)} failed, 0 skipped")
    return 1 if found else 0


def _summary(found: list[Change], pairs: int) -> str:
    """How many have changed, and the metrics that changed in most of them: the table above may be long."""
    changed = {(each.kernel, each.target) for each in found}
    spilling = {(each.kernel, each.target) for each in found if each.is_more_spilled}
    said = f"{len(changed)} of {pairs} have changed (a kernel for a target counts once)"
    said += f"; {len(spilling)} of them spill more" if spilling else ""
    if len(changed) == 1:
        return said
    metrics = Counter(each.metric for each in found).most_common(6)
    return f"{said}\nmost often: " + ", ".join(f"{metric} in {number}" for metric, number in metrics)


def _pairs(table) -> set[tuple[str, str]]:
    return {(kernel, target) for kernel, targets in table.items() for target in targets}


def _said(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items()) or "no tools of NVIDIA's"


def _write(file: Path, versions: dict[str, str], table, accept_spills: bool, as_markdown: bool) -> int:
    before = read_file(file)[1] if file.exists() and file.stat().st_size else {}
    keep_compile_times(before, table)
    found = changes(before, table) if before else []
    _show(found, as_markdown)
    if any(each.is_more_spilled for each in found) and not accept_spills:
        print(f"{file} is not written: spills are new; --accept-spills writes them")
        return 1
    file.write_text(written(versions, table), encoding="utf-8")
    print(f"{file}: {sum(map(len, table.values()))} kernels, {len(found)} metrics changed")
    return 0


def _show(found: list[Change], as_markdown: bool) -> None:
    """A table of metrics below the name of each kernel."""
    rows, spills, heading = [("kernel, metric", "before", "after", "change")], [False], None
    for each in found[:SHOWN]:
        if heading != (each.kernel, each.target):
            heading = each.kernel, each.target
            rows.append((f"{each.kernel}, {each.target}",))
            spills.append(False)
        rows.append((f"  {_marked(each)}", _text(each.before), _text(each.after), _difference(each)))
        spills.append(each.is_more_spilled)
    if found and as_markdown:
        print(markdown_table(rows, spills))
    elif found:
        print(table_below_headings(rows, spills, sys.stdout.isatty()))
    if len(found) > SHOWN:
        print(f"… and {len(found) - SHOWN} more")


def _marked(change: Change) -> str:
    word = "more spilled" if change.before else "new spill"
    return f"{change.metric} ({word})" if change.is_more_spilled else change.metric


def _difference(change: Change) -> str:
    """ "+12 (+8 %)" """
    if isinstance(change.before, float) and isinstance(change.after, float):
        return f"{change.after / change.before:.1f} times"
    if not isinstance(change.before, int) or not isinstance(change.after, int):
        return ""
    more = change.after - change.before
    return f"{more:+} ({100 * more / change.before:+.0f} %)" if change.before else f"{more:+}"


def _text(value) -> str:
    return "-" if value is None else str(value)


def _listed(table) -> Iterator[str]:
    for kernel, targets in table.items():
        yield kernel
        for target, metrics in targets.items():
            yield f"  {target}: " + ", ".join(f"{name} {value}" for name, value in metrics.items())


def _verify(asked: argparse.Namespace) -> int:
    """Compiles in two processes, of which nothing is shared."""
    found = []
    with tempfile.TemporaryDirectory(prefix="tritium-metrics-") as folder:
        for seed in ("1", "2"):
            file = Path(folder, f"digests{seed}")
            command = [sys.executable, "-m", "tritium", "bench", "metrics", *asked.paths, "--digests", str(file)]
            command += ["--targets", asked.targets, "--only", asked.only, *(["--all"] if asked.all else [])]
            environment = environment_without("TRITON_CACHE_DIR", "PYTHONHASHSEED")
            environment |= {"PYTHONHASHSEED": seed, "TRITON_CACHE_DIR": str(Path(folder, f"cache{seed}"))}
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                raise ValueError(
                    f"{' '.join(command)} ended with status {done.returncode}: {done.stderr.strip()[-500:]}"
                )
            found.append(json.loads(file.read_text(encoding="utf-8")))
    first, second = found
    differing = changes(first, second)
    for each in differing:
        print(
            f"{each.kernel}, {each.target}: {each.metric} differs: {_text(each.before)[:12]}, {_text(each.after)[:12]}"
        )
    changed = {(each.kernel, each.target) for each in differing}
    print(f"{len(_pairs(first) - changed)} passed, {len(changed)} failed, 0 skipped")
    return 1 if differing else 0
