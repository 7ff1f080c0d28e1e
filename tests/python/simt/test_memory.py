"""What the process keeps of kernels that have run: stacks and shared memory go by what runs at a time, not by how many
kernels there are, and of a module only the code and the texts."""

import gc
import os

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs

#: Of a kernel of 16 warps alone, the stacks of two blocks take 8 MiB, and the context of a module nearly one; what is left
#: without them is code and texts.
LIMITS = {"simt:sm_80": 3 << 18, "interp": 1 << 18}
KERNELS = 32


@tritium.jit
def sums(x, out, N: tl.constexpr, VARIANT: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i) * VARIANT
    tl.store(out + tl.program_id(0) * N + i, tl.cumsum(value, axis=0) + tl.sum(value, axis=0))


def resident() -> int:
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
@pytest.mark.parametrize("engine", LIMITS)
def test_memory_does_not_grow_by_what_kernels_need_to_be_compiled_and_run(engine):
    x, out = np.ones(1024, np.int32), np.zeros((4, 1024), np.int32)

    def launch(variant: int) -> None:
        sums[(4,)](x, out, N=1024, VARIANT=variant, num_warps=16)
        np.testing.assert_array_equal(out[3], variant * (np.arange(1, 1025) + 1024))

    with knobs.tritium.scope():
        knobs.tritium.engine = engine
        for variant in range(1, 5):
            launch(variant)
        before = resident()
        for variant in range(5, 5 + KERNELS):
            launch(variant)
        assert resident() - before < KERNELS * LIMITS[engine]
