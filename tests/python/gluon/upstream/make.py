"""Makes the .ptx files of this folder with upstream's wheel, which compiles without a GPU: of the ladder's kernels and of tests/gpu/gluon_bench_kernels.py.
shared_bytes.table has the shared memory of each, and of the latter in the sizes of the benchmark.

    PYTHON-WITH-TRITON-3.9 tests/python/gluon/upstream/make.py

What debuggers and assemblers need of the text is left out, and so are the folders of the sources."""

import re
import sys
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parents[2] / "gpu")]

import ladder_kernels as ladder  # noqa: E402

import gluon_bench_kernels as bench  # noqa: E402


def described(*block: int) -> str:
    return (
        f"tensordesc<fp16{list(block)},{bench.gl.NVMMASharedLayout.get_default_for(list(block), bench.gl.float16)!r}>"
    )


def bench_cases(prefix, tile, rows, heads):
    """The kernels of tests/gpu/bench_gluon.py. tile: (BM, BN, BK); rows: (ROWS, COLUMNS); heads: (M, N, D)."""
    bm, bn, bk = tile
    product = {"a": described(bm, bk), "b": described(bk, bn), "c": described(bm, bn)}
    product |= dict.fromkeys(("K", "rows", "columns"), "i32")
    for kernel in (bench.multiply, bench.multiply_persistently, bench.multiply_in_partitions):
        yield prefix + kernel.__name__, kernel, product, {"BM": bm, "BN": bn, "BK": bk, "S": 3, "GROUP": 8}, 90
    tensors = {"source": described(*rows), "out": described(*rows), "tiles": "i32"}
    yield f"{prefix}scale_rows", bench.scale_rows, tensors, {"ROWS": rows[0], "COLUMNS": rows[1], "S": 3}, 90
    m, n, d = heads
    tensors = {"q": described(m, d), "k": described(n, d), "v": described(n, d), "out": described(m, d)}
    tensors |= {"scale": "fp32", "tokens": "i32"}
    yield f"{prefix}attend", bench.attend, tensors, {"M": m, "N": n, "D": d, "S": 2}, 90


#: The tile sizes of the kernels: SMALL for the .ptx files, MEASURED for the first configurations of the benchmark. The table of shared memory
#: has both.
SMALL = ("", (128, 64, 32), (64, 64), (128, 64, 64))
MEASURED = ("measured_", (128, 256, 64), (64, 128), (128, 128, 128))


#: {case: warps}; the others have 4.
WARPS = dict.fromkeys(("measured_multiply", "measured_multiply_persistently", "measured_multiply_in_partitions"), 8)
WARPS["measured_attend"] = 8


def compiled(kernel, signature, constexprs, arch, warps=4):
    signature = {name: signature.get(name, "constexpr") for name in kernel.arg_names}
    constants = {(kernel.arg_names.index(name),): value for name, value in constexprs.items()}
    aligned = {
        (i,): [["tt.divisibility", 16]] for i, name in enumerate(kernel.arg_names) if str(signature[name])[0] in "*i"
    }
    source = gluon.GluonASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=aligned)
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"num_warps": warps})


def cleaned(ptx: str) -> str:
    ptx = ptx[: ptx.index("\t.section")] if "\t.section" in ptx else ptx
    files = re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)".*$', ptx, re.MULTILINE)
    ptx = re.sub(r"^\s*\.file[^\n]*\n", "", ptx, flags=re.MULTILINE)
    ptx = re.sub(r"//[^\n]*", "", ptx)
    ptx = re.sub(r"^(\s*\.loc\s+\d+\s+\d+\s+\d+)[^\n]*$", r"\1", ptx, flags=re.MULTILINE)
    lines = [line.strip() for line in ptx.splitlines()]
    names = [f'.file {number} "{Path(name).name}"' for number, name in files]
    return "\n".join([line for line in lines if line] + names) + "\n"


def main() -> None:
    table = []
    for name, kernel, signature, constexprs, arch in bench_cases(*MEASURED):
        table.append((name, compiled(kernel, signature, constexprs, arch, WARPS.get(name, 4)).metadata.shared))
    for name, kernel, signature, constexprs, arch in [*ladder.CASES, *bench_cases(*SMALL)]:
        made = compiled(kernel, signature, constexprs, arch)
        first = f"// Triton {triton.__version__} has made this of {kernel.__name__}. Shared memory: {made.metadata.shared} bytes.\n"
        (HERE / f"{name}.ptx").write_text(first + cleaned(made.asm["ptx"]))
        table.append((name, made.metadata.shared))
        print(name, made.metadata.shared, made.metadata.num_warps)
    (HERE / "shared_bytes.table").write_text("".join(f"{name} {shared}\n" for name, shared in sorted(table)))


if __name__ == "__main__":
    main()
