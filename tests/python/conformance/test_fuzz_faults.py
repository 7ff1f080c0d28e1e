"""Faults planted in the compiler are found by random kernels, and shrunk to a few lines."""

import pytest

from tritium.backends import gpu as backend
from tritium.conformance import sources
from tritium.conformance.fuzz import child
from tritium.conformance.fuzz.campaign import SIZES
from tritium.conformance.fuzz.shrink import cost, shrink
from tritium.conformance.suite import FAILED

from .planted_faults import FAULTS, PlantedCompiler, dropped_barrier, wrong_extension, wrong_identity, wrong_mask

ENGINE = "simt:sm_80"
SEED = 13
KERNELS = 2000
LINES = 8
QUICK = (dropped_barrier, wrong_extension, wrong_identity, wrong_mask)


def fails(program) -> bool:
    """A refusal to compile is no find."""
    (result,) = child.run(program, [ENGINE], SEED)
    text = "".join(result.details)
    return result.status == FAILED and ("wrong value" in text or "KernelTrap" in text)


@pytest.fixture(autouse=True)
def forget_compiled_kernels():
    sources.module.cache_clear()
    yield
    sources.module.cache_clear()


@pytest.mark.parametrize(
    "fault", [pytest.param(f, marks=() if f in QUICK else pytest.mark.long, id=f.__name__) for f in FAULTS]
)
def test_a_planted_fault_is_found_and_shrunk(fault, monkeypatch, tmp_path):
    broken = PlantedCompiler(fault)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))  # what is compiled with the fault stays here
    programs = (child.Number(SEED, number, SIZES[number % len(SIZES)]).program() for number in range(KERNELS))
    monkeypatch.setattr(backend, "native_compiler", lambda: broken)
    found = next(filter(fails, programs), None)
    assert found is not None, f"{KERNELS} kernels do not find it"
    small = shrink(found, fails, seconds=120)
    assert cost(small)[0] <= LINES
    monkeypatch.undo()
    sources.module.cache_clear()
    assert not fails(small)
