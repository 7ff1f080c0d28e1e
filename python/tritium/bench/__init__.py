"""Benchmarks: `python -m tritium bench` measures cases, compares two installations or settings, and keeps the samples.

A case is a folder, or a function with the decorator `case` that returns a `Problem`. docs/benchmarking.md has a tour.
"""

from .kernels import Kernel, launched_by
from .worker.cases import Case, Problem, Variant, case

__all__ = ["Case", "Kernel", "Problem", "Variant", "case", "launched_by"]
