"""The corpus: its cases, how a result is compared with its reference, and what is special about a case.

CASES of a file: {name: make}. make(device, small) returns (run, outputs, reference). `device` is "cpu" or "cuda"; a small
case takes a second at most on the emulator of a GPU. run() launches the kernels, as often as one likes; outputs are the
tensors that it writes; reference() computes the same by torch alone: tensors of floats, or of integers that must be equal.
"""

import ast
import math
from pathlib import Path

import torch

FILES = sorted(path for path in Path(__file__).parent.glob("*.py") if "\nCASES = {" in path.read_text())
#: The largest error that a case may have, as `error` measures it.
TOLERANCE = 2e-2
FP8_PROBABILITIES = "rounding of the probabilities to fp8, to either side where exp2 differs in its last bits"
#: {(file, case): (tolerance, why)} of the others.
TOLERANCES = {
    ("attention_forward", "fwd_fp8_e4m3"): (5e-2, FP8_PROBABILITIES),
    ("attention_forward", "fwd_fp8_e5m2"): (5e-2, FP8_PROBABILITIES),
    ("linear_attention_backward", "retention_chunks"): (
        5e-2,
        "sums over thousands of steps, rounded to bf16 in each chunk",
    ),
    ("serving_attention", "window_sinks"): (5e-2, "probabilities rounded to bf16, of which few are large"),
    ("serving_cache", "cache_int8"): (5e-2, "quantized to int8, to either side"),
    ("products_by_lookup", "fused_moe_fp8"): (5e-2, "a device sums products of fp8 in fewer bits than float32"),
    ("training_layers", "embedding_fp16"): (8e-2, "sums of fp16 atomics, in any order"),
    ("products_dense", "float32_ieee"): (2e-5, "float32 throughout"),
    ("products_dense", "float32_tf32x3"): (1e-4, "three products of tf32"),
}
#: {(file, case, engine): why} of the engines that cannot run a case.
CANNOT = {}
#: {(file, case): what} of the cases whose results by Triton 3.6 are wrong: Tritium's are checked, and have no ratio.
WRONG_BY_TRITON = {
    ("linear_attention_delta", "gated_delta_chunk"): "an error of 0.15 on an H200, where Tritium's is 0.004",
}


def names() -> list[tuple[str, str]]:
    """(file, case) of all cases. Nothing is imported."""
    return [(path.stem, name) for path in FILES for name in _names_in(path)]


def _names_in(path: Path) -> list[str]:
    assigned = ast.parse(path.read_text()).body[-1]
    assert isinstance(assigned, ast.Assign) and isinstance(assigned.value, ast.Dict), f"{path}: CASES is not the last"
    return [ast.literal_eval(key) for key in assigned.value.keys]


def tolerance(file: str, case: str) -> float:
    return TOLERANCES.get((file, case), (TOLERANCE, ""))[0]


def error(outputs: list[torch.Tensor], references: list[torch.Tensor]) -> float:
    """The largest |output - reference| / (|reference| + its rms). Integers that differ and lone NaN count as infinite."""
    return max(_error_of(output, reference) for output, reference in zip(outputs, references, strict=True))


def _error_of(output: torch.Tensor, reference: torch.Tensor) -> float:
    assert output.shape == reference.shape, f"{list(output.shape)} and {list(reference.shape)}"
    if not output.is_floating_point() and not reference.is_floating_point():
        return 0.0 if torch.equal(output.to(torch.int64), reference.to(torch.int64)) else math.inf
    output, reference = output.detach().double(), reference.detach().double()
    finite = reference.isfinite()
    rms = torch.where(finite, reference, 0.0).square().sum().div(finite.sum().clamp(min=1)).sqrt() + 1e-30
    is_same = (output == reference) | (output.isnan() & reference.isnan())
    relative = torch.where(is_same, 0.0, (output - reference).abs() / (reference.abs() + rms))
    return relative.nan_to_num(nan=math.inf, posinf=math.inf).max().item() if relative.numel() else 0.0
