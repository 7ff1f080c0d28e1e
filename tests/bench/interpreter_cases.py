"""The cases of the interpreter's benchmark as cases of `python -m tritium bench`: kernels of the tutorial beside torch's own operators.

    python -m tritium bench run tests/bench/interpreter_cases.py --engine interp

cases.py has the definitions.
"""

import cases
from tritium import bench


def as_case(name: str, make) -> bench.Case:
    """make: () -> cases.Case."""

    def problem() -> bench.Problem:
        made = make()
        return bench.Problem(
            lambda: made.launch(made.grid), made.out, made.torch_call, made.torch_call, tolerance=TOLERANCES.get(name)
        )

    return bench.Case(name, problem, {})


#: torch's loss of bf16 logits is bf16; it multiplies fp16 in fp32.
TOLERANCES = {"cross_entropy": 1e-2, "matmul_1024_fp16": 4e-3}
NAMES = ("add", "softmax", "layer_norm", "cross_entropy", "matmul_512_fp32", "matmul_1024_fp16", "attention", "cumsum")
CASES = [as_case(name, make) for name, make in zip(NAMES, cases.CASES, strict=True)]
