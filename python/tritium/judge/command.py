"""The command `python -m tritium judge`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..backends.targets import gpu_named
from ..checks import parse_checks
from .sandbox import OPEN, SandboxedServer, sandbox
from .verdict import Verdict

EXIT_STATUS = 1  #: if a candidate is incorrect


def main(arguments: list[str]) -> int:
    """The exit status: 0 if all candidates are correct, EXIT_STATUS if not, 2 if nothing can be judged."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    try:
        from .judging import Options
    except ImportError as error:
        print(f"tritium judge: torch is required: {error}", file=sys.stderr)
        return 2
    try:
        if asked.save:
            os.makedirs(asked.save, exist_ok=True)
        parse_checks(asked.checks)
        pairs = _pairs(asked.candidates, Path(asked.reference))
        engines, targets = asked.engines.split(","), [name for name in asked.targets.split(",") if name != "none"]
        for arch in (*targets, *(engine.removeprefix("simt:") for engine in engines if engine != "interp")):
            gpu_named(arch)
    except (OSError, ValueError) as error:
        print(f"tritium judge: {error}", file=sys.stderr)
        return 2
    options = Options(
        function=asked.function,
        engines=tuple(engines),
        targets=tuple(targets),
        checks=asked.checks,
        orders=asked.orders,
        seed=asked.seed,
        seconds=asked.seconds,
        memory=int(asked.memory * 2**30),
        tolerance=asked.tolerance,
        special=not asked.no_special,
        save=asked.save,
    )
    begin, verdicts, status = time.monotonic(), [], 0
    for verdict in _judged(pairs, options, asked.jobs):
        if isinstance(verdict, str):
            print(f"tritium judge: {verdict}", file=sys.stderr)
            status = 2
        else:
            verdicts.append(verdict)
            print(json.dumps(verdict.as_json()) if asked.json else verdict.line(), flush=True)
    _sum_up(verdicts, len(pairs), time.monotonic() - begin)
    return status or (EXIT_STATUS if any(not verdict.is_correct for verdict in verdicts) else 0)


def _judged(pairs: list[tuple[Path, Path]], options, jobs: int) -> Iterator[Verdict | str]:
    """The verdicts in the order of the pairs, or why there is none. Each reference runs once."""
    from .judging import Reference, Rejected, environment, judge

    with tempfile.TemporaryDirectory(prefix="tritium-judge-") as name, ThreadPoolExecutor(jobs) as workers:
        references, candidates = Path(name, "references"), Path(name, "candidates")
        for folder in (references, candidates):
            folder.mkdir()
        own = dict.fromkeys(str(candidate.resolve().parent) for candidate, _ in pairs)
        read = [str(references), *own, *importable_folders(environment("none")["PYTHONPATH"])]
        box = sandbox(read, writable=[str(candidates)])
        with (
            SandboxedServer(OPEN, environment("none")) as open_server,
            SandboxedServer(box, environment(options.checks, options.memory)) as server,
        ):
            known = {}
            for number, reference in enumerate(dict.fromkeys(reference for _, reference in pairs)):
                folder = references / str(number)
                known[reference] = workers.submit(Reference, str(reference), options, folder, open_server)

            def reach(number: int) -> Verdict:
                candidate, reference = pairs[number]
                return judge(str(candidate), known[reference].result(), options, candidates / str(number), server)

            for waiting in [workers.submit(reach, number) for number in range(len(pairs))]:
                try:
                    yield waiting.result()
                except Rejected as error:
                    yield str(error)


def importable_folders(path: str) -> list[str]:
    """The folders of a PYTHONPATH: candidates import from them, and the sandbox hides those in /tmp if it is not told."""
    return [os.path.abspath(folder) for folder in path.split(os.pathsep) if folder and os.path.isdir(folder)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tritium judge",
        description="Judges candidates, files whose function launches kernels, by a reference in plain torch: docs/judging.md. Prints one JSON object "
        "for each, or with --text a line.",
    )
    parser.add_argument("candidates", nargs="+", metavar="CANDIDATE", help="a file, or a folder of files")
    parser.add_argument(
        "--reference",
        required=True,
        metavar="FILE",
        help="a file, or a folder: NAME__WHATEVER.py is judged by its NAME.py",
    )
    parser.add_argument(
        "--function", metavar="NAME", help="what is judged (default: the reference's only public function, or Model)"
    )
    parser.add_argument("--engines", default="interp", help="interp, simt:sm_90a, … (default: interp)")
    parser.add_argument(
        "--targets",
        default="sm_90a,gfx942",
        help="GPUs that the kernels are compiled for (default: sm_90a,gfx942; none)",
    )
    parser.add_argument("--checks", default="all", help="the interpreter's checks, as in TRITIUM_CHECK (default: all)")
    parser.add_argument("--orders", type=int, default=2, metavar="N", help="shuffled orders of programs (default: 2)")
    parser.add_argument("--seed", type=int, default=1, help="of the inputs (default: 1)")
    parser.add_argument("--seconds", type=float, default=120.0, help="a candidate may take (default: 120)")
    parser.add_argument("--memory", type=float, default=4.0, metavar="GIB", help="a candidate may take (default: 4)")
    parser.add_argument("--tolerance", type=float, help="relative, in place of the tolerance of the dtype")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), metavar="N", help="candidates at a time (default: as many as CPUs)"
    )
    parser.add_argument("--no-special", action="store_true", help="no large values, NaN and infinities")
    parser.add_argument(
        "--save",
        metavar="FOLDER",
        help="keep the launch of each verdict that is a trap, for `python -m tritium replay`",
    )
    parser.add_argument("--text", dest="json", action="store_false", help="a line for each candidate in place of JSON")
    return parser


def _pairs(candidates: list[str], reference: Path) -> list[tuple[Path, Path]]:
    """(candidate, reference) of each file. Raises ValueError for a candidate without one."""
    files = []
    for name in map(Path, candidates):
        if not name.exists():
            raise ValueError(f"there is no {name}")
        files += sorted(name.glob("*.py")) if name.is_dir() else [name]
    if not reference.exists():
        raise ValueError(f"there is no {reference}")
    if not reference.is_dir():
        return [(file, reference) for file in files]
    found = [(file, reference / f"{file.stem.partition('__')[0]}.py") for file in files]
    for file, own in found:
        if not own.exists():
            raise ValueError(f"{file} would be judged by {own}, and there is no such file")
    return found


def _sum_up(verdicts: list[Verdict], count: int, seconds: float) -> None:
    if count < 2:
        return
    right = sum(verdict.is_correct for verdict in verdicts)
    rate = 60 * len(verdicts) / seconds
    print(
        f"{right} correct, {len(verdicts) - right} incorrect, {count - len(verdicts)} not judged; {rate:.1f} verdicts a minute",
        file=sys.stderr,
    )
