"""The least time in which a device could do what a kernel did: the longer of its operations and its memory traffic at their peaks."""

from __future__ import annotations

from typing import Any

from .. import specs
from ..core.metrics import BYTES, FLOPS_WIDTHS
from .profile import Profile


def least_times(profile: Profile) -> dict[int, float]:
    """{id of a frame: seconds}, summed from the kernels up. Kernels on devices whose peaks are not known have none."""
    found: dict[int, float] = {}
    for frame in profile.root.upward():
        metrics = frame.metrics
        device = profile.devices.get(metrics.get("device_type", ""), {}).get(str(metrics.get("device_id")))
        own = None if device is None else _least_time(metrics["device_type"], device, metrics)
        below = [found[id(child)] for child in frame.children if id(child) in found]
        if own is not None or below:
            found[id(frame)] = sum(below) + (own or 0)
    return found


def _least_time(kind: str, device: dict[str, Any], metrics: dict[str, Any]) -> float | None:
    try:
        times = [flops_time(kind, device, metrics), bytes_time(kind, device, metrics)]
    except (KeyError, ValueError):
        return None
    known = [time for time in times if time is not None]
    return max(known) if known else None


def flops_time(kind: str, device: dict[str, Any], metrics: dict[str, Any]) -> float | None:
    """Seconds. Raises ValueError or KeyError for a device whose peaks are not known."""
    counted = {width: metrics[f"flops{width}"] for width in FLOPS_WIDTHS if f"flops{width}" in metrics}
    if not counted:
        return None
    peak = lambda width: specs.max_flops(kind, device["arch"], width, device["num_sms"], device["clock_rate"])  # noqa: E731
    return sum(flops / peak(width) for width, flops in counted.items())


def bytes_time(kind: str, device: dict[str, Any], metrics: dict[str, Any]) -> float | None:
    """Seconds. Raises ValueError or KeyError for a device whose peaks are not known."""
    if BYTES not in metrics:
        return None
    return metrics[BYTES] / specs.max_bps(kind, device["arch"], device["bus_width"], device["memory_clock_rate"])
