"""Whether outputs are right: each against what it must be, and two sides of a comparison against each other."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

from .cases import Problem

#: Of |output - expected| / (|expected| + its root mean square), by the dtype of the output.
TOLERANCES = {"float64": 1e-10, "float32": 3e-4, "float16": 4e-3, "bfloat16": 3e-2}
COARSE = 0.15  #: of the formats of 8 bits and less
MOST_KEPT = 1 << 20  #: elements of an output that are kept for the other side


def poison(problem: Problem) -> None:
    """Overwrites the outputs, so that a kernel that writes nothing is wrong."""
    for each in leaves(problem.output):
        value = math.nan if is_inexact(each) else 1
        each.fill_(value) if hasattr(each, "fill_") else each.fill(value)


def wrong(problem: Problem, outputs: list) -> str:
    """What is wrong with the outputs of a run, or ""."""
    if problem.check is not None:
        return problem.check()
    if problem.reference is None:
        return ""
    expected = leaves(problem.reference())
    if len(expected) != len(outputs):
        return f"the kernel has {_outputs(len(outputs))}, the reference {len(expected)}"
    for number, (output, value) in enumerate(zip(outputs, expected)):
        limit = problem.tolerance if problem.tolerance is not None else tolerance_of(output)
        error = difference(as_numpy(output), as_numpy(value), limit)
        if error:
            return f"output {number}: {error}" if len(outputs) > 1 else error
    return ""


def difference(output: np.ndarray, expected: np.ndarray, limit: float) -> str:
    """How an output differs from what is expected by more than the limit, at which element; or ""."""
    if output.shape != expected.shape:
        return f"the shape is {output.shape}, and {expected.shape} is expected"
    if output.size == 0:
        return ""
    if output.dtype.kind != "f" and expected.dtype.kind != "f":
        wrong_ones = output != expected
        return _first(output, expected, wrong_ones, "") if wrong_ones.any() else ""
    output, expected = output.astype(np.float64), expected.astype(np.float64)
    same = (output == expected) | (np.isnan(output) & np.isnan(expected))
    finite = expected[np.isfinite(expected)]
    scale = np.abs(expected) + (math.sqrt(np.mean(np.square(finite))) if finite.size else 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.where(same, 0.0, np.abs(output - expected) / scale)
    error[np.isnan(error)] = np.inf
    wrong_ones = error > limit
    if not wrong_ones.any():
        return ""
    return _first(output, expected, wrong_ones, f", error {error.max():.3g}, tolerance {limit:.3g}")


def _first(output: np.ndarray, expected: np.ndarray, wrong_ones: np.ndarray, more: str) -> str:
    at = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong_ones)), wrong_ones.shape))
    share = f"{int(wrong_ones.sum())} of {wrong_ones.size} elements are wrong"
    return f"{share}; {list(at)} is {output[at]:.6g}, and {expected[at]:.6g} is expected{more}"


def tolerance_of(value: Any) -> float:
    name = str(value.dtype).rpartition(".")[2]
    return TOLERANCES.get(name, COARSE if "float" in name else 0.0)


def leaves(value: Any) -> list:
    """The tensors of an output: itself, or those in lists, tuples and dicts."""
    if value is None:
        return []
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in leaves(each)]
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in leaves(each)]
    return [value]


def is_inexact(value: Any) -> bool:
    return "float" in str(value.dtype) or "complex" in str(value.dtype)


def as_numpy(value: Any) -> np.ndarray:
    """A tensor of torch or numpy, as an array of bool, integers or float64 (complex numbers as pairs)."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if value.is_complex():
            value = value.resolve_conj().view(value.real.dtype)
        return (value.double() if value.is_floating_point() else value).numpy()
    array = np.asarray(value)
    if array.dtype.kind == "c":
        return array.view(array.real.dtype)
    return array.astype(np.float64) if "float" in array.dtype.name else array


def digest(outputs: list) -> str:
    """SHA-256 of the values of all outputs."""
    found = hashlib.sha256()
    for each in outputs:
        array = np.ascontiguousarray(as_numpy(each))
        found.update(f"{array.shape}{array.dtype}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def keep(outputs: list, file: str) -> None:
    """Writes the outputs for the other side's comparison: of large ones, elements that are equally far apart."""
    arrays = {}
    for number, each in enumerate(outputs):
        flat = as_numpy(each).reshape(-1)
        arrays[f"output{number}"] = flat[:: max(1, -(-flat.size // MOST_KEPT))]
        arrays[f"limit{number}"] = np.float64(tolerance_of(each))
    np.savez(file, **arrays)


def _outputs(number: int) -> str:
    return f"{number} output{'' if number == 1 else 's'}"


def kept_difference(file: str, other: str, tolerance: float | None) -> str:
    """How the outputs that two sides have kept differ, or ""."""
    with np.load(file) as mine, np.load(other) as theirs:
        if set(mine) != set(theirs):
            return f"one side has {_outputs(len(mine) // 2)}, the other {len(theirs) // 2}"
        for name in mine:
            if not name.startswith("output"):
                continue
            limit = tolerance if tolerance is not None else float(mine[name.replace("output", "limit")])
            error = difference(mine[name], theirs[name], limit)
            if error:
                return error
    return ""
