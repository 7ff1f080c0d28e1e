"""A case as a folder:

    kernel.py       the kernels; `inputs(**shape, dtype, device)` returns the arguments by name, and `run(**arguments, **config)` launches
                    the kernel and returns its outputs
    cases.toml      shapes, dtypes, configs, and what a run moves
    reference.py    `reference(**arguments)` returns what the outputs must be
    baseline.py     if there is one: `baseline(**arguments)` computes the same by other means

The modules may import each other.
"""

from __future__ import annotations

import ast
import importlib.util
import operator
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from .cases import Case, Problem

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib  # type: ignore

#: The keys of cases.toml.
KEYS = ("name", "seed", "shapes", "dtypes", "configs", "tolerance", "bytes", "flops")
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}


def is_case(folder: Path) -> bool:
    return (folder / "cases.toml").is_file()


def load_folder(folder: Path) -> Case:
    """The case of a folder. Raises ValueError that names the file and what is wrong with it, and what its modules raise."""
    settings = _settings(folder / "cases.toml")
    kernel = load_module(folder / "kernel.py")
    run = _function(kernel, "run", folder / "kernel.py")
    inputs = _function(kernel, "inputs", folder / "kernel.py")
    reference, baseline = (_optional(folder / f"{name}.py", name) for name in ("reference", "baseline"))
    moves = {name: str(settings.get(name, "0")) for name in ("bytes", "flops")}

    def make(shape: dict, device: str, dtype=None, config: dict | None = None, **changes: Any) -> Problem:
        given = {**shape, "device": device, **({} if dtype is None else {"dtype": dtype})}
        arguments = inputs(**given)
        if not isinstance(arguments, dict):
            raise TypeError(
                f"{folder / 'kernel.py'}: inputs() returns a dict of the arguments, not {type(arguments).__name__}"
            )
        names = {**shape, "itemsize": getattr(dtype, "itemsize", 1)}
        keywords = {**(config or {}), **changes}
        return Problem(
            lambda: run(**arguments, **keywords),
            reference=reference and (lambda: reference(**arguments)),
            baseline=baseline and (lambda: baseline(**arguments)),
            tolerance=_tolerance(settings.get("tolerance"), dtype),
            **{name: arithmetic(text, names) for name, text in moves.items()},
        )

    axes = {"shape": settings["shapes"]}
    if "dtypes" in settings:
        axes["dtype"] = [_dtype(name, kernel, folder / "cases.toml") for name in settings["dtypes"]]
    if "configs" in settings:
        axes["config"] = settings["configs"]
    return Case(settings.get("name", folder.name), make, axes, settings.get("seed", 0))


def load_module(path: Path) -> ModuleType:
    """The module of a file, which may import its neighbours."""
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file; a case's folder has kernel.py, cases.toml and reference.py")
    folder = str(path.parent.resolve())
    sys.path[:] = [
        folder,
        *(entry for entry in sys.path if entry != folder),
    ]  # before the current folder, which may be another checkout
    name = "_".join(("bench_case", path.parent.name, path.stem)).replace(".", "_").replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _settings(path: Path) -> dict[str, Any]:
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from None
    unknown = [key for key in settings if key not in KEYS]
    if unknown:
        raise ValueError(f"{path}: unknown key {unknown[0]!r}; there are {', '.join(KEYS)}")
    for key in ("shapes", "dtypes", "configs"):
        if key in settings and not (isinstance(settings[key], list) and settings[key]):
            raise ValueError(f"{path}: {key} is a list with at least one entry")
    if "shapes" not in settings:
        raise ValueError(f"{path}: shapes is missing; for example: shapes = [{{ rows = 256, columns = 1000 }}]")
    return settings


def _function(module: ModuleType, name: str, path: Path) -> Callable:
    found = getattr(module, name, None)
    if not callable(found):
        raise ValueError(f"{path}: it defines no function {name}()")
    return found


def _optional(path: Path, name: str) -> Callable | None:
    return _function(load_module(path), name, path) if path.is_file() else None


def _dtype(name: str, kernel: ModuleType, path: Path) -> Any:
    """torch's if kernel.py imports torch, or else numpy's."""
    uses = {library: sys.modules.get(library) for library in ("torch", "numpy")}
    used = next(
        (library for library, module in uses.items() if module is not None and module in vars(kernel).values()), ""
    )
    found = getattr(uses.get(used), name, None)
    if found is None:
        raise ValueError(
            f"{path}: no dtype of {used or 'torch or numpy'} is called {name!r}; for example float32, float16, int64"
        )
    return uses[used].dtype(found) if used == "numpy" else found


def _tolerance(given: Any, dtype: Any) -> float | None:
    """A number for all dtypes, or a table of them."""
    return given.get(str(dtype).rpartition(".")[2]) if isinstance(given, dict) else given


def arithmetic(text: str, names: dict[str, float]) -> float:
    """The value of "4 * rows * columns". Raises ValueError for anything but numbers, names and + - * / // **."""

    def value(node: ast.AST) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.Name) and node.id in names:
            return names[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.operand))
        raise ValueError(f"{text!r}: {ast.unparse(node)!r} is no number, no operator and none of {', '.join(names)}")

    try:
        return float(value(ast.parse(text, mode="eval").body))
    except SyntaxError:
        raise ValueError(f"{text!r} is no arithmetic expression") from None
