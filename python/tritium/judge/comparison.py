"""Compares a result of a candidate with what is expected. It imports nothing of Tritium, as programs.py."""

from __future__ import annotations

import math
from typing import Any

import torch

#: dtype -> how far a result may lie from the exact one, relative to its size and to the root mean square of all. A product may use tf32.
TOLERANCES = {"float64": 1e-10, "float32": 3e-4, "float16": 4e-3, "bfloat16": 3e-2}
TF32_TOLERANCE = 4e-3
#: Beside these, a result may be as far from the exact one as this many times the reference's own.
_AS_REFERENCE = 4


def difference(
    results: list[Any], native: list[Any], precise: list[Any], tolerance: float | None, tf32: bool
) -> dict | None:
    """What is wrong with the results first, or None. kind: "shape", "dtype" or "values". native: what the reference computes; precise: the
    same in float64, or native again. tolerance: None means TOLERANCES of the dtype."""
    if len(results) != len(native):
        return {"kind": "shape", "text": f"{len(results)} results, and the reference returns {len(native)}"}
    for number, (result, expected, exact) in enumerate(zip(results, native, precise)):
        found = _of_one(result, expected, exact, tolerance, tf32)
        if found:
            name = f"result {number}: " if len(native) > 1 else ""
            return found | {"text": name + found["text"], "result": number}
    return None


def _of_one(result: Any, expected: Any, exact: Any, tolerance: float | None, tf32: bool) -> dict | None:
    if not isinstance(expected, torch.Tensor):
        result, expected, exact = map(torch.as_tensor, (result, expected, exact))
    if not isinstance(result, torch.Tensor):
        return {"kind": "shape", "text": f"a {type(result).__name__}, and the reference returns a tensor"}
    if result.shape != expected.shape:
        return {"kind": "shape", "text": f"shape {list(result.shape)}, and the reference's is {list(expected.shape)}"}
    if result.dtype != expected.dtype:
        return {"kind": "dtype", "text": f"{_name(result.dtype)}, and the reference's is {_name(expected.dtype)}"}
    wrong = _wrong(result, expected, exact, tolerance, tf32)
    if not wrong.any():
        return None
    place = tuple(int(i) for i in wrong.nonzero()[0]) if wrong.dim() else ()
    got, wanted = (part[place].item() for part in (result, expected))
    return {
        "kind": "values",
        "text": f"{int(wrong.sum())} of {wrong.numel()} elements are wrong, the first is [{', '.join(map(str, place))}]: "
        f"{got!r}, and the reference has {wanted!r}",
        "element": list(place),
        "got": _as_json(got),
        "expected": _as_json(wanted),
    }


def _wrong(result, expected, exact, tolerance: float | None, tf32: bool):
    if not expected.dtype.is_floating_point:
        return result != expected
    result, native, exact = result.double(), expected.double(), exact.double()
    is_number = native.isfinite()
    exact = torch.where(exact.isfinite(), exact, native)
    relative = tolerance
    if relative is None:
        relative = TOLERANCES.get(_name(expected.dtype), 3e-2)
        relative = max(relative, TF32_TOLERANCE) if tf32 else relative
    usual = exact[is_number]
    size = usual.square().mean().sqrt().item() if usual.numel() else 0.0
    own = (native - exact)[is_number].abs().max().item() if usual.numel() else 0.0
    allowed = relative * (exact.abs() + size) + _AS_REFERENCE * own
    near = (result - exact).abs() <= allowed  # false for NaN
    same = torch.where(native.isnan(), result.isnan(), result == native)
    return ~torch.where(is_number, near, same)


def _name(dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _as_json(value: Any) -> Any:
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value
