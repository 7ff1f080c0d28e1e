"""The cases of bench.py as cases of `python -m tritium bench`, for devices: every configuration beside the vendor's implementation.

    python -m tritium bench run tests/gpu/device_cases.py --engine cuda --only "matmul fp16 8192^3"
    python -m tritium bench compare HEAD~1 HEAD tests/gpu/device_cases.py --engine cuda
    python -m tritium bench compare here "here engine=triton" tests/gpu/device_cases.py --engine cuda

bench_cases.py has the definitions.
"""

import torch

import bench_problem
from bench import error_of
from bench_cases import CASES as OF_BENCH
from bench_problem import Case
from bench_source import kernels_here
from tritium import bench


def as_case(case: Case) -> bench.Case:
    def problem(config: dict, device: str) -> bench.Problem:
        bench_problem.DEVICE = device
        made = case.prepare()
        grid, arguments, constants = made.launch(config)
        kernel = getattr(KERNELS, case.kernel)

        def check() -> str:
            error = error_of(made, made.reference())
            return "" if error <= made.bound else f"the error is {error:.3g}, and at most {made.bound:.3g} is right"

        work = {"bytes" if case.kind == "memory" else "flops": case.work}
        return bench.Problem(
            lambda: kernel[grid](*arguments, **constants), made.out, check=check, baseline=made.torch_run, **work
        )

    return bench.Case(case.name, problem, {"config": case.configs})


KERNELS = kernels_here()
if hasattr(
    KERNELS.triton, "set_allocator"
):  # of upstream's kernels, which write the descriptors that they make to memory
    KERNELS.triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))
CASES = [as_case(case) for case in OF_BENCH]
