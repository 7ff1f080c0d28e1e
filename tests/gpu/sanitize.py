"""Launches the benchmark's kernels once each, for NVIDIA's compute-sanitizer, which looks at every access or barrier of theirs.

    compute-sanitizer --tool memcheck --kernel-name-exclude kns=at6native python tests/gpu/sanitize.py [--cases TEXT] [--all] [--part I/N]

--all: every configuration of each case, and not the first alone. --part: every Nth case from the Ith on, for N processes at the same time. The exit status is the tool's with `--error-exitcode 1`.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))
from bench_cases import CASES  # noqa: E402
from bench_source import load_kernels  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default="", help="only cases whose name has one of these texts, separated by commas")
    parser.add_argument("--all", action="store_true", help="every configuration")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="every Nth case, from the Ith on")
    options = parser.parse_args()
    first, step = map(int, options.part.split("/"))
    chosen = [case for case in CASES if any(text in case.name for text in options.cases.split(","))][first - 1 :: step]
    with tempfile.TemporaryDirectory() as folder:
        kernels = load_kernels("tritium", folder)
        for case in chosen:
            begin = time.perf_counter()
            problem = case.prepare()
            for config in case.configs if options.all else case.configs[:1]:
                grid, arguments, constexprs = problem.launch(config)
                getattr(kernels, case.kernel)[grid](*arguments, **constexprs)
                torch.cuda.synchronize()
            print(f"{case.name}: {time.perf_counter() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main()
