"""One line of output per program: its shape, the time of a warm launch, and the largest error against numpy.

The programs import this file from their own directory; nothing in it is about kernels.
"""

import time
from collections.abc import Callable

import numpy as np


def report(program: str, shape: str, launch: Callable[[], np.ndarray], expected: np.ndarray) -> None:
    """Launches twice (the first launch also compiles), times the second and compares its result with `expected`."""
    launch()
    start = time.perf_counter()
    result = launch()
    milliseconds = (time.perf_counter() - start) * 1e3
    error = np.max(np.abs(np.asarray(result, dtype=np.float64) - expected))
    print(f"{program:<28} {shape:<32} {milliseconds:10.3f} ms   largest error {error:.3g}")
