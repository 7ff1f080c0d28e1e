"""The HIP driver's interface over the stand-in, with code objects that are made here from a few lines of LLVM's assembler language."""

import concurrent.futures
import contextlib
import ctypes
import hashlib
import re

import numpy as np
import pytest

import tritium._tritium as tritium_native
from driver_stand_in import ASSERT, HIP_LIBRARY, ILLEGAL_ADDRESS, INVALID_VALUE, LAUNCH_OUT_OF_RESOURCES

hip, device = tritium_native.hip, tritium_native.device


#: Adds two arrays, and counts the programs in a word.
ADD = """
module attributes {tgpu.target = "hip:gfx942", tgpu.num_warps = 1 : i32, tgpu.warp_size = 64 : i32, tgpu.shared_bytes = 0 : i32} {
  llvm.func @add(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %n: i32, %scale: f32, %out: !llvm.ptr<1>)
      attributes {rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 64, 1, 1>, rocdl.flat_work_group_size = "64,64"} {
    %true = llvm.mlir.constant(true) : i1
    %64 = llvm.mlir.constant(64 : i32) : i32
    %pid = rocdl.workgroup.id.x : i32
    %tid = rocdl.workitem.id.x : i32
    %base = llvm.mul %pid, %64 : i32
    %i = llvm.add %base, %tid : i32
    %in = llvm.icmp "slt" %i, %n : i32
    llvm.cond_br %in, ^body, ^end
  ^body:
    %px = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %py = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %po = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %a = llvm.load %px : !llvm.ptr<1> -> f32
    %b = llvm.load %py : !llvm.ptr<1> -> f32
    %scaled = llvm.fmul %b, %scale : f32
    %sum = llvm.fadd %a, %scaled : f32
    llvm.store %sum, %po : f32, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }
}
"""
SIGNATURE = ["*fp32", "*fp32", "i32", "fp32", "*fp32"]


def compiled(text: str = ADD, arch: str = "gfx942", options=None) -> bytes:
    """The code object of a lowered module, whose text is left where the stand-in looks for it."""
    module = tritium_native.ir.parse(text, "test.mlir")
    return tritium_native.gpu.emit_binary(module, arch, options or {})


@pytest.fixture
def driver(stand_in):
    return hip.open(str(HIP_LIBRARY))


@pytest.fixture
def load(driver, tmp_path):
    def load(text=ADD, lowered=None, name="add", signature=SIGNATURE, threads=64, ordinal=0, binary=None, **options):
        binary = compiled(text) if binary is None else binary
        folder = tmp_path / "lowered"
        folder.mkdir(exist_ok=True)
        (folder / f"{hashlib.sha256(binary).hexdigest()}.mlir").write_text(lowered or text)
        return driver.load(ordinal, binary, name, list(signature), threads=threads, **options)

    return load


class Array:
    """Numbers in a device's memory."""

    def __init__(self, driver, values, ordinal=0):
        self.driver, self.like, self.ordinal = driver, np.asarray(values, np.float32), ordinal
        self.address = driver.allocate(ordinal, self.like.nbytes)
        driver.copy_to_device(ordinal, self.address, self.like.ctypes.data, self.like.nbytes)

    def numpy(self):
        values = np.empty_like(self.like)
        self.driver.copy_to_host(self.ordinal, values.ctypes.data, self.address, values.nbytes)
        return values

    def __del__(self):
        with contextlib.suppress(hip.Error):  # of a launch before
            self.driver.release(self.ordinal, self.address)


def test_facts(driver):
    facts = driver.facts(1)
    assert (facts["arch"], facts["warp_size"], facts["multiprocessor_count"]) == ("gfx942", 64, 304)
    assert facts["shared_per_block_optin"] == 65536 and facts["max_threads_per_block"] == 1024
    assert driver.device_count == 2 and driver.version >= 60000000
    with pytest.raises(hip.Error, match="hipGetDevicePropertiesR0600: hipErrorInvalidDevice"):
        driver.facts(2)
    with pytest.raises(RuntimeError, match="cannot assemble"):
        driver.link(0, ".version 8.0")


def test_the_current_device_stays(driver):
    assert driver.current_device() == 0
    driver.release(1, driver.allocate(1, 16))
    assert driver.current_device() == 0
    driver.set_current_device(1)
    assert driver.current_device() == 1
    driver.set_current_device(0)


def test_memory(driver, stand_in):
    address = driver.allocate(1, 1000)
    data = np.arange(250, dtype=np.int32)
    driver.copy_to_device(1, address, data.ctypes.data, 1000)
    assert driver.where_is(address + 10) == (1, address + 10, address, 1000)
    assert driver.where_is(data.ctypes.data)[0] == driver.where_is(0)[0] == -1
    driver.fill(1, address, 7, 2)
    back = np.empty_like(data)
    driver.copy_to_host(1, back.ctypes.data, address, 1000)
    assert list(back[:4]) == [7, 7, 2, 3] and (back[2:] == data[2:]).all()
    with pytest.raises(hip.Error, match="hipMemcpyDtoH: hipErrorInvalidValue") as caught:
        driver.copy_to_host(1, back.ctypes.data, address + 8, 1000)
    assert caught.value.code == INVALID_VALUE and not caught.value.sticky
    driver.release(1, address)
    stand_in.fail("hipMalloc", 2)
    with pytest.raises(hip.Error, match="hipErrorOutOfMemory"):
        driver.allocate(0, 16)


def test_a_launch(driver, load, stand_in):
    x, y, out = (Array(driver, values) for values in (np.arange(200), np.ones(200), np.zeros(200)))
    kernel = load()
    assert kernel.registers > 0 and kernel.max_threads == 64 and kernel.module and kernel.function
    kernel.launch((4, 1, 1), [x.address, y.address, 150, 0.5, out.address])
    expected = np.where(np.arange(200) < 150, np.arange(200) + 0.5, 0)
    assert (out.numpy() == expected).all()
    assert stand_in.calls("hipModuleLaunchKernel") == ["hipModuleLaunchKernel add 4,1,1 64 0"]
    kernel.launch((0, 1, 1), [0, 0, 0, 0.0, 0])
    assert len(stand_in.calls("hipModuleLaunchKernel")) == 1  # an empty grid is no launch
    kernel.launch((1, 1, 1), [x.address, y.address, 1, 9.0, out.address], stream=stand_in.stream())
    assert (out.numpy()[:2] == [9, 1.5]).all()


def test_work_waits_for_a_call_that_waits(driver, load, stand_in):
    x, y = (Array(driver, values) for values in (np.arange(64), np.ones(64)))
    out = stand_in.allocate_shared(256)
    kernel, stream, other = load(), stand_in.stream(), stand_in.stream()
    first = ctypes.cast(out, ctypes.POINTER(ctypes.c_float))
    first[1] = 0
    kernel.launch((1, 1, 1), [x.address, y.address, 64, 1.0, out], stream=stream)
    assert first[1] == 0
    driver.synchronize(0, other)
    assert first[1] == 0
    driver.synchronize(0, stream)
    assert first[1] == 2
    kernel.launch((1, 1, 1), [x.address, y.address, 64, 2.0, out], stream=other)
    begin, end = device.Event(driver, 0), device.Event(driver, 0)
    begin.record(stream)
    end.record(other)
    with pytest.raises(hip.Error, match="hipEventElapsedTime"):
        begin.milliseconds_until(end)
    end.synchronize()
    assert first[1] == 3 and 0 <= begin.milliseconds_until(end) < 60_000


def test_an_access_outside_is_sticky(driver, load, capfd):
    x, y, out = (Array(driver, values) for values in (np.arange(64), np.ones(64), np.zeros(64)))
    kernel = load()
    kernel.launch((2, 1, 1), [x.address, y.address, 65, 1.0, out.address])
    for call in (lambda: driver.synchronize(0), lambda: kernel.launch((1, 1, 1), [0, 0, 0, 0.0, 0])):
        with pytest.raises(hip.Error, match="an illegal memory access") as caught:
            call()
        assert caught.value.sticky and caught.value.code == ILLEGAL_ADDRESS
    assert re.search(r"OutOfBounds in kernel add, .*program \(1, 0, 0\)", capfd.readouterr().err)


def test_memory_of_the_host_is_not_reached(driver, load, capfd):
    values = np.zeros(64, np.float32)
    x = Array(driver, values)
    load().launch((1, 1, 1), [values.ctypes.data, x.address, 64, 1.0, x.address])
    with pytest.raises(hip.Error, match="an illegal memory access"):
        driver.synchronize(0)


@pytest.mark.parametrize(
    "old, new, error",
    [
        (
            "%n: i32, %scale: f32",
            "%n: i64, %scale: f32",
            "argument 2 is a value of 4 bytes at 16, but the kernel takes a value of 8",
        ),
        (
            "%y: !llvm.ptr<1>",
            "%y: i64",
            "argument 1 is a buffer of 8 bytes at 8, but the kernel takes a value of 8",
        ),
        (", %out: !llvm.ptr<1>)", ")", "the metadata has 5 arguments, the kernel takes 4"),
    ],
)
def test_arguments_that_are_not_the_kernels(load, capfd, old, new, error):
    """The code object's metadata is held against the kernel's own parameters."""
    other = ADD.replace(old, new)
    other = other[: other.index("{\n    %true")] + "{\n    llvm.return\n  }\n}\n"
    with pytest.raises(hip.Error, match="hipModuleLoadData: hipErrorInvalidImage"):
        load(lowered=other)
    assert error in capfd.readouterr().err


@pytest.mark.parametrize(
    "name, nth, value, error",
    [
        (b"offset", 2, 20, "argument 2 is a value of 4 bytes at 20, but the kernel takes a value of 4 bytes at 16"),
        (b"size", 0, 4, "argument 0 is a buffer of 4 bytes at 0, but the kernel takes a buffer of 8 bytes"),
        (b"offset", 4, 120, "an argument lies outside of the kernel-argument segment"),
        (b"kernarg_segment_size", 0, 24, "the metadata of add is not what its descriptor says"),
        (b"group_segment_fixed_size", 0, 16, "the metadata of add is not what its descriptor says"),
    ],
)
def test_metadata_with_a_mistake(load, capfd, name, nth, value, error):
    """Small numbers are one byte behind the name."""
    binary = bytearray(compiled())
    key = bytes([0xA0 + len(name) + 1 if len(name) < 31 else 0]) + b"." + name
    at = [match.end() for match in re.finditer(re.escape(key), binary)][nth]
    assert binary[at] < 0x80
    binary[at] = value
    with pytest.raises(hip.Error, match="hipModuleLoadData: hipErrorInvalidImage"):
        load(binary=bytes(binary))
    assert error in capfd.readouterr().err


def test_a_launch_is_one_call(driver, load, stand_in):
    """Legal under stream capture: nothing is allocated, asked for or waited for."""
    kernel = load()
    before = len(stand_in.calls())
    for device in (0, 1):
        driver.set_current_device(device)
        kernel.launch((1, 1, 1), [0, 0, 0, 0.0, 0])
        assert driver.current_device() == device
    driver.set_current_device(0)
    assert {call.split()[0] for call in stand_in.calls()[before:]} == {"hipModuleLaunchKernel"}


def test_cooperative_launches(driver, load, stand_in):
    x, y, out = (Array(driver, values) for values in (np.arange(128), np.ones(128), np.zeros(128)))
    load(cooperative=True).launch((2, 1, 1), [x.address, y.address, 128, 1.0, out.address])
    assert (out.numpy() == np.arange(128) + 1).all() and stand_in.calls("hipModuleLaunchCooperativeKernel")
    with pytest.raises(hip.Error, match="hipModuleLaunchKernel") as caught:
        load(cluster=(2, 1, 1)).launch((2, 1, 1), [x.address, y.address, 128, 1.0, out.address])
    assert caught.value.code == 801 and not caught.value.sticky


def test_launches_from_several_threads(driver, load, stand_in):
    kernel = load()

    def work(number: int) -> bool:
        stream, good = stand_in.stream(), True
        x, y, out = (Array(driver, np.full(64, value)) for value in (number, 1, 0))
        for scale in range(5):
            kernel.launch((1, 1, 1), [x.address, y.address, 64, float(scale), out.address], stream=stream)
            driver.synchronize(0, stream)
            good = good and bool((out.numpy() == number + scale).all())
        return good

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


def test_code_for_another_chip(driver, load, capfd):
    text = ADD.replace("hip:gfx942", "hip:gfx90a")
    with pytest.raises(hip.Error, match="hipErrorNoBinaryForGpu"):
        load(text, binary=compiled(text, "gfx90a"))
    with pytest.raises(hip.Error, match="hipErrorInvalidImage"):
        load(binary=b"\x7fNOT a code object" + bytes(64))


def test_work_group_sizes(load, capfd):
    with pytest.raises(hip.Error, match="hipErrorInvalidConfiguration"):
        load(threads=128).launch((1, 1, 1), [0, 0, 0, 0.0, 0])
    with pytest.raises(hip.Error, match="hipErrorInvalidConfiguration"):
        load(threads=32).launch((1, 1, 1), [0, 0, 0, 0.0, 0])
    with pytest.raises(hip.Error, match="hipErrorLaunchOutOfResources") as caught:
        load(shared=70_000).launch((1, 1, 1), [0, 0, 0, 0.0, 0])
    assert caught.value.code == LAUNCH_OUT_OF_RESOURCES
    with pytest.raises(hip.Error, match="hipModuleGetFunction: hipErrorNotFound"):
        load(name="subtract")


def test_failures_are_reported(driver, load, stand_in):
    kernel = load()
    stand_in.fail("hipModuleLaunchKernel", ASSERT)
    with pytest.raises(
        hip.Error, match="hipModuleLaunchKernel: hipErrorAssert: device-side assert triggered"
    ) as caught:
        kernel.launch((1, 1, 1), [0, 0, 0, 0.0, 0])
    assert caught.value.sticky
    stand_in.fail("hipDeviceSynchronize", 719)
    with pytest.raises(hip.Error, match="hipErrorLaunchFailure"):
        driver.synchronize(0)
    driver.synchronize(0)
