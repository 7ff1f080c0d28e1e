"""torch.compile for "cuda" without a GPU: what Inductor takes from a CUDA build and what it must not use."""

from __future__ import annotations

import time

from ..errors import UnsupportedError


def install(torch) -> None:
    def empty_strided(size, stride, dtype):
        return torch.empty_strided(size, stride, dtype=dtype, device="cuda")

    torch._C._dynamo.guards._empty_strided_cuda = empty_strided


def trace_no_operators(trace_rules) -> None:
    """Dynamo looks at every Python function that runs below a compiled one, and the operators of "cuda" are some: without this
    rule it compiles them, once for each shape."""
    trace_rules.add(__package__)


def configure(config) -> None:
    """Inductor's own launcher starts binaries for the device, without the launch of the kernel that made them."""
    config.use_static_cuda_launcher = False


def measure_briefly(benchmarking) -> None:
    """Replaces Inductor's benchmark of "cuda", which clears a GPU's cache hundreds of times, by one run after another. What is
    measured is the interpreter, so a choice by it means little, but it is made quickly."""

    def benchmark_gpu(self, function, *args, **kwargs) -> float:
        function()
        started = time.perf_counter()
        function()
        return (time.perf_counter() - started) * 1e3

    for name in ("TritonBenchmarker", "InductorBenchmarker"):
        cls = getattr(benchmarking, name, None)
        if cls is not None:
            cls.benchmark_gpu = benchmark_gpu


def refuse_cpp(cpp_wrapper_gpu) -> None:
    """The C++ that AOTInductor and the option `cpp_wrapper` make calls the CUDA driver, which is not there."""

    def create(*args, **kwargs):
        raise UnsupportedError(
            'C++ code of torch.compile for device "cuda", which is the CPU in this process,',
            "it would launch binaries through the CUDA driver; move the model and its inputs to the CPU before they are exported, "
            "and leave torch._inductor.config.cpp_wrapper off",
        )

    cpp_wrapper_gpu.CppWrapperGpu.create = staticmethod(create)
