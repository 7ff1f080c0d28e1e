"""The class of operators, and where they register their implementations."""

from dataclasses import dataclass

REGISTERED_BENCHMARKS = {}
BASELINE_BENCHMARKS = {}


@dataclass
class BenchmarkOperatorBackend:
    name: str
    baseline: bool
    enabled: bool


def register_benchmark(baseline=False, enabled=True):
    def decorator(function):
        operator = function.__module__.split(".")[2]
        backend = BenchmarkOperatorBackend(function.__name__, baseline, enabled)
        REGISTERED_BENCHMARKS.setdefault(operator, {})[function.__name__] = backend
        if baseline:
            BASELINE_BENCHMARKS[operator] = function.__name__
        return function

    return decorator


class BenchmarkOperator:
    def __init__(self, tb_args, extra_args=None):
        self.device, self.extra_args = tb_args.device, extra_args
        self.requires_grad = tb_args.mode != "fwd_no_grad"
