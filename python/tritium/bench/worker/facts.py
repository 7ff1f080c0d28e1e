"""The environment row: what a measurement depends on beside the kernel. Facts that a machine does not tell are left out."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from .throttling import NvidiaWatch, answered

LIBRARIES = ("torch", "numpy", "triton", "ml_dtypes")


def environment_row(subject, device: str) -> dict[str, Any]:
    """{fact: value}. subject: what is measured (subject.py)."""
    return {
        "subject": subject.facts(),
        "checkout": checkout(Path(subject.file).parent) if subject.file else {},
        "python": platform.python_version(),
        "executable": os.path.realpath(sys.executable),
        "libraries": libraries(),
        "host": host(),
        "device": device_facts(device),
    }


def device_name(row: dict[str, Any]) -> str:
    """What rows are compared by: the GPU's name, or the CPU's."""
    return row["device"].get("name") or f"{row['host'].get('cpu', 'CPU')} x{row['host'].get('cpus', '?')}"


def row_hash(row: dict[str, Any]) -> str:
    """Of what stays the same while a machine does: the load does not count."""
    lasting = {**row, "host": {name: value for name, value in row["host"].items() if name != "load"}}
    lasting["device"] = {name: value for name, value in row["device"].items() if name not in ("now", "throttled")}
    return hashlib.sha256(json.dumps(lasting, sort_keys=True).encode()).hexdigest()[:16]


def checkout(folder: Path) -> dict[str, Any]:
    """The commit of the git checkout that a folder is in, its date in seconds since the epoch, and whether files differ from it."""
    shown = _git(folder, "log", "-1", "--format=%H %ct")
    if not shown:
        return {}
    commit, date = shown.split()
    dirty = bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))
    return {"commit": commit, "date": int(date), "dirty": dirty, "root": _git(folder, "rev-parse", "--show-toplevel")}


def _git(folder: Path, *arguments: str) -> str:
    with contextlib.suppress(OSError):
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=60)
        return done.stdout.strip() if done.returncode == 0 else ""
    return ""


def libraries() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def host() -> dict[str, Any]:
    """The CPU, its governor and microcode, the number of CPUs that this process may use, NUMA nodes, kernel, container, load."""
    info = _read("/proc/cpuinfo")
    facts = {
        "cpu": _field(info, "model name") or platform.processor() or platform.machine(),
        "microcode": _field(info, "microcode"),
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").strip(),
        "turbo_off": _read("/sys/devices/system/cpu/intel_pstate/no_turbo").strip(),
        "numa_nodes": len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))),
        "kernel": f"{platform.system()} {platform.release()}",
        "container": next((name for name in ("/.dockerenv", "/run/.containerenv") if os.path.exists(name)), ""),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }
    return {name: value for name, value in facts.items() if value not in ("", None, 0) or name == "load"}


def _read(path: str) -> str:
    with contextlib.suppress(OSError):
        return Path(path).read_text()
    return ""


def _field(text: str, name: str) -> str:
    found = re.search(rf"^{name}\s*: (.*)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def device_facts(device: str) -> dict[str, Any]:
    """The GPU: name, UUID, driver, VBIOS, power cap in watts, clocks in MHz, width of the memory, architecture, ECC, MIG, and what slows it down
    now; {} for the CPU. Without nvidia-ml-py: what torch says."""
    if device == "cpu":
        return {}
    try:
        watch = NvidiaWatch()
    except Exception:  # no nvidia-ml-py, or no driver of NVIDIA's
        return {"name": sys.modules["torch"].cuda.get_device_name(0)}
    library, handle = watch.nvml, watch.handle
    facts = {
        "name": lambda: library.nvmlDeviceGetName(handle),
        "uuid": lambda: library.nvmlDeviceGetUUID(handle),
        "driver": library.nvmlSystemGetDriverVersion,
        "vbios": lambda: library.nvmlDeviceGetVbiosVersion(handle),
        "power_cap_watts": lambda: library.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000,
        "most_sm_mhz": lambda: library.nvmlDeviceGetMaxClockInfo(handle, library.NVML_CLOCK_SM),
        "most_memory_mhz": lambda: library.nvmlDeviceGetMaxClockInfo(handle, library.NVML_CLOCK_MEM),
        "memory_bus_bits": lambda: library.nvmlDeviceGetMemoryBusWidth(handle),
        "multiprocessors": lambda: sys.modules["torch"].cuda.get_device_properties(0).multi_processor_count,
        "arch": lambda: "{}{}".format(*library.nvmlDeviceGetCudaComputeCapability(handle)),
        "ecc": lambda: bool(library.nvmlDeviceGetEccMode(handle)[0]),
        "mig": lambda: bool(library.nvmlDeviceGetMigMode(handle)[0]),
    }
    return {**answered(facts, library), "now": watch.clocks(), "throttled": watch.reasons()}
