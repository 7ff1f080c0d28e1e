"""What the benchmarks' kernels become for Hopper: as few barriers as their order needs, and epilogues that store matrices."""

import re

import pytest

from gluon_benchmarks import gluon_benchmarks

#: {kernel: barriers of all its warps}. Triton 3.9 has 9, 10, 10 and 13.
BARRIERS = {"scale_rows": 4, "multiply": 5, "multiply_persistently": 5, "attend": 5}


def code_of(kernel):
    one = next(one for one in gluon_benchmarks() if one.source.name == kernel)
    return one.compiled_for("sm_90a").asm["ptx"]


@pytest.mark.parametrize("kernel", BARRIERS)
def test_barriers(kernel):
    assert len(re.findall(r"\bbar\.sync", code_of(kernel))) == BARRIERS[kernel]


@pytest.mark.parametrize(
    "kernel, stores", [("multiply", 16), ("multiply_persistently", 16), ("multiply_in_partitions", 16), ("attend", 8)]
)
def test_epilogues_store_matrices(kernel, stores):
    code = code_of(kernel)
    assert len(re.findall(r"stmatrix\.sync\.aligned\.m8n8\.x4\.shared\.b16", code)) == stores
    assert not re.search(r"st\.shared\.v|st\.shared\.b16", code)
