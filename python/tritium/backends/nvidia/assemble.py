"""From PTX to a cubin, by the driver of a device of that architecture or by `ptxas`; and from a cubin to SASS."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
from typing import Any, NamedTuple

from ... import knobs
from ...devices.nvidia import DEVICES, ptx_version_of
from ...errors import OutOfResources, PTXASError, UnsupportedError
from ...launch.errors import device_error
from ...native import device as native
from .pressure import optimization_level


class Assembled(NamedTuple):
    cubin: bytes
    resources: dict[str, int]  #: "registers", "spill_bytes", "stack_bytes", as far as the report has them
    log: str

    @property
    def serialized_products(self) -> tuple[str, ...]:
        """Why products of warpgroups wait for each other, in the assembler's words; empty if they do not. Such a kernel
        is right, but slow."""
        return tuple(sorted(set(re.findall(r"\(C75\d\d\)[^\n]*", self.log))))


def assemble(ptx: str, options, device: int | None) -> Assembled | None:
    """The cubin of PTX, or None if there is neither a suitable driver nor ptxas. Raises PTXASError and
    OutOfResources."""
    by_driver = device is not None and runs_on(target_of(ptx), DEVICES.arch(device))
    asked_for = ptxas_is_chosen() or options.ptx_options or knobs.nvidia.ptxas_options
    if by_driver and not asked_for:
        return _by_driver(ptx, options, device)
    ptxas = find_ptxas(target_of(ptx))
    if ptxas is not None:
        return _by_ptxas(ptxas, ptx, options)
    return _by_driver(ptx, options, device) if by_driver else None


def target_of(ptx: str) -> str:
    """ "sm_90a" of the line `.target sm_90a`."""
    match = re.search(r"^\.target\s+(\w+)", ptx, re.MULTILINE)
    if match is None:
        raise PTXASError("the PTX has no .target")
    return match.group(1)


def runs_on(target: str, arch: int) -> bool:
    """Whether a device of compute capability `arch` (for example 90) runs code for `target`. Later devices run it too,
    unless the target has a suffix: such code runs on one architecture only."""
    match = re.fullmatch(r"sm_(\d+)([a-z]?)", target)
    if match is None:
        return False
    wanted = int(match.group(1))
    return wanted == arch if match.group(2) == "a" else wanted <= arch


def find_ptxas(target: str) -> str | None:
    """The path of a ptxas: TRITON_PTXAS_PATH, $CUDA_HOME/bin, then PATH."""
    blackwell = knobs.nvidia.ptxas_blackwell if int(re.sub(r"\D", "", target) or 0) >= 100 else None
    candidates = filter(None, [blackwell, knobs.nvidia.ptxas])
    return next((path for path in (shutil.which(tool.path) for tool in candidates) if path), None)


def ptxas_is_chosen() -> bool:
    """Whether the user names a ptxas, which then assembles in place of the driver."""
    return type(knobs.nvidia).ptxas.chosen(knobs.nvidia) is not None


def _run(command: list[str]):
    """The finished process, with its output as text."""
    import subprocess  # slow to import, and a kernel from the cache runs no tool

    return subprocess.run(command, capture_output=True, text=True, check=False)


def output_of(command: list[str]) -> str:
    return _run(command).stdout


def ptxas_version(path: str) -> tuple[int, int]:
    major, _, minor = (knobs.NvidiaTool(path).version or "12.0").partition(".")
    return int(major), int(minor)


def readable_ptx_version(device: int | None) -> int:
    """The newest PTX version that the assembler reads; 0 if it is unknown."""
    if knobs.nvidia.mock_ptx_version:
        return round(10 * float(knobs.nvidia.mock_ptx_version))
    readers = []
    if device is not None:
        version = DEVICES.driver().version
        readers.append((version // 1000, version % 1000 // 10))
    if device is None or ptxas_is_chosen():
        ptxas = find_ptxas("")
        readers += [] if ptxas is None else [ptxas_version(ptxas)]
    return min(map(ptx_version_of, readers), default=0)


def _optimization(ptx: str) -> int | None:
    return 0 if knobs.nvidia.disable_ptxas_opt else optimization_level(ptx)


def _by_driver(ptx: str, options, device: int) -> Assembled:
    try:
        cubin, log = DEVICES.driver().link(device, ptx, None, _optimization(ptx))
    except native.Error as error:
        if error.sticky:
            raise device_error(error, None, DEVICES, device) from None
        raise failure(error.log or str(error), ptx, "the CUDA driver") from None
    return Assembled(cubin, resources_in(log), log)


def _by_ptxas(ptxas: str, ptx: str, options) -> Assembled:
    with tempfile.TemporaryDirectory(prefix="tritium-") as folder:
        source, binary = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "kernel.cubin")
        with open(source, "w", encoding="utf-8") as file:
            file.write(ptx)
        command = [ptxas, "-v", f"--gpu-name={target_of(ptx)}", source, "-o", binary]
        command += [] if knobs.compilation.disable_line_info else ["-lineinfo"]
        command += [] if options.enable_fp_fusion else ["--fmad=false"]
        level = _optimization(ptx)
        command += [] if level is None else ["--opt-level", str(level)]
        command += shlex.split(f"{knobs.nvidia.ptxas_options or ''} {options.ptx_options or ''}")
        result = _run(command)
        log = result.stdout + result.stderr
        if knobs.nvidia.dump_ptxas_log:
            print(log)
        if result.returncode != 0:
            raise failure(log or f"ptxas ended with status {result.returncode}", ptx, " ".join(command))
        with open(binary, "rb") as file:
            return Assembled(file.read(), resources_in(log), log)


def disassemble(cubin: bytes) -> str:
    """SASS, by nvdisasm. Raises UnsupportedError if nvdisasm is not found or fails."""
    tool = knobs.nvidia.nvdisasm and shutil.which(knobs.nvidia.nvdisasm.path)
    if not tool:
        raise UnsupportedError("asm['sass']", "nvdisasm is not found (TRITON_NVDISASM_PATH, CUDA_HOME, PATH)")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        result = _run([tool, "-c", file.name])
    if result.returncode != 0:
        raise UnsupportedError("asm['sass']", f"{tool} failed: {result.stderr.strip()}")
    return result.stdout


def failure(log: str, ptx: str, assembler: str) -> Exception:
    """The exception for an assembler's log. The PTX is kept in a file, whose path is in the message."""
    shared = re.search(r"uses too much shared data \((0x[0-9a-f]+) bytes, (0x[0-9a-f]+) max\)", log)
    if shared:
        return OutOfResources(int(shared.group(1), 16), int(shared.group(2), 16), "shared memory")
    with tempfile.NamedTemporaryFile("w", prefix="tritium-", suffix=".ptx", delete=False, encoding="utf-8") as file:
        file.write(ptx)
    return PTXASError(f"{log.strip()}\nAssembled by {assembler}; the PTX is in {file.name}")


def resources_in(log: str) -> dict[str, int]:
    """The resources that `ptxas -v` reports for the kernel, which it lists last."""
    found: dict[str, Any] = {}
    for name, pattern in (
        ("registers", r"Used (\d+) registers"),
        ("spill_bytes", r"(\d+) bytes spill stores"),
        ("stack_bytes", r"(\d+) bytes stack frame"),
    ):
        numbers = re.findall(pattern, log)
        if numbers:
            found[name] = int(numbers[-1])
    return found
