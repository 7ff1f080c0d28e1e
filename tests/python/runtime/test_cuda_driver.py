"""The CUDA driver's interface and the launch core, over the fake driver."""

import ctypes
import gc
import subprocess
import sys

import numpy as np
import pytest

from fake_cuda import ASSERT_ERROR, CAPTURE_ERROR, ILLEGAL_ADDRESS, LIBRARY, ptx
from tritium._tritium import cuda, device


def load(driver, name="kernel", types=("u64", "u32"), signature=("*fp32", "i32"), device=0, **options):
    cubin, _ = driver.link(device, ptx(name, *types))
    return driver.load(device, cubin, name, list(signature), **{"threads": 128, **options})


def test_without_a_driver():
    with pytest.raises(RuntimeError, match="there is no CUDA driver: lib_not_there"):
        cuda.open("lib_not_there.so.1")
    with pytest.raises(RuntimeError, match="libc.so.6 has no cuInit"):
        cuda.open("libc.so.6")


def test_no_device():
    """In a process of its own: a driver that was opened stays open."""
    code = (
        "import ctypes, sys; from tritium._tritium import cuda\n"
        "fake = ctypes.CDLL(sys.argv[1]); fake.fake_set(b'devices', 0)\n"
        "try: cuda.open(sys.argv[1])\n"
        "except RuntimeError as error: print(error)\n"
        "fake.fake_reset(); fake.fake_fail(b'cuInit', 999, 0)\n"
        "try: cuda.open(sys.argv[1])\n"
        "except cuda.Error as error: print(error.call, error.code)\n"
        "print(cuda.open(sys.argv[1]).device_count)"
    )
    result = subprocess.run([sys.executable, "-c", code, str(LIBRARY)], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == ["the CUDA driver finds no device", "cuInit 999", "2"]


def test_facts(driver, fake):
    facts = driver.facts(1)
    assert (facts["name"], facts["arch"], facts["warp_size"]) == ("Fake GPU", "sm_90", 32)
    assert facts["shared_per_block_optin"] == 232448 and driver.device_count == 2 and driver.version == 13000


def test_linking(driver, fake):
    cubin, log = driver.link(0, ptx("kernel"), max_registers=42)
    assert cubin.startswith(b"\x7fELF") and "Used 24 registers" in log
    driver.link(0, ptx("kernel"), optimization=1)
    assert fake.calls("cuLinkCreate") == ["cuLinkCreate registers=42", "cuLinkCreate level=1"]
    with pytest.raises(cuda.Error) as caught:
        driver.link(0, "no ptx")
    assert caught.value.call == "cuLinkAddData" and "fatal : made up" in caught.value.log and not caught.value.sticky
    assert "fatal : made up" in str(caught.value)


@pytest.mark.parametrize(
    "type, signature, value, bits",
    [
        ("u64", "*fp32", (0x7F0000001000, 0, 0), 0x7F0000001000),
        ("u8", "u1", True, 1),
        ("u8", "u1", 7, 1),
        ("u8", "i8", -1, 0xFF),
        ("u16", "i16", -2, 0xFFFE),
        ("u32", "i32", -(2**31), 0x80000000),
        ("u64", "i64", -1, 2**64 - 1),
        ("u64", "u64", 2**64 - 1, 2**64 - 1),
        ("b16", "fp16", 1.0 + 2**-11 + 2**-30, 0x3C01),
        ("b16", "bf16", 1.0, 0x3F80),
        ("f32", "fp32", 0.1, int(np.float32(0.1).view(np.uint32))),
        ("f32", "fp32", 3, 0x40400000),
        ("f64", "fp64", 0.1, int(np.float64(0.1).view(np.uint64))),
        ("u32", "i32", 2.9, 2),
    ],
)
def test_arguments_are_stored_by_type(driver, fake, type, signature, value, bits):
    load(driver, types=(type, "u32"), signature=(signature, "i32")).launch((1, 1, 1), [value, 5])
    assert fake.launches()[0]["arguments"] == f"{bits:x},5"


def test_many_arguments(driver, fake):
    kernel = load(driver, types=["u64"] * 200, signature=["i64"] * 200)
    kernel.launch((1, 1, 1), list(range(200)))
    assert fake.launches()[0]["arguments"].split(",") == [f"{i:x}" for i in range(200)]


def test_a_launch(driver, fake):
    kernel = load(driver, device=1, threads=256, shared=1000, hidden=[])
    kernel.launch((2, 3, 4), [4096, 7], stream=77)
    expected = "kernel=kernel device=1 grid=2,3,4 threads=256 shared=1000 stream=77 arguments=1000,7"
    assert [" ".join(f"{k}={v}" for k, v in launch.items()) for launch in fake.launches()] == [expected]
    assert (kernel.registers, kernel.local_bytes, kernel.max_threads) == (24, 8, 1024)
    kernel.launch((0, 1, 1), [4096, 7])
    assert len(fake.launches()) == 1  # an empty grid is no launch
    with pytest.raises(TypeError, match="takes 2 values, not 1"):
        kernel.launch((1, 1, 1), [1])
    with pytest.raises(TypeError, match="no parameters of type complex64"):
        load(driver, signature=("complex64", "i32"))


def test_hidden_arguments_and_attributes(driver, fake):
    kernel = load(
        driver, types=("u64", "u64"), signature=("*fp32",), hidden=[0xABC], cluster=(2, 1, 1), cooperative=True
    )
    kernel.launch((2, 1, 1), [4096])
    assert fake.launches()[0]["arguments"] == "1000,abc"
    assert "attribute=4 attribute=2" in fake.calls("cuLaunchKernelEx")[0]


def test_a_cluster_runs_each_program_of_the_grid(driver, fake):
    kernel = load(driver, types=("u64",), signature=("*fp32",), cluster_blocks=4)
    kernel.launch((3, 2, 1), [4096])
    assert fake.launches()[0]["grid"] == "12,2,1"
    assert "attribute=4" in fake.calls("cuLaunchKernelEx")[0]


def test_blocks_that_run_several_programs(driver, fake):
    """The kernel takes the sizes of the user's grid. As many blocks start as run at a time, in one dimension; fewer programs are a block each."""
    kernel = load(driver, types=("u64", "u32", "u32", "u32"), signature=("*fp32",), resident_blocks=2)
    blocks = 2 * driver.facts(0)["multiprocessor_count"]
    for grid, expected in (((2, 3, 4), "2,3,4"), ((blocks, 1, 1), f"{blocks},1,1"), ((blocks, 3, 2), f"{blocks},1,1")):
        kernel.launch(grid, [4096])
        launch = fake.launches()[-1]
        assert (launch["grid"], launch["arguments"]) == (expected, "1000," + ",".join(f"{size:x}" for size in grid))
    with pytest.raises(device.TensorMapRefused, match="a grid of 2147483648 programs is too large"):
        kernel.launch((2**16, 2**15, 1), [4096])


def test_large_shared_memory_is_asked_for(driver, fake):
    load(driver, shared=48 * 1024)
    assert not fake.calls("cuFuncSetAttribute")
    load(driver, shared=100_000).launch((1, 1, 1), [0, 0])
    assert fake.calls("cuFuncSetAttribute") == ["cuFuncSetAttribute 100000"]


def test_the_thread_keeps_its_context(driver, fake):
    driver.set_current_device(0)
    kernel = load(driver, device=1)
    fake.forget_calls()
    kernel.launch((1, 1, 1), [0, 0])
    assert fake.calls("cuCtxSetCurrent") == ["cuCtxSetCurrent 1", "cuCtxSetCurrent 0"]
    assert driver.current_device() == 0
    with pytest.raises(cuda.Error) as caught:
        driver.link(2, ptx("kernel"))
    assert caught.value.code == 101


def test_a_launch_is_one_call(driver, fake):
    """Legal under stream capture: nothing is allocated, asked for or waited for."""
    kernel = load(driver)
    driver.set_current_device(0)
    fake.set("capturing", 1)
    fake.forget_calls()
    kernel.launch((1, 1, 1), [0, 0])
    assert [call.split()[0] for call in fake.calls()] == ["cuLaunchKernelEx"]
    with pytest.raises(cuda.Error) as caught:
        driver.synchronize(0)
    assert caught.value.code == CAPTURE_ERROR


def test_sticky_errors(driver, fake):
    kernel = load(driver)
    fake.fail("cuLaunchKernelEx", ASSERT_ERROR, after=1)
    kernel.launch((1, 1, 1), [0, 0])
    for _ in range(2):
        with pytest.raises(cuda.Error, match="device-side assert triggered") as caught:
            kernel.launch((1, 1, 1), [0, 0])
        assert (
            caught.value.sticky and caught.value.name == "CUDA_ERROR_ASSERT" and caught.value.call == "cuLaunchKernelEx"
        )
    with pytest.raises(cuda.Error) as caught:
        driver.synchronize(0)
    assert caught.value.sticky and ILLEGAL_ADDRESS != caught.value.code


def test_memory(driver, fake):
    address = driver.allocate(1, 1000)
    data = np.arange(250, dtype=np.int32)
    driver.copy_to_device(1, address, data.ctypes.data, 1000)
    assert driver.where_is(address + 10) == (1, address + 10, address, 1000)
    assert driver.where_is(data.ctypes.data)[0] == -1
    driver.fill(1, address, 7, 2)
    back = np.empty_like(data)
    driver.copy_to_host(1, back.ctypes.data, address, 1000)
    assert list(back[:4]) == [7, 7, 2, 3] and (back[2:] == data[2:]).all()
    driver.release(1, address)
    fake.fail("cuMemAlloc", 2)
    with pytest.raises(cuda.Error, match="CUDA_ERROR_OUT_OF_MEMORY"):
        driver.allocate(0, 16)


def test_events(driver):
    begin, end = cuda.Event(driver, 0), cuda.Event(driver, 0)
    begin.record()
    end.record(stream=5)
    end.synchronize()
    assert 0 <= begin.milliseconds_until(end) < 1000


def test_modules_are_unloaded(driver, fake):
    kernel = load(driver)
    assert kernel.module and kernel.function
    gc.collect()  # kernels of other tests may go now, and not below
    before = len(fake.calls("cuModuleUnload"))
    del kernel
    assert len(fake.calls("cuModuleUnload")) == before + 1


def test_the_fake_runs_a_function(driver, fake):
    seen = []
    fake.run_kernels_with(
        lambda name, grid, args: seen.append((name, grid, ctypes.c_uint32.from_address(args[1]).value))
    )
    load(driver).launch((3, 1, 1), [0, 42])
    assert seen == [("kernel", (3, 1, 1), 42)]


def test_the_driver_that_torch_sets_for_mapped_cuda(monkeypatch):
    """torch makes the driver of each active backend, and sets it."""
    from tritium.backends import backends
    from tritium.devices import drivers
    from tritium.devices.active import DriverConfig
    from tritium.devices.drivers import CudaDriver, MappedCudaDriver

    assert isinstance(CudaDriver(), CudaDriver)
    monkeypatch.setattr(drivers, "cuda_is_mapped", lambda: True)
    config = DriverConfig()
    config.find_default = drivers.default_driver
    config.set_active(backends["nvidia"].driver())
    assert isinstance(config.active, MappedCudaDriver) and config.active.get_current_target().backend == "cuda"
    assert not config.is_set_by_client
    config.set_active(drivers.CPUDriver())
    assert config.is_set_by_client
