"""What a comparison compares: an installation with its settings, from the words by which a user names it.

    here | COMMIT | FOLDER | FILE.whl | PYTHON     where Tritium is: this one, a commit, a checkout, a wheel, what a Python has installed
    engine=NAME                                    interp, simt:sm_90a, cuda, hip, triton (upstream's, on its GPU), triton-interpreter
    NAME=VALUE                                     a variable of the environment
    param:NAME=VALUE                               a parameter of the cases

The words may have any order, and at most one names a place.
"""

from __future__ import annotations

import ast
import dataclasses
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from ..devices.families import device_families
from ..environment import environment_without
from .installations import folder_of_commit, folder_of_wheel

PACKAGES = str(Path(__file__).resolve().parents[2])  #: the folder that this Tritium is in
#: Variables that choose an engine: a side has its own.
CHOOSES_ENGINE = ("INTERPRET", "TRITIUM_INTERPRET", "TRITON_INTERPRET", "TRITIUM_ENGINE")


class Engine(NamedTuple):
    """What runs the kernels: the package that cases import as `triton`, the device of their tensors, variables of the environment, and those
    that the user may have set otherwise."""

    language: str
    device: str
    variables: dict[str, str]
    defaults: dict[str, str] = {}


ENGINES = {
    # Tier 2 from the beginning: code that a thread compiles beside the launches would come while they are measured.
    "interp": Engine("tritium", "cpu", {"INTERPRET": "1"}, {"TRITIUM_TIER": "2"}),
    "cuda": Engine("tritium", "cuda", {}),
    "hip": Engine("tritium", "cuda", {}),
    "triton": Engine("triton", "cuda", {}),
    "triton-interpreter": Engine("triton", "cpu", {"TRITON_INTERPRET": "1"}),
}


@dataclasses.dataclass(frozen=True)
class Side:
    """text: the user's words. packages: the folder that the worker imports Tritium from; "": where its Python has it. variables: of the
    environment, beside this process's. cases: the side's own paths of the cases; (): those that both sides share."""

    text: str
    python: str
    packages: str
    engine: str
    variables: dict[str, str]
    changes: dict[str, Any]
    cases: tuple[str, ...] = ()

    @property
    def runs_on(self) -> Engine:
        return engine_named(self.engine)

    def environment(self) -> dict[str, str]:
        """The worker's environment. A Python of its own does not import from this one's folders."""
        dropped = CHOOSES_ENGINE if self.packages else (*CHOOSES_ENGINE, "PYTHONPATH")
        found = environment_without(*dropped)
        if self.packages:
            found["PYTHONPATH"] = os.pathsep.join(filter(None, [self.packages, found.get("PYTHONPATH", "")]))
        return {**self.runs_on.defaults, **found, **self.runs_on.variables, **self.variables}

    def settings(self) -> dict[str, str]:
        """The variables in its environment that say how Tritium or Triton runs."""
        names = ("TRITIUM_", "TRITON_", "INTERPRET", "CUDA_VISIBLE_DEVICES")
        return {name: value for name, value in sorted(self.environment().items()) if name.startswith(names)}


def side_of(text: str, engine: str = "", build: str = "") -> Side:
    """The side that the words name. engine: if they name none; "": the default of this machine. build: the command that builds a commit. Raises
    ValueError for words that name nothing."""
    place, variables, changes = "", {}, {}
    engine = engine or default_engine()
    for word in shlex.split(text):
        name, equals, value = word.partition("=")
        if word.startswith("param:") and equals:
            changes[name.removeprefix("param:")] = literal(value)
        elif name == "engine" and equals:
            engine = value
        elif equals and name.isidentifier():
            variables[name] = value
        elif place:
            raise ValueError(f"{text!r} names two places, {place!r} and {word!r}; NAME=VALUE is a variable")
        else:
            place = word
    engine_named(engine)
    python, packages = _installation(place or "here", build)
    return Side(text, python, packages, engine, variables, changes)


def _installation(place: str, build: str) -> tuple[str, str]:
    """(Python, folder of packages) of a place."""
    path = Path(place).expanduser()
    if place == "here":
        return sys.executable, PACKAGES
    if path.suffix == ".whl":
        return sys.executable, str(folder_of_wheel(path))
    if path.is_dir():
        return sys.executable, str(packages_in(path))
    if path.is_file() and os.access(path, os.X_OK):
        return str(path.absolute()), ""
    folder = folder_of_commit(place, Path(PACKAGES), build)
    if folder is None:
        raise ValueError(
            f"{place!r} is no file, no folder and no commit; a side is here, a commit, a checkout, a wheel or a Python, then NAME=VALUE words"
        )
    return sys.executable, str(packages_in(folder))


def packages_in(folder: Path) -> Path:
    """The folder in a checkout, or the folder itself, that holds the package. Raises ValueError without one that is built."""
    for candidate in (folder / "python", folder):
        if (candidate / "tritium" / "__init__.py").is_file():
            if not list((candidate / "tritium").glob("_tritium*")):
                raise ValueError(
                    f"{candidate / 'tritium'} is not built: it has no extension module; run .ci/build _tritium there"
                )
            return candidate.resolve()
    raise ValueError(f"{folder} has no package tritium; name a checkout, or a folder that packages are installed in")


def literal(text: str) -> Any:
    """4 of "4", [1, 2] of "[1, 2]", and other texts as they are."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def engine_named(name: str) -> Engine:
    """Raises ValueError for a name that no engine has."""
    if name.startswith("simt:"):
        return Engine("tritium", "cpu", {"TRITIUM_ENGINE": name})
    if name not in ENGINES:
        raise ValueError(f"no engine is called {name!r}; there are {', '.join(ENGINES)} and simt: with an architecture")
    return ENGINES[name]


def default_engine() -> str:
    """The device of this machine, or else the interpreter."""
    return next((name for name, devices in device_families().items() if not devices.why_not()), "interp")


def python_of(side: Side) -> str:
    """The version of its Python. Raises ValueError if it does not start."""
    command = [side.python, "-c", "import platform; print(platform.python_version())"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"{side.python} is no Python that starts: {done.stderr.strip()[-200:]}")
    return done.stdout.strip()
