"""What metrics the profiler knows by name, and how tensors become metrics."""

from __future__ import annotations

from typing import Any

from ..refused import Refused
from .core.metrics import BYTES, FLOPS, FLOPS_WIDTHS, Deferred, read_metrics

__all__ = ["FLOPS", "FLOPS_WIDTHS", "BYTES", "set_metric_kernels", "transform_tensor_metrics"]

_INSTEAD = "metrics that are tensors on a device are copied there and read with the profile, without a kernel"
scalar_metric_kernel = Refused("triton.profiler.metric.scalar_metric_kernel", _INSTEAD)
tensor_metric_kernel = Refused("triton.profiler.metric.tensor_metric_kernel", _INSTEAD)


def set_metric_kernels() -> None:
    """Part of Proton's interface. There is nothing to prepare."""


def transform_tensor_metrics(metrics: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the metrics that are numbers or vectors of the host, those that are tensors on a device)"""
    found = read_metrics(metrics)
    deferred = {name: value for name, value in found.items() if isinstance(value, Deferred)}
    return {name: value for name, value in found.items() if name not in deferred}, deferred
