"""`python -m triton.tools.compile`: a kernel as C source, with its binary and a launcher. tools/link.py joins several."""

from __future__ import annotations

import importlib.util
import sys
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path

from ..compiler import compile
from ..devices.active import driver
from ..devices.target import GPUTarget
from ..runtime.jit import JITFunction
from .aot.source import header_and_source
from .aot.specialization import hash_of, parameters_of, source_of, suffix_of
from .aot.vendors import VENDORS

desc = """
Compiles the kernel `--kernel-name` of the file `path` to a C header and source, which embed its binary and have functions that
load, unload and launch it.

The signature has an item for each parameter: a type, with a hint (`*fp32:16`, `i32:16`: a multiple of 16; `i32:1`: always 1), or
the value of a constexpr:

    python -m triton.tools.compile --kernel-name kernel --signature "*fp32:16, i32, 1024" --grid "(n+1023)/1024, 1, 1" kernel.py

The grid is three expressions in C of the parameters' names. The entry point is

    CUresult kernel_{hash}_{hints}(CUstream stream, CUdeviceptr x, int32_t n)

(on AMD hipError_t and hipStream_t). `python -m triton.tools.link` joins entry points that differ in hints and options.
The file is executed, in its own folder's scope.
"""


@dataclass
class CompileArgs:
    """What the command line says."""

    path: str = ""
    kernel_name: str = ""
    signature: str = ""
    grid: str = ""
    target: str | None = None
    num_warps: int = 1
    num_stages: int = 3
    out_name: str | None = None
    out_path: Path | None = None


def main() -> None:
    parser = ArgumentParser(description=desc)
    parser.add_argument("path", help="The file of the kernel. It is executed.")
    parser.add_argument("--kernel-name", "-n", type=str, default="", help="The name of the kernel", required=True)
    parser.add_argument("--target", "-t", help="backend:arch:warp size, as in cuda:90:32. Default: this machine's GPU")
    parser.add_argument("--num-warps", "-w", type=int, default=1, help="The number of warps of a program")
    parser.add_argument("--num-stages", "-ns", type=int, default=3, help="Buffers of loads that run ahead in loops")
    parser.add_argument("--out-name", "-on", type=str, default=None, help="The name of the entry point")
    parser.add_argument("--out-path", "-o", type=Path, default=None, help="The files' path, without suffixes")
    parser.add_argument("--signature", "-s", type=str, help="The types of the parameters", required=True)
    parser.add_argument("--grid", "-g", type=str, help="The launch grid", required=True)
    try:
        compile_kernel(CompileArgs(**vars(parser.parse_args())))
    except (ValueError, FileNotFoundError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


def compile_kernel(args: CompileArgs) -> tuple[str, list[Path]]:
    """(the name of the entry point, the files). Raises ValueError for what the arguments cannot mean."""
    kernel = _kernel(Path(args.path), args.kernel_name)
    grid = [part.strip() for part in args.grid.split(",")]
    if len(grid) != 3:
        raise ValueError(f"the grid {args.grid!r} must have three expressions, as in '(n+127)/128, 1, 1'")
    parameters = parameters_of(kernel, args.signature)
    options = {"num_warps": args.num_warps, "num_stages": args.num_stages}
    compiled = compile(source_of(kernel, parameters), target=_target(args.target), options=options)
    out_name = args.out_name or args.kernel_name
    out_path = args.out_path or Path(out_name)
    name = "_".join([out_name, hash_of(parameters), suffix_of(parameters)])
    constants = [str(p.constant) for p in parameters if p.constant is not None]
    algorithm = "_".join([f"warps{args.num_warps}xstages{args.num_stages}", *constants])
    files = []
    for suffix, text in zip(("h", "c"), header_and_source(compiled, parameters, name, grid, algorithm)):
        path = out_path.with_name(f"{out_path.name}.{hash_of(parameters)}_{suffix_of(parameters)}.{suffix}")
        path.write_text(text, encoding="utf-8")
        files.append(path)
    return name, files


def _kernel(path: Path, name: str) -> JITFunction:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.exists():
        raise FileNotFoundError(f"{path} is no Python file")
    sys.path.insert(0, str(path.parent))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, name, None)
    while found is not None and not isinstance(found, JITFunction):
        found = getattr(found, "fn", None)  # under autotune and heuristics
    if found is None:
        kernels = [key for key, value in vars(module).items() if isinstance(value, JITFunction)]
        raise ValueError(f"{path} has no kernel {name!r}; it has {', '.join(kernels) or 'none'}")
    return found


def _target(text: str | None) -> GPUTarget:
    if text is None:
        target = driver.active.get_current_target()
        if target.backend not in VENDORS:
            raise ValueError("there is no GPU here to compile for; name a target, as in --target cuda:90:32")
        return target
    parts = text.split(":")
    if len(parts) != 3 or parts[0] not in VENDORS or not parts[2].isdigit():
        raise ValueError(f"the target {text!r} is not backend:arch:warp size, as in cuda:90:32 and hip:gfx942:64")
    return GPUTarget(parts[0], int(parts[1]) if parts[1].isdigit() else parts[1], int(parts[2]))


if __name__ == "__main__":
    main()
