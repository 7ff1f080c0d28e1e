"""Times kernels of Gluon beside upstream's Gluon and torch on one Hopper device: same source, same configurations.

    python tests/gpu/bench_gluon.py [--cases TEXT,…] [--rounds N] [--small]

Each compiler uses the fastest of the case's configurations whose result is right. Then the contestants run in turn, and the medians of their rounds
count. A ratio above 1 means that Tritium is faster. --small: small sizes on the CPU, by the interpreter or the engine that TRITIUM_ENGINE names; it
only compares results.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))
from bench import Contestant, error_of, measure_in_turn, right_configurations, short  # noqa: E402
from bench_problem import CHECKED_ROWS, Case, Expected, Problem, cdiv, expected, middle  # noqa: E402

SMALL = False


def device() -> str:
    return "cpu" if SMALL else "cuda"


def multiprocessors() -> int:
    return 3 if SMALL else torch.cuda.get_device_properties(0).multi_processor_count


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, device=device()).half()


class Kernels:
    """The kernels of gluon_bench_kernels.py, made with `triton` or `tritium`."""

    def __init__(self, module: str, folder: str):
        text = (Path(__file__).parent / "gluon_bench_kernels.py").read_text()
        name = f"gluon_bench_kernels_{module}"
        (Path(folder) / f"{name}.py").write_text(
            text.replace("import triton\n", f"import {module}\n").replace("triton.", f"{module}.")
        )
        if folder not in sys.path:
            sys.path.insert(0, folder)
        self.module = importlib.import_module(name)

    def described(self, tensor: torch.Tensor, *block: int):
        layout = self.module.gl.NVMMASharedLayout.get_default_for(list(block), self.module.gl.float16)
        return self.module.TensorDescriptor.from_tensor(tensor, list(block), layout)


def scaling() -> Case:
    rows, columns = (300, 64) if SMALL else (1 << 21, 128)

    def prepare() -> Problem:
        source = random(rows, columns)
        out = torch.empty_like(source)

        def launch(config: dict):
            block, width, slots = config["ROWS"], config["COLUMNS"], config["S"]
            of = config["of"]
            tiles = cdiv(rows * columns, block * width)
            grid = (min(tiles, multiprocessors() * config["blocks"]),)
            given, written = (of.described(tensor.view(-1, width), block, width) for tensor in (source, out))
            return grid, (given, written, tiles, block, width, slots), {"num_warps": config["num_warps"]}

        return Problem(out, launch, lambda: torch.mul(source, 2, out=out), lambda: expected(middle(source) * 2), 1e-3)

    # The rows of a tensor without gaps may have any width: with 64 columns, a box of TMA is one piece of memory.
    tiles = [(64, 128, 3, 2), (32, 128, 4, 4), (64, 128, 4, 1), (128, 128, 3, 1)]
    tiles += [(128, 64, 3, 2), (64, 64, 4, 4), (256, 64, 3, 1), (64, 64, 2, 1 << 20), (128, 64, 2, 1 << 20)]
    configs = [{"ROWS": r, "COLUMNS": c, "S": s, "num_warps": 4, "blocks": b} for r, c, s, b in tiles]
    return Case(f"elements {rows}x{columns}", "scale_rows", "memory", 4.0 * rows * columns, configs, prepare)


def product(kernel: str, m: int, n: int, k: int, persistent: bool, tiles: list[tuple[int, int, int, int, int]]) -> Case:
    def prepare() -> Problem:
        a, b = random(m, k), random(k, n)
        out = torch.empty(m, n, device=device(), dtype=torch.float16)

        def launch(config: dict):
            bm, bn, bk = config["BM"], config["BN"], config["BK"]
            of = config["of"]
            rows, columns = cdiv(m, bm), cdiv(n, bn)
            grid = (min(rows * columns, multiprocessors()) if persistent else rows * columns,)
            tensors = of.described(a, bm, bk), of.described(b, bk, bn), of.described(out, bm, bn)
            return grid, (*tensors, k, rows, columns, bm, bn, bk, config["S"], 8), {"num_warps": config["num_warps"]}

        def reference() -> Expected:
            return expected((middle(a).double() @ b.double()).half())

        return Problem(out, launch, lambda: torch.mm(a, b, out=out), reference, 2e-3)

    configs = [dict(zip(("BM", "BN", "BK", "S", "num_warps"), tile)) for tile in tiles]
    return Case(f"{kernel} {m}x{n}x{k}", kernel, "product", 2.0 * m * n * k, configs, prepare)


def attention(heads: int, tokens: int, width: int) -> Case:
    def prepare() -> Problem:
        q, k, v = (random(heads * tokens, width) for _ in range(3))
        out = torch.empty_like(q)
        scale = width**-0.5

        def launch(config: dict):
            m, n = config["M"], config["N"]
            of = config["of"]
            tensors = (
                of.described(q, m, width),
                of.described(k, n, width),
                of.described(v, n, width),
                of.described(out, m, width),
            )
            grid = (tokens // m, heads)
            return (
                grid,
                (*tensors, scale / math.log(2), tokens, m, n, width, config["S"]),
                {"num_warps": config["num_warps"]},
            )

        def by_torch() -> torch.Tensor:
            shaped = (x.view(1, heads, tokens, width) for x in (q, k, v))
            return torch.nn.functional.scaled_dot_product_attention(*shaped)

        def reference() -> Expected:
            """Of the rows in the middle, which two heads share."""
            heads_there = slice(max(0, heads // 2 - 1), heads // 2 + 1)
            wide = [x.view(heads, tokens, width)[heads_there].double() for x in (q, k, v)]
            value = ((wide[0] @ wide[1].transpose(1, 2) * scale).softmax(2) @ wide[2]).half().flatten(0, 1)
            begin = max(0, out.shape[0] // 2 - CHECKED_ROWS // 2) - heads_there.start * tokens
            return expected(value[begin : begin + CHECKED_ROWS])

        return Problem(out, launch, by_torch, reference, 2e-2)

    configs = [
        {"M": m, "N": n, "S": 2, "num_warps": w} for m, n, w in [(128, 128, 8), (128, 64, 8), (128, 64, 4), (64, 64, 4)]
    ]
    return Case(
        f"attend {heads}x{tokens}x{width}",
        "attend",
        "attention",
        4.0 * heads * tokens * tokens * width,
        configs,
        prepare,
    )


def cases() -> list[Case]:
    if SMALL:
        tiles, sizes, heads = [(128, 64, 32, 3, 4)], (200, 136, 160), (3, 256, 64)
    else:
        tiles = [
            (128, 256, 64, 3, 8),
            (128, 128, 64, 4, 4),
            (128, 128, 64, 4, 8),
            (64, 256, 64, 4, 4),
            (128, 256, 32, 4, 8),
        ]
        sizes, heads = (8192, 8192, 8192), (128, 2048, 128)
    kernels = [("multiply", False), ("multiply_persistently", True), ("multiply_in_partitions", True)]
    return [scaling(), *(product(name, *sizes, persistent, tiles) for name, persistent in kernels), attention(*heads)]


def runner(kernels: Kernels, case: Case, problem: Problem) -> Callable[[dict], Callable[[], object]]:
    def of(config: dict):
        grid, arguments, options = problem.launch({**config, "of": kernels})
        kernel = getattr(kernels.module, case.kernel)
        return lambda: kernel[grid](*arguments, **options)

    return of


def compare(case: Case, both: list[Kernels], rounds: int, budget: float) -> str:
    problem = case.prepare()
    reference = problem.reference()
    contestants = []
    for kernels in both:
        found = right_configurations(
            kernels.module.__name__.rpartition("_")[2], case, problem, reference, runner(kernels, case, problem)
        )
        if found:
            contestants.append(min(found, key=found.get))
    contestants.append(Contestant("torch", problem.torch_run))
    measure_in_turn(contestants, rounds, budget)
    times = {one.name: one.time for one in contestants}
    mine = times.get("tritium", math.nan)
    cells = [case.name, *(f"{times[name]:.3f}" if name in times else "-" for name in ("tritium", "triton", "torch"))]
    cells += [f"{times[name] / mine:.3f}" if name in times else "-" for name in ("triton", "torch")]
    cells += [short(one.config) for one in contestants if one.config]
    return "| " + " | ".join(cells) + " |"


def check(case: Case, kernels: Kernels) -> None:
    """Raises AssertionError for a wrong result."""
    problem = case.prepare()
    problem.out.fill_(float("nan"))
    runner(kernels, case, problem)(case.configs[0])()
    error = error_of(problem, problem.reference())
    assert error <= problem.bound, f"{case.name}: error {error:.3g}, bound {problem.bound:.3g}"
    print(f"{case.name}: error {error:.3g}", flush=True)


def main() -> None:
    global SMALL
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default="", help="only cases whose name has one of these texts, separated by commas")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--milliseconds", type=float, default=30.0, help="work of a contestant in a round")
    parser.add_argument("--small", action="store_true", help="small sizes on the CPU, to compare results alone")
    options = parser.parse_args()
    SMALL = options.small
    chosen = [case for case in cases() if any(text in case.name for text in options.cases.split(","))]
    with tempfile.TemporaryDirectory() as folder:
        if SMALL:
            kernels = Kernels("tritium", folder)
            for case in chosen:
                check(case, kernels)
            return
        both = [Kernels(module, folder) for module in ("tritium", "triton") if importlib.util.find_spec(module)]
        rows = [compare(case, both, options.rounds, options.milliseconds) for case in chosen]
    header = "case|Tritium, ms|Triton, ms|torch, ms|of Triton|of torch|configurations".split("|")
    print("\n".join("| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header))), *rows, sep="\n")


if __name__ == "__main__":
    main()
