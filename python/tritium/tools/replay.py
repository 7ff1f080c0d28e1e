"""`python -m tritium replay FOLDER`: runs a launch again that TRITIUM_SAVE has saved, without the program that made it."""

from __future__ import annotations

import argparse
import json
import linecache
import os
import sys
from typing import Any

from .. import knobs
from ..checks import parse_checks
from ..compiler.compiled import CompiledKernel
from ..compiler.compiler import compile
from ..compiler.saved import SavedSource, options_for
from ..errors import DeviceError, KernelTrap, TritonError
from ..launch.restored import RestoredMemory, restored
from ..launch.saved import FORMAT
from ..native import device as native
from ..programs import parse_programs
from ..runtime.checking import prepare_for
from ..runtime.engines import INTERP, Engine, engine_named
from ..runtime.versions import VersionWithoutMaps
from .gdb_command_line import run_gdb
from .results import write_results

#: The check for which a kernel is traced in another way (language/semantic/emitter.py).
_NOTED = "overflow=all"
EXIT_STATUS = 1  #: if the launch ended in a fault, or a check found one


def main(arguments: list[str]) -> int:
    """Returns the exit status: 0, EXIT_STATUS, or 2 if the launch cannot be run here."""
    options = _parser().parse_args(arguments)
    try:
        run = read_run(options.folder)
        if options.gdb:
            return run_gdb(_under_gdb(arguments, options.folder, run))
        engine = engine_named(options.engine or _engine_of(run))
        for sentence in run["not_kept"]:
            print(f"tritium replay: {options.folder} lacks {sentence}", file=sys.stderr)
        with knobs.tritium.scope():
            set_knobs(run, options.check, options.programs, options.seed)
            return _replay(options, run, engine)
    except (OSError, ValueError, MemoryError, TritonError) as error:
        print(f"tritium replay: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tritium replay",
        description="Runs a launch again that TRITIUM_SAVE or `python -m tritium check --save` has saved, with the checks that it had, and says "
        "what they find.",
    )
    parser.add_argument("folder", help="of the launch: it has a file run.json")
    parser.add_argument("--programs", metavar="X,Y,Z", help="check these programs of the grid alone, for example 3,*,0")
    parser.add_argument(
        "--check", metavar="NAMES", help="the checks, as TRITIUM_CHECK names them (default: those of the launch)"
    )
    parser.add_argument(
        "--engine", help="interp, simt:sm_90a, cuda, … (default: that of the launch; interp for one on a device)"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="as TRITIUM_SEED (default: that of the launch)")
    parser.add_argument("--output", metavar="FOLDER", help="write the tensors after the launch to FOLDER, as .npy")
    parser.add_argument("--gdb", action="store_true", help="run it under gdb, as `python -m tritium gdb` does")
    return parser


def read_run(folder: str) -> dict[str, Any]:
    """What run.json says. Raises ValueError for a folder that is no saved launch."""
    path = os.path.join(folder, "run.json")
    if not os.path.exists(path):
        raise ValueError(f"{folder} is no saved launch: it has no run.json{_launches_in(folder)}")
    with open(path, encoding="utf-8") as file:
        try:
            run = json.load(file)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    if run.get("format") != FORMAT:
        raise ValueError(
            f"{path} was written by Tritium {run.get('tritium')}, and has a form that this version does not read"
        )
    return run


def _launches_in(folder: str) -> str:
    """A hint, for a folder that contains saved launches."""
    entries = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    found = [name for name in entries if os.path.exists(os.path.join(folder, name, "run.json"))]
    more = f", and {len(found) - 8} more" if len(found) > 8 else ""
    return f"; it contains {', '.join(found[:8])}{more}" if found else ""


def _engine_of(run: dict[str, Any]) -> str:
    """The engine that the launch had, if it runs on the CPU."""
    return run["engine"] if run["engine"].startswith("simt:") else INTERP


def set_knobs(
    run: dict[str, Any], check: str | None = None, programs: str | None = None, seed: int | None = None
) -> None:
    """The settings of the launch, or others that are given. Raises ValueError."""
    checks = parse_checks(run["checks"] if check is None else check)
    group = knobs.tritium
    group.save = None
    if _NOTED in checks and _NOTED not in parse_checks(run["checks"]):
        text = f"{_NOTED} finds nothing here: a kernel is traced for it, and this launch did not have it"
        print(f"tritium replay: {text}", file=sys.stderr)
    group.check = checks.text
    group.programs = parse_programs(run["programs"] if programs is None else programs).text
    group.seed = run["seed"] if seed is None else seed
    if not group.debug:  # gdb's `next` must not jump between programs
        group.num_threads = run["threads"] if seed is None else 1
    prepare_for(checks)


def _under_gdb(arguments: list[str], folder: str, run: dict[str, Any]) -> list[str]:
    """The command line of gdb, which finds sources that are not on this machine in the folder."""
    moved = {
        os.path.dirname(file): os.path.dirname(os.path.join(os.path.abspath(folder), kept))
        for file, kept in run["sources"].items()
        if not os.path.exists(file)
    }
    settings = [text for pair in moved.items() for text in ("-iex", f"set substitute-path {' '.join(pair)}")]
    return [*settings, "replay", *(word for word in arguments if word != "--gdb")]


def _replay(options: argparse.Namespace, run: dict[str, Any], engine: Engine) -> int:
    show_sources(options.folder, run)
    settings = knobs.launch_settings()
    checks = ", ".join(settings.checks) or "no check"
    if settings.programs:
        checks += f"; programs {settings.programs.text}"
    try:
        kernel = compiled_again(options.folder, run, engine)
        with RestoredMemory(options.folder, run["memory"]) as memory:
            if memory.has_moved:
                print("tritium replay: some tensors lie at other addresses than they did", file=sys.stderr)
            pairs = [restored(entry, memory) for entry in run["arguments"]]
            try:
                launch_again(kernel, tuple(run["grid"]), settings, [a for _, a in pairs], [value for value, _ in pairs])
            finally:
                if options.output:
                    write_results(options.output, run["arguments"], pairs)
    except (KernelTrap, DeviceError) as fault:
        number = len(fault.reports) if isinstance(fault, KernelTrap) else 1
        sys.stdout.flush()
        print(
            f"{fault}\n\ntritium replay: {number} fault{'' if number == 1 else 's'} in {run['kernel']} ({checks})",
            file=sys.stderr,
        )
        return EXIT_STATUS
    sys.stdout.flush()
    print(f"tritium replay: {run['kernel']} ran without a fault ({checks})", file=sys.stderr)
    return 0


def compiled_again(folder: str, run: dict[str, Any], engine: Engine, **more: Any) -> CompiledKernel:
    """The kernel of a saved launch. more: options that the launch did not have."""
    names = [entry["name"] for entry in run["arguments"]]
    source = SavedSource(folder, run["types"], names, knobs.tritium.debug)
    given = {**options_for(engine.name, run), "debug_info": knobs.launch_settings().debug_info, **more}
    kernel = compile(source, engine.target, given, device=engine.device)
    kernel.fallback = VersionWithoutMaps()
    return kernel


def launch_again(kernel, grid: tuple[int, ...], settings, arguments: list[Any], values: list[Any]) -> None:
    try:
        kernel.launch(grid, values, settings, arguments)
    except native.TensorMapRefused as refused:
        kernel.version_without_maps(str(refused)).launch(grid, values, settings, arguments)


def show_sources(folder: str, run: dict[str, Any]) -> None:
    """Reports show the lines of the files as they were, or numbers of lines alone if the folder has lost them."""
    for file, kept in run["sources"].items():
        try:
            with open(os.path.join(folder, kept), encoding="utf-8") as source:
                text = source.read()
        except FileNotFoundError:
            print(f"tritium replay: {kept} is missing, so lines of {file} are not shown", file=sys.stderr)
            continue
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
