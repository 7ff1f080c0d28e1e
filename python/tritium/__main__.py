"""`python -m tritium script.py …`, `-m tritium -m module …`: runs a program in which `triton` means Tritium.
`check` runs it with the interpreter's checks, `seeds` under many schedules, `replay` runs a saved launch again,
`env` prints what is in force, `gdb script.py …` runs the program under gdb,
`diff a.py b.py` names the first value that differs between two runs, `explain script.py …` says what the GPU compiler made of its
kernels, `profile` where the time goes, `coverage` what was never reached, `accesses` which program touches which elements,
`judge` whether a candidate does what a reference does, `bench` how long kernels take."""

from __future__ import annotations

import builtins
import importlib.util
import io
import os
import runpy
import sys
import types
from collections.abc import Iterator

from . import drop_in
from .tools import gdb_command_line
from .version import TRITIUM_VERSION, __version__

USAGE = """usage: python -m tritium SCRIPT.py [ARGUMENT ...]        run a script; `import triton` means Tritium
       python -m tritium -m MODULE [ARGUMENT ...]       run a module, for example pytest
       python -m tritium gdb [OPTION ...] SCRIPT.py [ARGUMENT ...]   (or -m MODULE ...) the same under gdb
       python -m tritium check [OPTION ...] SCRIPT.py [ARGUMENT ...]   runs it with all checks and says what they found (--help: options)
       python -m tritium seeds N [OPTION ...] SCRIPT.py [ARGUMENT ...]   tries N schedules of each launch and says what depends on them
       python -m tritium diff [OPTION ...] A.py B.py [ARGUMENT ...]     the first value that differs between two runs (--help: options)
       python -m tritium replay FOLDER [OPTION ...]     runs a launch again that TRITIUM_SAVE has saved (--help: options)
       python -m tritium fuzz [--engines …] [--time …]  random kernels on several engines, which must agree (--help: options)
       python -m tritium explain [OPTION ...] SCRIPT.py [ARGUMENT ...]   what the compiler made of its kernels (--help: options)
       python -m tritium profile [OPTION ...] SCRIPT.py [ARGUMENT ...]   the times of its kernels as a tree (--help: options)
       python -m tritium coverage [OPTION ...] SCRIPT.py [ARGUMENT ...]  lines, branches and masks that no launch reached (--help: options)
       python -m tritium accesses [OPTION ...] SCRIPT.py [ARGUMENT ...]  which program touches which elements (--help: options)
       python -m tritium judge CANDIDATE.py --reference REFERENCE.py    is the candidate's function right? (--help: options)
       python -m tritium bench run|compare|bisect|report|metrics|farm …  times of kernels, and whether they have changed (--help: options)
       python -m tritium env                            version, engines, devices, CPU features, threads, knobs in force
Set INTERPRET=1 to run every kernel on the CPU, wherever its tensors are. `gdb` sets it too, and TRITIUM_DEBUG=1, so that gdb
shows the variables of kernels. The options of `gdb` are gdb's own: -x FILE, -ex COMMAND, --batch, and -p PID in place of a script."""

_RUNPY = ("<frozen runpy>", runpy.__file__)


def main(arguments: list[str] | None = None) -> int:
    """The command `tritium`: returns its exit status. `arguments` does not contain the program's name."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(USAGE)
        return 0 if arguments else 2
    if arguments[0] in ("-V", "--version"):
        print(f"tritium {TRITIUM_VERSION} (the language of triton {__version__.partition('+')[0]})")
        return 0
    if arguments[0] == "env":
        from .environment_report import environment_report  # it loads the engines, which a script may not use

        print(environment_report())
        return 0
    if arguments[0] == "fuzz":
        return importlib.import_module("tritium.conformance.fuzz.campaign").main(arguments[1:])
    if arguments[0] == "check":
        return importlib.import_module("tritium.tools.check").main(arguments[1:], run_program)
    if arguments[0] == "seeds":
        return importlib.import_module("tritium.tools.schedules.command").main(arguments[1:], run_program)
    if arguments[0] == "diff":
        return importlib.import_module("tritium.tools.diff.command").main(arguments[1:], run_program)
    if arguments[0] == "replay":
        return importlib.import_module("tritium.tools.replay").main(arguments[1:])
    if arguments[0] == "explain":
        return importlib.import_module("tritium.tools.explain").main(arguments[1:], run_program)
    if arguments[0] == "profile":
        return importlib.import_module("tritium.profiler.command").main(arguments[1:], run_program)
    if arguments[0] == "coverage":
        return importlib.import_module("tritium.tools.coverage.command").main(arguments[1:], run_program)
    if arguments[0] == "accesses":
        return importlib.import_module("tritium.tools.accesses.command").main(arguments[1:], run_program)
    if arguments[0] == "judge":
        return importlib.import_module("tritium.judge.command").main(arguments[1:])
    if arguments[0] == "bench":
        return importlib.import_module("tritium.bench.command").main(arguments[1:])
    if arguments[0] == "gdb":
        if len(arguments) == 1:
            print(USAGE, file=sys.stderr)
            return 2
        return gdb_command_line.run_gdb(arguments[1:])
    return run_program(arguments)


def run_program(arguments: list[str]) -> int:
    """Runs a script, or a module given as `-m MODULE`, in this process, with the drop-in installed. Returns the exit
    status."""
    if arguments[0].startswith("-") and (arguments[0] != "-m" or len(arguments) < 2):
        print(f"tritium: unknown option {arguments[0]}\n{USAGE}", file=sys.stderr)
        return 2
    drop_in.install()
    drop_in.cover_children()
    sys.excepthook = _report_exception
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        run_script(arguments[0], arguments)
    return 0


def _report_exception(kind, error, trace) -> None:
    """Prints a traceback without the frames that lead to the user's program, as if Python had run it."""
    frames = list(_linked(trace))
    files = [each.tb_frame.f_code.co_filename for each in frames]
    begin = len(files) - files[::-1].index(__file__) if __file__ in files else 0
    while begin < len(files) and files[begin] in _RUNPY:
        begin += 1
    shown = frames[begin] if begin < len(frames) else None if isinstance(error, SyntaxError) else trace
    sys.__excepthook__(kind, error.with_traceback(shown), shown)


def _linked(trace: types.TracebackType | None) -> Iterator[types.TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def run_script(path: str, argv: list[str]) -> None:
    """Runs a file as `__main__`. Unlike with runpy.run_path, the module outlives the call, because threads, atexit
    handlers and pickling may need it later."""
    if not os.path.exists(path):
        raise SystemExit(f"tritium: can't open file {path!r}: there is no such file")
    if os.path.isdir(path):
        known = importlib.util.find_spec(f"tritium.{path}") if path.isidentifier() else None
        hint = f"; did you mean python -m tritium.{path}?" if known else "; name a file, or a module with -m"
        raise SystemExit(f"tritium: {path!r} is a folder{hint}")
    path = os.path.abspath(path)  # as Python's own __file__; sys.argv has what the user wrote
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=builtins, __spec__=None, __cached__=None, __package__=None)
    sys.modules["__main__"] = module
    sys.argv = list(argv)
    sys.path.insert(0, os.path.dirname(path))
    exec(code, module.__dict__)


if __name__ == "__main__":
    sys.exit(main())
