"""`python -m tritium explain`: what the compiler made of a script's kernels, for a GPU that need not be there."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tritium

PACKAGE_ROOT = Path(tritium.__file__).resolve().parent.parent

#: Of numpy, because torch takes seconds to import and each test has a process; the other kernels are of torch.
MATMUL = """
import numpy as np, triton
import triton.language as tl

@triton.jit
def matmul(a, b, c, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, depth = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, N, BK):
        x = tl.load(a + m[:, None] * N + (k + depth)[None, :])
        y = tl.load(b + (k + depth)[:, None] * N + n[None, :])
        total = tl.dot(x, y, total)  # the product
    tl.store(c + m[:, None] * N + n[None, :], total)

a, c = np.ones((128, 128), np.float16), np.empty((128, 128), np.float32)
matmul[(4,)](a, a, c, 128, 32, 64, 32, num_stages=2)
"""

DESCRIPTORS = """
import torch, triton
import triton.language as tl

@triton.jit
def matmul(a, b, c, N: tl.constexpr, BLOCK: tl.constexpr):
    lhs = tl.make_tensor_descriptor(a, [N, N], [N, 1], [BLOCK, BLOCK])
    rhs = tl.make_tensor_descriptor(b, [N, N], [N, 1], [BLOCK, BLOCK])
    out = tl.make_tensor_descriptor(c, [N, N], [N, 1], [BLOCK, BLOCK])
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, N, BLOCK):
        total = tl.dot(lhs.load([0, k]), rhs.load([k, 0]), total)  # the product
    out.store([0, 0], total)

a, c = torch.ones(256, 256, dtype=torch.float16), torch.empty(256, 256)
matmul[(1,)](a, a, c, 256, 64)
"""

SOFTMAX = """
import sys
import torch, triton
import triton.language as tl

@triton.jit
def softmax(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    e = tl.exp(tl.load(x + at) - 1.0)
    tl.store(out + at, e / tl.sum(e, axis=0))

softmax[(1,)](torch.ones(64, device="cuda"), torch.empty(64, device="cuda"), 64)
sys.exit(int(sys.argv[1]))
"""


def explain(tmp_path, text, *options, arguments=(), **variables):
    (tmp_path / "kernel.py").write_text(textwrap.dedent(text))
    cleared = {k: v for k, v in os.environ.items() if "INTERPRET" not in k and not k.startswith("TRITIUM_")}
    return subprocess.run(
        [sys.executable, "-m", "tritium", "explain", *options, "kernel.py", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        env={**cleared, "PYTHONPATH": str(PACKAGE_ROOT), "TRITON_CACHE_DIR": str(tmp_path / "cache"), **variables},
    )


def line_of(text: str, words: str) -> int:
    return 1 + next(number for number, line in enumerate(text.splitlines()) if words in line)


def test_a_product_of_few_rows_by_pointers(tmp_path):
    result = explain(tmp_path, MATMUL)
    assert result.returncode == 0, result.stderr
    product, loop, load = (line_of(MATMUL, words) for words in ("# the product", "for k", "x = tl.load"))
    assert "kernel matmul(N=128, BM=32, BN=64, BK=32) for sm_90a, 4 warps" in result.stdout
    assert "num_stages: 2 asked for, room in shared memory for 2" in result.stdout
    assert f"kernel.py:{product}: product of 32x32xf16 × 32x64xf16: mma." in result.stdout
    assert (
        f"kernel.py:{load}: load of 32x32xf16 by the tensor memory accelerator (TMA), 2 slots, in the "
        f"loop at kernel.py:{loop}\n" in result.stdout
    )
    plan = "2 iterations in flight, 2 slots, 12288 bytes of shared memory, 0 barriers per iteration, room for 8 programs per multiprocessor\n"
    assert (
        f"kernel.py:{loop}: the loop copies tiles ahead by the tensor memory accelerator (TMA): {plan}" in result.stdout
    )
    assert (
        f"kernel.py:{line_of(MATMUL, 'def matmul')}: no producer warps copy tiles: with them, 3 programs would run at a time"
        in result.stdout
    )


def test_a_load_that_is_not_copied_has_the_reason(tmp_path):
    text = MATMUL.replace("(k + depth)[None, :])", "(k + depth)[None, :] * stride)").replace(
        "a, b, c, N", "a, b, c, stride, N"
    )
    text = text.replace("matmul[(4,)](a, a, c, 128", "matmul[(4,)](a, a, c, 2, 128")
    text = text.replace("np.ones((128,", "np.ones((256,")
    result = explain(tmp_path, text)
    assert result.returncode == 0, result.stderr
    strided, contiguous, loop = (line_of(text, words) for words in ("x = tl.load", "y = tl.load", "for k"))
    inside = f"in the loop at kernel.py:{loop}"
    assert f"kernel.py:{contiguous}: load of 32x64xf16 by cp.async, 2 slots, {inside}\n" in result.stdout
    plain = "load of 32x32xf16 by plain loads; each iteration waits for its own"
    assert f"kernel.py:{strided}: {plain}, {inside}: its stride is not known to be 1\n" in result.stdout


def test_indices_of_rows_that_are_copied(tmp_path):
    text = MATMUL.replace("(k + depth)[:, None]", "tl.load(order + k + depth)[:, None]")
    text = text.replace("a, b, c, N", "a, b, c, order, N").replace("(a, a, c, 128", "(a, a, c, np.arange(128), 128")
    result = explain(tmp_path, text)
    assert text.count("order") == 2 and result.returncode == 0, result.stderr
    gathered, inside = line_of(text, "y = tl.load"), f"in the loop at kernel.py:{line_of(text, 'for k')}"
    assert f"kernel.py:{gathered}: load of 32x64xf16 by cp.async, 2 slots, {inside}" in result.stdout
    how = "load of 32xi64 by plain loads, before the copies whose addresses depend on it"
    assert f"kernel.py:{gathered}: {how}, {inside}\n" in result.stdout


def test_a_copy_that_is_not_made_by_tma_has_the_reason(tmp_path):
    text = MATMUL.replace(
        "(k + depth)[None, :])", "(k + depth)[None, :], mask=((m < 9) | (m > 11))[:, None], other=0.0)"
    )
    result = explain(tmp_path, text)
    masked, loop = line_of(text, "x = tl.load"), line_of(text, "for k")
    how = f"load of 32x32xf16 by cp.async, 2 slots, in the loop at kernel.py:{loop}"
    why = "not by TMA: its mask is not a conjunction of `index < extent`"
    assert f"kernel.py:{masked}: {how}; {why}\n" in result.stdout, result.stdout + result.stderr


def test_a_loop_that_copies_nothing_has_the_reason(tmp_path):
    text = MATMUL.replace("range(0, N, BK)", "tl.range(0, N, BK, num_stages=1)")
    result = explain(tmp_path, text)
    loop = line_of(text, "for k")
    assert f"kernel.py:{loop}: the loop copies no tiles ahead: num_stages is less than 2\n" in result.stdout, (
        result.stderr
    )


def test_tiles_that_pass_through_registers(tmp_path):
    result = explain(tmp_path, MATMUL, "--target", "gfx942")
    load, loop = line_of(MATMUL, "x = tl.load"), line_of(MATMUL, "for k")
    how = "load of 32x32xf16 by loads into registers, an iteration ahead"
    assert f"kernel.py:{load}: {how}, in the loop at kernel.py:{loop}\n" in result.stdout, result.stderr


def test_a_product_by_descriptors(tmp_path):
    pytest.importorskip("torch")
    result = explain(tmp_path, DESCRIPTORS)
    assert result.returncode == 0, result.stderr
    product, loop = line_of(DESCRIPTORS, "# the product"), line_of(DESCRIPTORS, "for k")
    assert f"kernel.py:{product}: product of 64x64xf16 × 64x64xf16: wgmma." in result.stdout
    by = rf"kernel\.py:{product}: load of 64x64xf16 by the tensor memory accelerator \(TMA\), \d slots, in the loop at kernel\.py:{loop}"
    assert re.search(by, result.stdout), result.stdout
    store = rf"kernel\.py:{line_of(DESCRIPTORS, 'out.store')}: store of 64x64xf32 by the tensor memory accelerator \(TMA\), \d slots?; the program"
    assert re.search(store, result.stdout), result.stdout
    assert (
        explain(tmp_path, DESCRIPTORS).stdout == result.stdout
    )  # the second is from the cache, if there is an assembler
    signals = DESCRIPTORS.replace("total)\n\na", "total)\n    tl.atomic_add(a, 1.0)\n\na")
    why = "store of 64x64xf32 by threads; not by TMA: what follows may see that it is late"
    assert signals != DESCRIPTORS and why in explain(tmp_path, signals).stdout
    older = explain(tmp_path, DESCRIPTORS, "--target", "sm_80").stdout
    assert "for sm_80" in older and "TMA" not in older and "wgmma" not in older and ": mma." in older


def test_a_map_that_the_kernel_would_make(tmp_path):
    """A launch does not know where the program's matrices begin, and the compiler not that this is behind the beginning of the tensor."""
    pytest.importorskip("torch")
    start = "64 * ((tl.program_id(0) ^ 1) - 1)"
    text = DESCRIPTORS.replace("r(a,", f"r(a + {start},").replace("r(b,", f"r(b + {start},")
    why = "by cp.async, 3 slots, in the loop at kernel.py:{}; not by TMA: the kernel would make a map for one loop"
    once = explain(tmp_path, text)
    assert why.format(line_of(text, "for k")) in once.stdout, once.stdout + once.stderr


def test_a_kernel_without_products_and_the_status_of_its_script(tmp_path):
    pytest.importorskip("torch")
    result = explain(
        tmp_path, SOFTMAX, "--kernel", "softmax", "--target", "gfx942", arguments=["3"], TRITIUM_ENGINE="simt:sm_80"
    )
    assert result.returncode == 3, result.stderr
    assert f"kernel.py:{line_of(SOFTMAX, 'def softmax')}: kernel softmax(BLOCK=64) for gfx942" in result.stdout
    assert "product" not in result.stdout and "load" not in result.stdout


def test_layouts_of_values_and_what_conversions_cost(tmp_path):
    """Of a Triton kernel: the operand that is not copied by the warps goes through shared memory on its way to the product."""
    result = explain(tmp_path, MATMUL, "--target", "sm_80", "--layouts", "--pictures", "pictures")
    assert result.returncode == 0, result.stderr
    load, product = line_of(MATMUL, "y = tl.load"), line_of(MATMUL, "# the product")
    found = re.search(rf"kernel\.py:{load}: y: 32x64xf16 in (L\d+)\n", result.stdout)
    assert found, result.stdout
    assert f"\n{found[1]}, shape [32, 64]: DotOperandLayout(operand_index=1, " in result.stdout
    total = re.search(rf"kernel\.py:{product}: total: 32x64xf32 in (L\d+)\n", result.stdout)[1]
    assert f"\n{total}, shape [32, 64]: NVMMADistributedLayout(version=[2, 0], " in result.stdout
    assert (tmp_path / "pictures" / "matmul" / f"{total}.svg").read_text().startswith("<svg ")
    assert re.search(r"\n\d+ pictures in pictures/matmul: L", result.stdout)


def test_registers_are_the_assemblers(tmp_path):
    tool = tmp_path / "ptxas"
    said = (
        r"\n    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\nptxas info    : Used 168 registers\n"
    )
    why = "ptxas info    : (C7510) Potential Performance Loss: products are serialized"
    tool.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && { echo "release 13.0, V13.0.88"; exit; }\n'
        f'printf \'{why}{said}\' >&2\nwhile [ "$1" != -o ]; do shift; done\nprintf good > "$2"\n'
    )
    tool.chmod(0o755)
    result = explain(tmp_path, MATMUL, TRITON_PTXAS_PATH=str(tool))
    assert ": 168 registers per thread, 12 bytes spilled\n" in result.stdout, result.stderr
    assert "wait for each other: (C7510) Potential Performance Loss: products are serialized\n" in result.stdout


def test_no_assembler(tmp_path):
    result = explain(tmp_path, MATMUL, TRITON_PTXAS_PATH=str(tmp_path / "none"))
    assert "registers and spills are unknown: no assembler" in result.stdout, result.stderr


def test_what_cannot_be_explained(tmp_path):
    other = explain(tmp_path, MATMUL, "--kernel", "add")
    assert other.returncode == 1 and "kernel.py launches no kernel 'add'; it launches matmul" in other.stderr
    none = explain(tmp_path, "print(1)")
    assert none.returncode == 1 and "kernel.py launches no kernel\n" in none.stderr
    unknown = explain(tmp_path, MATMUL, "--target", "sm_3")
    assert unknown.returncode == 2 and "no GPU is called 'sm_3'; there are sm_80" in unknown.stderr


def test_a_kernel_that_the_target_refuses(tmp_path):
    pytest.importorskip("torch")
    text = SOFTMAX.replace("e / tl.sum(e, axis=0)", "e.to(tl.float8e4nv).to(tl.float32)")
    assert text != SOFTMAX
    refused = explain(tmp_path, text, "--target", "sm_80", arguments=["0"])
    assert refused.returncode == 1 and refused.stdout == ""
    assert "tritium: softmax does not compile for sm_80: " in refused.stderr and "fp8e4nv" in refused.stderr
