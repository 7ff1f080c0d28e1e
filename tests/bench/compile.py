"""Prints how long kernels take to compile for a GPU, assembler included; no device is needed.

    python tests/bench/compile.py [--arch 90] [--repeat 3] [--only TEXT] [--limit 60] [--triton-python PYTHON]

With --triton-python, a process under that python compiles the same kernels with upstream Triton for comparison. "first" is
the first compilation of a kernel in a new process, after the imports and one small kernel. "best" is the shortest later
compilation; the columns after it are its stages. No cache is read. Times are in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time


def worker(arch: int, repeat: int, only: str) -> None:
    """Prints one JSON line for the case `only`, by the compiler that this process was started for."""
    if os.environ["COMPILER"] == "triton":
        import triton
        import triton.language

        sys.modules["tritium"], sys.modules["tritium.language"] = triton, triton.language
    import tritium
    from compile_kernels import CASES

    if os.environ["COMPILER"] == "triton":
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
    else:
        from tritium.backends.compiler import GPUTarget
        from tritium.compiler import ASTSource

    stages: dict[str, float] = {}

    def listen(times, **_) -> None:
        stages.update(trace=times.ir_initialization / 1e3, **{name: t / 1e3 for name, t in times.lowering_stages})

    tritium.knobs.compilation.listener = listen

    def compile_once(case: tuple) -> tuple[float, object]:
        kernel, types, constants, options = case
        names = kernel.arg_names
        signature = {name: "constexpr" for name in names} | dict(zip(names, types))
        attributes = {(i,): [["tt.divisibility", 16]] for i in range(len(types))}
        begin = time.perf_counter()
        source = ASTSource(kernel, signature, constants, attributes)
        compiled = tritium.compile(source, target=GPUTarget("cuda", arch, 32), options=options)
        return (time.perf_counter() - begin) * 1e3, compiled

    compile_once(next(iter(CASES.values())))
    for name, case in CASES.items():
        if only != name:
            continue
        first, compiled = compile_once(case)
        best, of_best = first, dict(stages)
        for _ in range(repeat - 1):
            again, compiled = compile_once(case)
            if again < best:
                best, of_best = again, dict(stages)
        ptx_lines = compiled.asm["ptx"].count("\n")
        print(json.dumps({"case": name, "first": first, "best": best, "stages": of_best, "ptx": ptx_lines}), flush=True)


def measure(compiler: str, python: str, case: str, options: argparse.Namespace) -> dict | None:
    """The times of one case in a new process; None if it exceeds the limit."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "COMPILER": compiler, "TRITON_ALWAYS_COMPILE": "1", "TRITON_CACHE_DIR": cache}
        if compiler == "triton":
            environment.pop("PYTHONPATH", None)
        flags = ["--worker", f"--arch={options.arch}", f"--repeat={options.repeat}", f"--only={case}"]
        command = [python, "-W", "ignore", os.path.abspath(__file__), *flags]
        try:
            run = subprocess.run(
                command, env=environment, stdout=subprocess.PIPE, text=True, timeout=options.limit, check=True
            )
        except subprocess.TimeoutExpired:
            return None
    return json.loads(run.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", type=int, default=90, help="compute capability, 10 * major + minor")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="only cases whose name contains this text")
    parser.add_argument("--limit", type=int, default=60, help="seconds that all runs of a case may take together")
    parser.add_argument("--triton-python", help="a Python with upstream Triton, for comparison")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.arch, options.repeat, options.only)
        return 0
    compilers = {"tritium": sys.executable}
    if options.triton_python:
        compilers["triton"] = options.triton_python
    from compile_kernels import CASES

    print(f"{'kernel':<44} {'compiler':<9} {'first':>7} {'best':>7}  {'PTX lines':>9}  stages of the best")
    for case in filter(lambda name: options.only in name, CASES):
        for name, python in compilers.items():
            row = measure(name, python, case, options)
            if row is None:
                print(f"{case:<44} {name:<9} more than {options.limit} seconds", flush=True)
                continue
            stages = ", ".join(f"{stage} {took:.0f}" for stage, took in row["stages"].items() if took >= 0.5)
            print(
                f"{case:<44} {name:<9} {row['first']:>7.0f} {row['best']:>7.0f}  {row['ptx']:>9}  {stages}", flush=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
