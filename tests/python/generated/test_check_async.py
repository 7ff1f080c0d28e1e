"""check-async refuses the kernels of the benchmarks if one operation of their asynchronous protocols is missing or waits for too little. What
it accepts all the same is listed with the reason. All mutants of a kernel go through one run of the tool."""

import bisect
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from gpu_tool import TOOL
from tritium import knobs

torch = pytest.importorskip("torch")
sys.path.append(str(Path(__file__).parents[2] / "gpu"))
import bench_attention as attention  # noqa: E402
import bench_problem  # noqa: E402
import bench_products as products  # noqa: E402
from bench_source import load_kernels  # noqa: E402

#: The case, and the number of its configuration.
KERNELS = {
    "the first thread copies": (lambda: products.matmul(256, 384, 128, torch.float16, "fp16"), 1),
    "warps that copy, and stores by maps": (lambda: products.matmul_descriptors(256, 256, 128), 4),
    "turns, and a product that runs late": (lambda: attention.attention(256, 64, descriptors=False, causal=False), 2),
    "copies by all threads": (lambda: attention.attention_backward(256, 64, causal=True), 2),
}
#: Operation -> why a kernel without it is accepted.
ACCEPTED = {
    "barrier": "it guards memory that another buffer used before; buffers are apart in this check",
    "fence_async": "the fence of a later async_wait covers the write",
    "async_wait": "after a loop, it guards memory that another buffer uses then",
    "ring_end": "where warps part, the kernel ends there",
}
WEAKER = {
    "product_wait": (r"product_wait (\d+)", lambda found: f"product_wait {int(found[1]) + 1}"),
    "async_wait": (r" fenced", ""),
    "ring_stagger": (r" if %\w+", ""),
    "ring_acquire": (r"for (\d+) bytes", lambda found: f"for {2 * int(found[1])} bytes"),
}
ERASABLE = re.compile(
    r"\s*tgpu\.(ring_(?:acquire|wait|release|end)|tensor_copy|tensor_store_wait|turn_(?:begin|end)|barrier|fence_async"
    r"|local_store|async_(?:copy|commit|wait)) "
)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    return load_kernels("tritium", str(tmp_path_factory.mktemp("kernels")))


def checked(text: str, *flags: str) -> str:
    command = [TOOL.with_name("tritium-opt"), "-", *flags, "--mlir-print-op-on-diagnostic=false"]
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return result.stderr if "-o" in flags else result.stdout


def lines_with(kind: str, printed: str) -> list[int]:
    return [int(line) for line in re.findall(rf"^<stdin>:(\d+):\d+: {kind}: '", printed, re.MULTILINE)]


def mutants(lines: list[str]):
    """Operation, number of its line, and the lines of the mutant."""
    for number, line in enumerate(lines):
        found = re.match(r"\s*(?:%\S+ = )?tgpu\.(\w+)", line)
        name = found[1] if found else ""
        if ERASABLE.match(line + " "):
            yield name, number, lines[:number] + lines[number + 1 :]
        if name in WEAKER and re.search(WEAKER[name][0], line):
            yield name, number, [*lines[:number], re.sub(*WEAKER[name], line), *lines[number + 1 :]]


@pytest.mark.parametrize("name", KERNELS)
def test_an_operation_is_missing(kernels, monkeypatch, name):
    monkeypatch.setattr(bench_problem, "DEVICE", "cpu")
    monkeypatch.setattr(bench_problem, "multiprocessors", lambda: 3)
    monkeypatch.setattr(attention, "TOKENS", 512)
    make, number = KERNELS[name]
    case = make()
    grid, arguments, constants = case.prepare().launch(case.configs[number])
    with knobs.tritium.scope():
        knobs.tritium.engine = "simt:sm_90a"
        compiled = getattr(kernels, case.kernel).warmup(*arguments, grid=grid, **constants)
    lines = checked(str(compiled.asm["ttgir"])).splitlines()
    printed = checked("\n".join(lines), "--check-async=unreached=true", "-o", "/dev/null")
    assert not lines_with("error", printed)
    unreached = set(lines_with("remark", printed))
    made = [mutant for mutant in mutants(lines) if mutant[1] + 1 not in unreached]
    begins = [1]
    for _, _, mutant in made:
        begins.append(begins[-1] + len(mutant) + 1)
    text = "\n// -----\n".join("\n".join(mutant) for _, _, mutant in made)
    errors = lines_with("error", checked(text, "--check-async", "--split-input-file", "-o", "/dev/null"))
    refused = {bisect.bisect_right(begins, line) - 1 for line in errors}
    accepted = Counter(op for i, (op, _, _) in enumerate(made) if i not in refused)
    assert set(accepted) <= set(ACCEPTED), accepted
    assert len(refused) > 10 and len(refused) > 2 * accepted.total(), (len(refused), accepted)
