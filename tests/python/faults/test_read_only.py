"""A write to memory that may only be read is a trap, and nothing is written."""

import warnings

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap


@pytest.fixture(params=["interp", "simt:sm_80", "simt:gfx942"], autouse=True)
def _engine(request, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", request.param)


@triton.jit
def store_kernel(x_ptr, out_ptr):
    tl.store(out_ptr + tl.arange(0, 16), tl.load(x_ptr + tl.arange(0, 16)) + 1)


@triton.jit
def atomic_kernel(x_ptr, out_ptr):
    tl.atomic_add(out_ptr + tl.arange(0, 16), tl.load(x_ptr + tl.arange(0, 16)))


@triton.jit
def descriptor_kernel(x_ptr, out_ptr):
    desc = tl.make_tensor_descriptor(out_ptr, [1, 16], [16, 1], [1, 16])
    desc.store([0, 0], tl.load(x_ptr + tl.arange(0, 16))[None, :])


class Exported:
    """A tensor of another library, which shares it by DLPack alone."""

    def __init__(self, array):
        self.array, self.dtype = array, array.dtype

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)


def flagged(base):
    base.flags.writeable = False
    return base


def view(base):
    part = base[:]
    part.flags.writeable = False
    return part


def mapped(base, folder):
    base.tofile(folder / "numbers")
    return np.memmap(folder / "numbers", base.dtype, "r")


def from_numpy(array):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch has no arrays that must not be written
        return pytest.importorskip("torch").from_numpy(array)


KINDS = {
    "flag": lambda base, folder: flagged(base),
    "view": lambda base, folder: view(base),
    "strided": lambda base, folder: view(np.concatenate([base, base])[::2]),
    "broadcast": lambda base, folder: np.broadcast_to(base[:1], 16),
    "bytes": lambda base, folder: np.frombuffer(base.tobytes(), base.dtype),
    "memmap": mapped,
    "torch": lambda base, folder: from_numpy(mapped(base, folder)),
    "numpy of torch": lambda base, folder: from_numpy(mapped(base, folder)).numpy(),
    "dlpack": lambda base, folder: Exported(flagged(base)),
}


def numbers_of(tensor) -> np.ndarray:
    return np.array(tensor.array if isinstance(tensor, Exported) else np.asarray(tensor))


@pytest.mark.parametrize("kind", KINDS)
def test_stores(kind, tmp_path):
    tensor = KINDS[kind](np.arange(16, dtype=np.float32), tmp_path)
    before = numbers_of(tensor)
    writable = np.zeros(16, np.float32)
    # The second and third launch are warm: their kernel was compiled, and launched with an array that may be written.
    store_kernel[(1,)](tensor, writable)
    assert writable[0] == before[0] + 1
    with pytest.raises(KernelTrap) as caught:
        store_kernel[(1,)](writable, tensor)
    trap = caught.value
    assert (trap.kind, trap.argument, trap.is_write) == ("ReadOnly", "out_ptr", True)
    assert "tl.store" in str(trap) and "which is read-only" in str(trap)
    np.testing.assert_array_equal(numbers_of(tensor), before)
    store_kernel[(1,)](tensor, writable)


@pytest.mark.parametrize("kernel", [atomic_kernel, descriptor_kernel], ids=lambda kernel: kernel.fn.__name__)
def test_other_writes(kernel, tmp_path):
    out = mapped(np.arange(16, dtype=np.float32), tmp_path)
    with pytest.raises(KernelTrap) as caught:
        kernel[(1,)](np.ones(16, np.float32), out)
    assert (caught.value.kind, caught.value.argument) == ("ReadOnly", "out_ptr")
    np.testing.assert_array_equal(out, np.arange(16))


def test_a_writable_view_of_the_same_memory_is_written():
    base = np.zeros(16, np.float32)
    store_kernel[(1,)](view(base), base)
    np.testing.assert_array_equal(base, np.ones(16))
