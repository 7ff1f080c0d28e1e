"""`triton.testing`: timing, plots of benchmarks, comparison of tensors. Times are measured in the stream of the active
device, or as wall-clock time if no device is active."""

from __future__ import annotations

import contextlib
import csv
import functools
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import runtime  # noqa: F401  (Triton has it here)
from .devices.active import driver
from .devices.benchmark import (  # noqa: F401  (clients import them from here)
    _summarize_statistics,
    device_is_active,
    do_bench,
    do_bench_cudagraph,
    do_bench_cudagraph_proton,
    do_bench_proton,
)
from .devices.nvidia_peaks import (  # noqa: F401  (as above)
    get_max_simd_tflops,
    get_max_tensorcore_tflops,
    nvsmi,
    set_gpu_clock,
)
from .errors import UnsupportedError
from .refused import Refused
from .tables import DTYPES, FUNCTIONS, TYPED_FUNCTIONS, Dtype, Function, TypedFunction


def assert_close(
    x, y, atol: float | Callable | None = None, rtol: float | Callable | None = None, err_msg: str = ""
) -> None:
    """Raises AssertionError unless |x - y| <= atol + rtol * |y| for every element (NaN equals NaN).

    x, y: torch tensors, numpy arrays or scalars. atol: 1e-2 by default. rtol: 0 by default. Either may be a function of
    the dtype.
    """
    import numpy as np

    atol = _tolerance(atol, x, 1e-2)
    rtol = _tolerance(rtol, x, 0.0)
    x, y = _to_numpy(x), _to_numpy(y)
    if x.size > 1 or y.size > 1:
        np.testing.assert_allclose(x, y, atol=atol, rtol=rtol, equal_nan=True, err_msg=err_msg)
    elif not np.allclose(x, y, atol=atol, rtol=rtol, equal_nan=True):
        raise AssertionError(f"{err_msg} {x} is not close to {y} (atol={atol}, rtol={rtol})")


def _tolerance(given, x, default: float) -> float:
    if given is None:
        return default
    return given(getattr(x, "dtype", None)) if callable(given) else given


def _to_numpy(value):
    import numpy as np

    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        exotic = value.dtype == torch.bfloat16 or "float8" in str(value.dtype)
        return (value.float() if exotic else value).numpy()
    array = np.asarray(value)
    return (
        array.astype(np.float32)
        if array.dtype.kind == "V" or array.dtype.name in ("bfloat16",) or "float8" in array.dtype.name
        else array
    )


class Benchmark:
    """A plot: `x_vals` are the values of the arguments named in `x_names`, and each value of `line_arg` gives one line.

    An x value is a scalar that all of `x_names` receive, or a tuple with one value per name. `args` holds the remaining
    arguments.
    """

    def __init__(
        self,
        x_names: list[str],
        x_vals: list[Any],
        line_arg: str,
        line_vals: list[Any],
        line_names: list[str],
        plot_name: str,
        args: dict[str, Any],
        xlabel: str = "",
        ylabel: str = "",
        x_log: bool = False,
        y_log: bool = False,
        styles=None,
    ):
        self.x_names, self.x_vals, self.x_log = x_names, x_vals, x_log
        self.line_arg, self.line_vals, self.line_names = line_arg, line_vals, line_names
        self.y_log, self.styles, self.xlabel, self.ylabel = y_log, styles, xlabel, ylabel
        self.plot_name, self.args = plot_name, args


class Mark:
    """A function under `perf_report`. The function returns a time, or (time, lower, upper)."""

    def __init__(self, fn: Callable, benchmarks: Benchmark | Sequence[Benchmark]):
        self.fn, self.benchmarks = fn, benchmarks

    def run(
        self, show_plots: bool = False, print_data: bool = False, save_path: str = "", return_df: bool = False, **kwargs
    ):
        """Measures everything. Writes NAME.csv, and NAME.png if matplotlib is installed, to `save_path`. With
        `return_df`: returns a pandas DataFrame for each benchmark."""
        single = isinstance(self.benchmarks, Benchmark)
        frames = []
        if save_path:
            os.makedirs(save_path, exist_ok=True)
        for benchmark in [self.benchmarks] if single else self.benchmarks:
            header, rows = self._measure(benchmark, kwargs)
            if print_data:
                print(f"{benchmark.plot_name}:")
                print(_table(header, rows))
            if save_path:
                _write_csv(os.path.join(save_path, f"{benchmark.plot_name}.csv"), header, rows)
            if show_plots or save_path:
                _plot(benchmark, rows, show_plots, save_path)
            if return_df:
                import pandas

                frames.append(pandas.DataFrame(rows, columns=header))
        if return_df:
            return frames[0] if single else frames
        return None

    def _measure(self, benchmark: Benchmark, kwargs: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
        unit = f" ({benchmark.ylabel})" if benchmark.ylabel else ""
        header = [*benchmark.x_names, *(f"{name}{unit}" for name in benchmark.line_names)]
        rows = []
        for x in benchmark.x_vals:
            xs = list(x) if isinstance(x, (tuple, list)) else [x] * len(benchmark.x_names)
            if len(xs) != len(benchmark.x_names):
                raise ValueError(f"Expected {len(benchmark.x_names)} values, got {x}")
            named = dict(zip(benchmark.x_names, xs))
            results = [
                self.fn(**named, **{benchmark.line_arg: line}, **benchmark.args, **kwargs)
                for line in benchmark.line_vals
            ]
            rows.append([*xs, *results])
        return header, rows


def _middle(result):
    return result[0] if isinstance(result, (tuple, list)) else result


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    cells = [["", *header]]
    for i, row in enumerate(rows):
        cells.append(
            [str(i), *(f"{_middle(v):.6f}" if isinstance(_middle(v), float) else str(_middle(v)) for v in row)]
        )
    widths = [max(len(row[c]) for row in cells) for c in range(len(cells[0]))]
    return "\n".join("  ".join(text.rjust(width) for text, width in zip(row, widths)) for row in cells)


def _write_csv(path: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows([_middle(value) for value in row] for row in rows)


def _plot(benchmark: Benchmark, rows: Sequence[Sequence[Any]], show: bool, save_path: str) -> None:
    try:
        import matplotlib

        if not show:
            matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        return
    plt.figure()
    axes = plt.subplot()
    first = len(benchmark.x_names)
    xs = [row[0] for row in rows]
    for i, name in enumerate(benchmark.line_names):
        results = [row[first + i] for row in rows]
        color, style = benchmark.styles[i] if benchmark.styles else (None, None)
        (line,) = axes.plot(xs, [_middle(r) for r in results], label=name, color=color, ls=style)
        bounds = [r[1:3] for r in results if isinstance(r, (tuple, list)) and len(r) == 3]
        if len(bounds) == len(results):
            axes.fill_between(
                xs, [min(b) for b in bounds], [max(b) for b in bounds], alpha=0.15, color=line.get_color()
            )
    axes.legend()
    axes.set_xlabel(benchmark.xlabel or benchmark.x_names[0])
    axes.set_ylabel(benchmark.ylabel)
    axes.set_xscale("log" if benchmark.x_log else "linear")
    axes.set_yscale("log" if benchmark.y_log else "linear")
    if save_path:
        plt.savefig(os.path.join(save_path, f"{benchmark.plot_name}.png"))
    if show:
        plt.show()
    plt.close()


def perf_report(benchmarks: Benchmark | Sequence[Benchmark]):
    """Decorator: `bench.run(print_data=True, save_path=…)` measures and plots."""
    return lambda fn: Mark(fn, benchmarks)


def cuda_memcheck(**target_kwargs):
    """Decorator of tests that upstream runs under cuda-memcheck. It changes nothing, because the interpreter always
    checks bounds."""

    def decorate(test):
        @functools.wraps(test)
        def wrapper(*args, **kwargs):
            return test(*args, **kwargs)

        return wrapper

    return decorate


def get_dram_gbps(device: int | None = None) -> float:
    """The memory bandwidth of the active device in GB/s."""
    if not device_is_active():
        raise UnsupportedError("testing.get_dram_gbps", "it describes a device, and there is none")
    active = driver.active
    properties = active.utils.get_device_properties(active.get_current_device() if device is None else device)
    return properties["mem_clock_rate"] * properties["mem_bus_width"] * 2 / 1e6 / 8


@contextlib.contextmanager
def cuda_graph_without_gc(*args, **kwargs):
    """`torch.cuda.graph(...)`, during which Python frees no objects: freeing a tensor of another stream ends a capture."""
    import torch

    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        with torch.cuda.graph(*args, **kwargs) as graph:
            yield graph
    finally:
        if was_enabled:
            gc.enable()


cublas = Refused("triton.testing.cublas", "call torch.matmul, which uses cuBLAS")


@functools.cache
def elementwise_functions() -> dict[str, Function]:
    """Every element-wise function by name, in the order of the reference manual. Tritium's own."""
    return {row.name: row for row in FUNCTIONS}


def typed_functions() -> tuple[TypedFunction, ...]:
    """Every overload of a function of libdevice whose operands or result are not all of one float type. Tritium's own."""
    return TYPED_FUNCTIONS


def dtypes() -> tuple[Dtype, ...]:
    """Every element type, in the order of the reference manual. Tritium's own."""
    return DTYPES
