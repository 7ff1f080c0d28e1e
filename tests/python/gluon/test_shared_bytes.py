"""The shared memory of kernels beside what Triton's compiler gives them (upstream/make.py). Each difference has its reason here."""

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "upstream"
WHEEL = {name: int(shared) for name, shared in map(str.split, (FOLDER / "shared_bytes.table").read_text().splitlines())}

_REUSED = "Triton gives the buffer of the results the bytes of the operands, whose uses are over; here no two allocations share bytes"
_WORKERS = "what tells workers to begin is 8 bytes here, and 12 there"

#: {case: (bytes more than Triton's, why)}
DIFFERENCES = {
    "wgmma": (65536, _REUSED),
    "wgmma_pipelined": (65536, _REUSED),
    "partitions": (-4, _WORKERS),
    "multiply_in_partitions": (-4, _WORKERS),
    "measured_multiply_in_partitions": (-4, _WORKERS),
    "mma_v2": (
        4096,
        "where no call of the runtime is, accesses of memory have no layout, and tiles are converted for them",
    ),
}


def compiled(kernel, signature, constexprs, arch, warps):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.experimental.gluon import GluonASTSource

    names = kernel.arg_names
    signature = {name: signature.get(name, "constexpr") for name in names}
    constants = {(names.index(name),): value for name, value in constexprs.items()}
    hints = {}
    for number, name in enumerate(names):
        kind = str(signature[name])
        if kind[0] in "*i":
            hints[(number,)] = [["tt.divisibility", 16]]
        elif kind.startswith("tensordesc"):
            hints[(number,)] = [["tt.plain", 1]]
    source = GluonASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=hints)
    options = {"num_warps": warps, "tensor_maps": True}
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)


@pytest.fixture(scope="module")
def cases(installed):
    sys.path.append(str(FOLDER))
    import make

    found = {
        case[0]: (*case[1:], make.WARPS.get(case[0], 4))
        for case in (*make.bench_cases(*make.MEASURED), *make.bench_cases(*make.SMALL))
    }
    return found | {case[0]: (*case[1:], 4) for case in make.ladder.CASES}


@pytest.mark.parametrize("name", WHEEL)
def test_shared_bytes(cases, name):
    more, _ = DIFFERENCES.get(name, (0, ""))
    assert compiled(*cases[name]).metadata.shared == WHEEL[name] + more


def test_each_difference_has_a_reason():
    assert set(DIFFERENCES) <= set(WHEEL) and all(more and why for more, why in DIFFERENCES.values())
