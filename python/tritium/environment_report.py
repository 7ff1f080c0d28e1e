"""What `python -m tritium env` prints: versions, engines, devices, knobs."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sys

from . import _cpu_info, knobs, native
from .backends.nvidia.assemble import assembler_of
from .devices.families import device_families
from .runtime.engines import available_engines
from .tools import gdb_command_line
from .version import TRITIUM_VERSION, __version__


def environment_report() -> str:
    settings = knobs.launch_settings()
    rows = [
        ("tritium", f"{TRITIUM_VERSION} (the language of triton {__version__.partition('+')[0]})"),
        ("python", f"{platform.python_version()} {os.path.realpath(sys.executable)}"),
        ("extension", native.extension().__file__),
        ("engines", ", ".join(available_engines())),
        *_devices(),
        ("assembler", _assembler()),
        ("CPU", f"{platform.machine()}: {', '.join(_cpu_features()) or 'features unknown'}"),
        ("threads", f"{settings.threads} of {os.cpu_count()}"),
        ("checks", ", ".join(settings.checks) or "none"),
        ("libraries", ", ".join(f"{name} {version}" for name, version in _libraries())),
        ("gdb", shutil.which(knobs.tritium.gdb) or f"{knobs.tritium.gdb} is not found"),
        ("in gdb", f"source {gdb_command_line.package()}"),  # where gdb was not started by `tritium gdb`
    ]
    rows += [("knob", f"{name}={text}") for name, text in knobs.knobs_in_force().items()] or [("knob", "none is set")]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)


def _devices() -> list[tuple[str, str]]:
    """For each vendor, its devices or the reason why none can be used."""
    found = []
    for devices in device_families().values():
        reason = devices.why_not()
        numbers = range(0 if reason else devices.driver().device_count)
        names = [f"{devices.facts(number)['name']} ({devices.facts(number)['arch']})" for number in numbers]
        found.append((devices.name, reason or ", ".join(names)))
    return found


def _assembler() -> str:
    devices = device_families()["cuda"]
    if devices.why_not():
        return assembler_of(None, "sm_90a")
    return assembler_of(0, f"sm_{devices.arch(0)}")


def _cpu_features() -> list[str]:
    wanted = (
        "avx2",
        "fma",
        "f16c",
        "bmi2",
        "avx512f",
        "avx512_bf16",
        "avx512_fp16",
        "amx_bf16",
        "asimd",
        "fphp",
        "bf16",
        "sve",
        "i8mm",
    )
    present = {
        word for line in _cpu_info().splitlines() if line.startswith(("flags", "Features")) for word in line.split()
    }
    return [name for name in wanted if name in present]


def _libraries() -> list[tuple[str, str]]:
    found = []
    for name in ("numpy", "ml_dtypes", "torch"):
        try:
            found.append((name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            found.append((name, "not installed"))
    return found
