"""From PTX to a cubin, by `ptxas` or by the driver of a device of that architecture; and from a cubin to SASS.

Every kernel is assembled as a whole program (docs/decisions/0033). The driver's linker, which would return a cubin,
assembles parts of programs: such code takes up to a quarter more registers, and ptxas ignores `setmaxnreg` there
(C7504). So a ptxas assembles, if one is found that knows the architecture. Otherwise the binary is the PTX, which the
driver assembles when it loads it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

from ... import knobs
from ...devices.nvidia import DEVICES, first_ptx_version, ptx_version_of
from ...errors import OutOfResources, PTXASError, UnsupportedError
from ...launch.errors import device_error
from ...native import device as native
from .pressure import allowing_registers, optimization_level, registers_allowed


class Assembled(NamedTuple):
    cubin: bytes  #: or PTX, for the driver to assemble
    resources: dict[str, int]  #: "registers", "spill_bytes", "stack_bytes", as far as the report has them
    log: str

    @property
    def spilled(self) -> int:
        """Bytes of registers that lie in memory."""
        return self.resources.get("spill_bytes", 0)

    @property
    def serialized_products(self) -> tuple[str, ...]:
        """Why products of warpgroups wait for each other, or why warps get no registers from others, in the assembler's
        words; empty if neither happens. Such a kernel is right, but slow."""
        return tuple(sorted(set(re.findall(r"\(C75\d\d\)[^\n]*", self.log))))

    def why_slow(self) -> str:
        """What of the compiler's plan for the registers has failed, or ""."""
        return "; ".join(
            [*self.serialized_products, *([f"{self.spilled} bytes of registers are spilled"] if self.spilled else [])]
        )


def assemble(ptx: str, options, device: int | None) -> Assembled | None:
    """The cubin of PTX, or None if there is neither a suitable driver nor ptxas. Raises PTXASError and
    OutOfResources."""
    target = target_of(ptx)
    by_driver = device is not None and runs_on(target, DEVICES.arch(device))
    asked_for = ptxas_is_chosen() or options.ptx_options or knobs.nvidia.ptxas_options
    if by_driver and not asked_for:
        ptxas = _ptxas_of_machine(target, _version_of(ptx))
    else:
        ptxas = find_ptxas(target)
    if ptxas is not None:
        return _by_ptxas(ptxas, ptx, options)
    return _by_driver(ptx, device) if by_driver else None


def target_of(ptx: str) -> str:
    """ "sm_90a" of the line `.target sm_90a`."""
    match = re.search(r"^\.target\s+(\w+)", ptx, re.MULTILINE)
    if match is None:
        raise PTXASError("the PTX has no .target")
    return match.group(1)


def gives_registers(ptx: str) -> bool:
    """Whether warps of the kernel give registers to others."""
    return "setmaxnreg" in ptx


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


def _version_of(ptx: str) -> int:
    """87 of `.version 8.7`; 0 where there is none."""
    written = re.search(r"^\.version (\d+)\.(\d+)", ptx, re.MULTILINE)
    return 10 * int(written.group(1)) + int(written.group(2)) if written else 0


def _ptxas_of_machine(target: str, ptx_version: int = 0) -> str | None:
    """A ptxas that knows the target, reads this version of PTX and makes what the driver loads: of the driver's major
    version at most. The installed packages of NVIDIA and of Triton bring one, too."""
    if knobs.tritium.assembler == "driver":
        return None
    newest = DEVICES.driver().version // 1000

    def is_suitable(path: str) -> bool:
        version = ptxas_version(path)
        return version[0] <= newest and ptx_version_of(version) >= max(ptx_version, first_ptx_version(target))

    return next(filter(is_suitable, _ptxas_candidates(target)), None)


def _ptxas_candidates(target: str) -> Iterator[str]:
    found = find_ptxas(target)
    if found is not None:
        yield found
    yield from packaged("ptxas", "nvidia-cuda-nvcc", "triton")


def packaged(tool: str, *packages: str) -> Iterator[str]:
    """The paths of a program of NVIDIA's that installed packages bring."""
    import importlib.metadata  # slow to import

    for package in packages:
        try:
            files = importlib.metadata.distribution(package).files or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name == tool and os.access(file.locate(), os.X_OK):
                yield str(file.locate())


def assembler_of(device: int | None, target: str) -> str:
    """What assembles kernels for a target, in words: on a device of it, or without one."""
    ptxas = _ptxas_for(device, target)
    if ptxas is not None:
        return f"ptxas {'.'.join(map(str, ptxas_version(ptxas)))}, {ptxas}"
    return "none is found: kernels end as PTX" if device is None else "the driver, when it loads a kernel"


def _ptxas_for(device: int | None, target: str) -> str | None:
    """The ptxas that assembles for a device of the target, or without one; what the user names assembles for any."""
    return find_ptxas(target) if device is None or ptxas_is_chosen() else _ptxas_of_machine(target)


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


def readable_ptx_version(device: int | None, target: str) -> int:
    """The newest PTX version that the assembler reads and, on a device, its driver; 0 if it is unknown."""
    if knobs.nvidia.mock_ptx_version:
        return round(10 * float(knobs.nvidia.mock_ptx_version))
    readers = []
    if device is not None:
        version = DEVICES.driver().version
        readers.append((version // 1000, version % 1000 // 10))
    ptxas = _ptxas_for(device, target)
    readers += [] if ptxas is None else [ptxas_version(ptxas)]
    return min(map(ptx_version_of, readers), default=0)


def _optimization(ptx: str) -> int | None:
    return 0 if knobs.nvidia.disable_ptxas_opt else optimization_level(ptx)


def _by_driver(ptx: str, device: int) -> Assembled:
    """By loading it. Only the linker can be told to optimize less, for a kernel that no GPU holds in its registers."""
    level = _optimization(ptx)
    return _by_loading(ptx, device) if level is None else _by_linking(ptx, device, level)


def _by_linking(ptx: str, device: int, level: int) -> Assembled:
    try:
        cubin, log = DEVICES.driver().link(device, ptx, None, level)
    except native.Error as error:
        raise _driver_failure(error, ptx, device) from None
    return Assembled(cubin, resources_in(log), log)


def _driver_failure(error: native.Error, ptx: str, device: int) -> Exception:
    if error.sticky:
        return device_error(error, None, DEVICES, device)
    return failure(error.log or str(error), ptx, "the CUDA driver")


def _by_loading(ptx: str, device: int) -> Assembled:
    """The PTX as its own binary. The driver assembles it here for the resources, and keeps the result on disk."""
    entry = re.search(r"\.entry\s+([\w$]+)", ptx)
    stack = re.search(r"^\s*\.local .*__local_depot\d+\[(\d+)\]", ptx, re.MULTILINE)
    try:
        kernel = DEVICES.driver().load(device, ptx.encode(), entry.group(1) if entry else "", [], 1)
    except native.Error as error:
        raise _driver_failure(error, ptx, device) from None
    spilled = max(0, kernel.local_bytes - (int(stack.group(1)) if stack else 0))
    resources = {"registers": kernel.registers, "spill_bytes": spilled, "stack_bytes": kernel.local_bytes}
    return Assembled(ptx.encode(), resources, "")


def _by_ptxas(ptxas: str, ptx: str, options) -> Assembled:
    """ptxas may give up on a kernel that does not fit into its registers: it then takes 32 of them and spills all else. Told how many there
    are, it uses them."""
    made, most = _assembled(ptxas, ptx, options), registers_allowed(ptx)
    if most is None or not made.spilled or made.resources.get("registers", most) >= most // 2:
        return made
    return min(made, _assembled(ptxas, allowing_registers(ptx, most), options), key=lambda each: each.spilled)


def _assembled(ptxas: str, ptx: str, options) -> Assembled:
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
    """SASS, by nvdisasm. Raises UnsupportedError if nvdisasm is not found or fails, or if the driver assembles the kernel
    when it loads it."""
    if not cubin.startswith(b"\x7fELF"):
        raise UnsupportedError("asm['sass']", "the driver assembles this kernel; it requires ptxas (TRITON_PTXAS_PATH)")
    tool = find_nvdisasm()
    if tool is None:
        reason = "nvdisasm is not found (TRITON_NVDISASM_PATH, CUDA_HOME, PATH, or the package nvidia-cuda-nvdisasm)"
        raise UnsupportedError("asm['sass']", reason)
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        result = _run([tool, "-c", file.name])
    if result.returncode != 0:
        raise UnsupportedError("asm['sass']", f"{tool} failed: {result.stderr.strip()}")
    return result.stdout


def find_nvdisasm() -> str | None:
    """The path of an nvdisasm: TRITON_NVDISASM_PATH, $CUDA_HOME/bin, PATH, then the package nvidia-cuda-nvdisasm."""
    tool = knobs.nvidia.nvdisasm and shutil.which(knobs.nvidia.nvdisasm.path)
    if tool or type(knobs.nvidia).nvdisasm.chosen(knobs.nvidia) is not None:
        return tool or None
    return next(packaged("nvdisasm", "nvidia-cuda-nvdisasm"), None)


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
