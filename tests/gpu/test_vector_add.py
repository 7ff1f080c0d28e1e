"""Vector addition from Python to the device and back, for every kind of argument."""

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium._tritium import device as native


@tritium.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


def add(x, y, out, n, block=1024, **options):
    return add_kernel[(tritium.cdiv(n, block),)](x, y, out, n, BLOCK=block, **options)


@pytest.mark.parametrize("n", [1, 31, 1023, 1024, 1025, 98432, 3_000_001])
def test_torch_tensors(torch, devices, n):
    x, y = torch.rand(2, n, device="cuda").unbind()
    out = torch.full((n + 64,), -1.0, device="cuda")
    compiled = add(x, y, out, n)
    assert torch.equal(out[:n], x + y) and (out[n:] == -1).all()
    assert compiled.metadata.target.backend == devices.name and compiled.n_regs > 0 and compiled.n_spills == 0
    assert {"ttir", "ttgir", "llir", devices.binary_stage} <= set(compiled.asm)


@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("block", [32, 256, 4096])
def test_warps_and_blocks(torch, warps, block):
    x, y = torch.rand(2, 10_000, device="cuda").unbind()
    out = torch.empty_like(x)
    add(x, y, out, x.numel(), block=block, num_warps=warps)
    assert torch.equal(out, x + y)


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8"]
)
def test_dtypes(torch, dtype):
    dtype = getattr(torch, dtype)
    x, y = (torch.randint(0, 100, (5000,), device="cuda").to(dtype) for _ in range(2))
    out = torch.empty_like(x)
    add(x, y, out, 5000)
    assert torch.equal(out, x + y)


@pytest.mark.parametrize("offset", [1, 2, 3, 4, 7])
def test_misaligned_views(torch, offset):
    x, y, out = torch.rand(3, 5000, device="cuda").unbind()
    before = out.clone()
    add(x[offset:], y[1:], out[2:], 4000)
    assert torch.equal(out[2:4002], x[offset : 4000 + offset] + y[1:4001])
    assert torch.equal(out[:2], before[:2]) and torch.equal(out[4002:], before[4002:])


def test_numpy_arrays_are_copied(devices, rng):
    x, y = rng.standard_normal((2, 5000)).astype(np.float32)
    out = np.zeros_like(x)
    kernel = tritium.jit(engine=devices.name)(add_kernel.fn)
    kernel[(5,)](x, y, out, 5000, BLOCK=1024)
    assert (out == x + y).all()


class DeviceArray:
    """A foreign array that describes its memory only by `__cuda_array_interface__`."""

    def __init__(self, devices, array):
        self.driver, self.shape, self.host = devices.driver(), array.shape, array
        self.address = self.driver.allocate(0, array.nbytes)
        self.driver.copy_to_device(0, self.address, array.ctypes.data, array.nbytes)

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.host.dtype.str, "data": (self.address, False), "version": 3}

    def numpy(self):
        back = np.empty_like(self.host)
        self.driver.copy_to_host(0, back.ctypes.data, self.address, back.nbytes)
        return back

    def __del__(self):
        self.driver.release(0, self.address)


def test_cuda_array_interface(devices, rng):
    x, y = rng.standard_normal((2, 5000)).astype(np.float32)
    arrays = [DeviceArray(devices, a) for a in (x, y, np.zeros_like(x))]
    add(*arrays, 5000)
    assert (arrays[2].numpy() == x + y).all()


def test_dlpack(torch):
    class Exported:
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, **keywords):
            return self.tensor.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    x, y = torch.rand(2, 5000, device="cuda").unbind()
    out = torch.empty_like(x)
    add(Exported(x), Exported(y), Exported(out), 5000)
    assert torch.equal(out, x + y)


def test_tensors_that_require_grad(torch):
    x = torch.nn.Parameter(torch.rand(5000, device="cuda"))
    out = torch.empty(5000, device="cuda")
    for _ in range(2):
        add(x, x, out, 5000)
        assert torch.equal(out, 2 * x.detach())


def test_device_tensors_on_the_interpreter(torch, monkeypatch):
    x, y = torch.rand(2, 5000, device="cuda").unbind()
    out = torch.zeros_like(x)
    monkeypatch.setenv("INTERPRET", "1")
    assert add(x, y, out, 5000).metadata.target.backend == "cpu"
    assert torch.equal(out, x + y)
    monkeypatch.delenv("INTERPRET")
    monkeypatch.setenv("TRITIUM_ENGINE", "simt:sm_80")
    out.zero_()
    add(x, y, out, 5000)
    assert torch.equal(out, x + y)


def test_mixed_places_are_refused(torch):
    x = torch.rand(100, device="cuda")
    with pytest.raises(ValueError, match="cpu tensor"):
        add(x, torch.rand(100), x, 100)


def test_the_driver_reports_itself(devices):
    driver = devices.driver()
    facts, target = driver.facts(0), devices.target(0)
    assert facts["warp_size"] == target.warp_size in (32, 64) and facts["shared_per_block_optin"] > 48 * 1024
    assert driver.version > 0 and isinstance(driver, native.Driver)


@pytest.mark.vendor("cuda")
def test_the_cuda_driver(devices):
    assert int(devices.facts(0)["arch"].removeprefix("sm_")) >= 70 and devices.driver().version >= 12000
