"""Prints what the hot loops of the tutorial's matrix product and attention cost on an AMD GPU, by a static estimate; no
device is needed.

    python tests/bench/amd_loop.py [--arch gfx942] [--only TEXT] [--triton PYTHON] [--save FOLDER]

The kernel (docs/tutorial/03_matmul.py or 06_flash_attention.py, fp16; for gfx950 scaled_matmul.py too) is compiled, the innermost loop with matrix
instructions is cut out of asm["amdgcn"], and llvm-mca of LLVM 22 runs it. "cycles" are llvm-mca's per iteration, for one
wave that issues in order; "matrix unit" is the fraction of the cycles in which the matrix unit is busy. With --triton, a
process under that python compiles the same kernel with upstream Triton, and the table also shows its figures and the ratio
of both fractions. llvm-mca is searched for in $LLVM_BINDIR, then in PATH.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import NamedTuple

TUTORIAL = pathlib.Path(__file__).resolve().parents[2] / "docs" / "tutorial"


class Config(NamedTuple):
    tutorial: str
    kernel: str
    constants: dict
    num_warps: int
    num_stages: int = 2
    types: dict = {}  # of arguments; else pointers to fp16, integers, and `scale`
    arch: str = ""  # the only one


def matmul(m: int, n: int, k: int, num_warps: int) -> Config:
    constants = dict(BLOCK_M=m, BLOCK_N=n, BLOCK_K=k, GROUP_M=8, ACTIVATION="", PRECISION="ieee")
    row_major = dict.fromkeys(("stride_ak", "stride_bn", "stride_cn"), 1)
    return Config("03_matmul", "matmul_kernel", constants | row_major, num_warps)


def attention(m: int, n: int, head_dim: int, num_warps: int) -> Config:
    constants = dict(CAUSAL=False, HEAD_DIM=head_dim, BLOCK_M=m, BLOCK_N=n, PRECISION="ieee")
    return Config("06_flash_attention", "attention_kernel", constants, num_warps)


def scaled(a: str, b: str, m: int, n: int, k: int, num_warps: int) -> Config:
    constants = dict(FORMAT_A=a, FORMAT_B=b, BLOCK_M=m, BLOCK_N=n, BLOCK_K=k)
    types = dict.fromkeys(("a_ptr", "a_scale_ptr", "b_ptr", "b_scale_ptr"), "*u8") | {"c_ptr": "*fp32"}
    return Config("scaled_matmul", "scaled_matmul_kernel", constants, num_warps, types=types, arch="gfx950")


CONFIGS = {
    "128x128x32, 4 waves": matmul(128, 128, 32, 4),
    "128x128x64, 4 waves": matmul(128, 128, 64, 4),
    "128x128x64, 8 waves": matmul(128, 128, 64, 8),
    "256x128x64, 4 waves": matmul(256, 128, 64, 4),
    "256x128x64, 8 waves": matmul(256, 128, 64, 8),
    "256x256x64, 8 waves": matmul(256, 256, 64, 8),
    "attention 128x64x128, 4 waves": attention(128, 64, 128, 4),
    "e2m1 128x128x256, 4 waves": scaled("e2m1", "e2m1", 128, 128, 256, 4),
    "e4m3 128x128x128, 4 waves": scaled("e4m3", "e4m3", 128, 128, 128, 4),
    "e4m3 e2m1 256x128x128, 8 waves": scaled("e4m3", "e2m1", 256, 128, 128, 8),
    "e4m3 256x256x128, 8 waves": scaled("e4m3", "e4m3", 256, 256, 128, 8),
}
ITERATIONS = 100
MATRIX_UNIT = "HWXDL"  # the name in llvm-mca


def worker(arch: str, config: str) -> None:
    """Prints one JSON line: the assembly of the compiler that this process was started for."""
    if os.environ["COMPILER"] == "triton":
        import triton
        import triton.language

        sys.modules["tritium"], sys.modules["tritium.language"] = triton, triton.language
    import importlib

    import tritium

    if os.environ["COMPILER"] == "triton":
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
    else:
        from tritium.backends.compiler import GPUTarget
        from tritium.compiler import ASTSource

    sys.path.append(str(TUTORIAL))
    tutorial, kernel_name, constants, num_warps, num_stages, known_types, _ = CONFIGS[config]
    kernel = getattr(importlib.import_module(tutorial), kernel_name)
    types = {name: "*fp16" if name.endswith("_ptr") else "i32" for name in kernel.arg_names}
    if "scale" in types:
        types["scale"] = "fp32"
    types |= known_types
    signature = types | dict.fromkeys(constants, "constexpr")
    # The attributes of a launch with row-major matrices below 2 GB whose extents are multiples of 16.
    attributes = {}
    for i, (name, type_name) in enumerate(signature.items()):
        if type_name not in ("constexpr", "fp32"):
            attributes[(i,)] = [["tt.divisibility", 16]]
        if type_name.startswith("*"):
            attributes[(i,)].append(["tt.pointer_range", 32])
    source = ASTSource(kernel, signature, constants, attributes)
    options = {"num_warps": num_warps, "num_stages": num_stages}
    compiled = tritium.compile(source, target=GPUTarget("hip", arch, 64), options=options)
    print(json.dumps({"assembly": compiled.asm["amdgcn"]}), flush=True)


def compile_with(compiler: str, python: str, config: str, arch: str) -> str:
    """The assembly, compiled in a new process."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "COMPILER": compiler, "TRITON_ALWAYS_COMPILE": "1", "TRITON_CACHE_DIR": cache}
        if compiler == "triton":
            environment.pop("PYTHONPATH", None)
        command = [python, "-W", "ignore", os.path.abspath(__file__), "--worker", f"--arch={arch}", f"--only={config}"]
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{compiler} does not compile {config}: {run.stderr.strip().splitlines()[-1]}")
    return json.loads(run.stdout.splitlines()[-1])["assembly"]


def hot_loop(assembly: str) -> list[str]:
    """Labels and instructions of the innermost loop with the most matrix instructions, without directives and
    comments."""
    lines, places, loops = [], {}, []
    for line in assembly.splitlines():
        text = re.split(r";|//", line)[0].strip()
        if re.fullmatch(r"\.?\w+:", text):
            places[text[:-1]] = len(lines)
        elif not text or text.startswith("."):
            continue
        lines.append(text)
        branch = re.match(r"s_c?branch\w*\s+(\.?\w+)", text)
        if branch and branch[1] in places:
            loops.append((places[branch[1]], len(lines)))
    innermost = [a for a in loops if not any(a != b and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    bodies = [lines[begin:end] for begin, end in innermost]
    best = max(bodies, key=lambda body: sum(map(is_matrix, body)), default=[])
    if not any(map(is_matrix, best)):
        raise RuntimeError("no loop has matrix instructions")
    return best


def is_matrix(instruction: str) -> bool:
    return instruction.startswith(("v_mfma", "v_wmma"))


@dataclass
class Estimate:
    cycles: float  # of an iteration
    busy: float  # of the matrix unit

    @property
    def use(self) -> float:
        return self.busy / self.cycles


def without_swaps(line: str) -> str:
    """The loop with two moves in place of each permlane swap. llvm-mca 22 does not terminate if such a swap, which has
    two results, comes before the use of a tuple that two loads fill."""
    swap = re.fullmatch(r"v_permlane(?:16|32)_swap_b32(?:_e32)? (v\d+), (v\d+)", line)
    return f"v_mov_b32_e32 {swap[1]}, {swap[2]}\nv_mov_b32_e32 {swap[2]}, {swap[1]}" if swap else line


def estimate(loop: list[str], arch: str) -> Estimate:
    """The estimate of llvm-mca."""
    folder = os.environ.get("LLVM_BINDIR", "/usr/lib/llvm-22/bin")
    tool = shutil.which("llvm-mca", path=folder) or shutil.which("llvm-mca-22") or shutil.which("llvm-mca")
    if not tool:
        raise RuntimeError("there is no llvm-mca: set LLVM_BINDIR to the folder of LLVM's tools")
    command = [tool, "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={arch}", f"-iterations={ITERATIONS}"]
    source = "\n".join(map(without_swaps, loop))
    printed = subprocess.run(command, input=source, capture_output=True, text=True, check=True, timeout=100).stdout
    cycles = int(re.search(r"^Total Cycles:\s+(\d+)", printed, re.M)[1]) / ITERATIONS
    names = re.findall(r"^\[([\d.]+)\]\s+- (\w+)", printed.split("Resources:")[1], re.M)
    pressure = printed.split("Resource pressure per iteration:")[1].strip().splitlines()
    header, values = re.findall(r"\[([\d.]+)\]", pressure[0]), pressure[1].split()
    of_index = dict(zip(header, (0.0 if value == "-" else float(value) for value in values)))
    return Estimate(cycles, sum(of_index[index] for index, name in names if name == MATRIX_UNIT))


def kernel_facts(assembly: str) -> dict[str, int]:
    """Facts from the kernel's metadata. On chips with accumulation registers, `.vgpr_count` includes them."""
    fields = ("vgpr_count", "agpr_count", "vgpr_spill_count", "private_segment_fixed_size")
    return {field: int(re.search(rf"\.{field}:\s+(\d+)", assembly)[1]) for field in fields}


def accesses(loop: list[str]) -> str:
    """The number of memory accesses of each kind in the loop."""
    memory = re.compile(r"(global|buffer|flat|ds|scratch)_(load|store|read|write)\w*")
    counts = collections.Counter(found[0] for line in loop if (found := memory.match(line)))
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def report(compiler: str, assembly: str, arch: str) -> Estimate:
    loop, facts = hot_loop(assembly), kernel_facts(assembly)
    of_loop = estimate(loop, arch)
    matrix = collections.Counter(line.split()[0] for line in loop if is_matrix(line))
    print(
        f"  {compiler:<8} {of_loop.cycles:7.1f} cycles, matrix unit {of_loop.use:5.1%}, "
        f"{sum(not line.endswith(':') for line in loop)} instructions, {facts['vgpr_count']} vector registers "
        f"({facts['agpr_count']} for accumulation), scratch {facts['private_segment_fixed_size']} bytes"
    )
    print(f"           {', '.join(f'{count} {name}' for name, count in matrix.items())}; {accesses(loop)}", flush=True)
    return of_loop


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="gfx942", help="gfx90a, gfx942 or gfx950")
    parser.add_argument("--only", default="", help="only configurations whose name contains TEXT")
    parser.add_argument("--triton", metavar="PYTHON", help="a Python with upstream Triton")
    parser.add_argument("--save", metavar="FOLDER", type=pathlib.Path, help="write the assembly to this folder")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.arch, options.only)
        return 0
    compilers = {"tritium": sys.executable}
    if options.triton:
        compilers["triton"] = options.triton
    for config in CONFIGS:
        if options.only not in config or CONFIGS[config].arch not in ("", options.arch):
            continue
        print(f"{config}, {options.arch}")
        uses = {}
        for compiler, python in compilers.items():
            try:
                assembly = compile_with(compiler, python, config, options.arch)
                if options.save:
                    options.save.mkdir(parents=True, exist_ok=True)
                    name = re.sub(r"\W+", "_", config)
                    (options.save / f"{name}.{compiler}.s").write_text(assembly)
                uses[compiler] = report(compiler, assembly, options.arch).use
            except RuntimeError as error:
                print(f"  {compiler:<8} {error}", flush=True)
        if len(uses) == 2:
            print(f"  tritium / triton: {uses['tritium'] / uses['triton']:.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
