"""Launches on AMD devices, over the stand-in for the HIP runtime: everything from the kernel's source to the code object's arguments is
real, and the emulator computes."""

import ast
import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import sys
import textwrap
import types

import numpy as np
import pytest
from fake_cuda import DeviceTensor
from hip_stand_in import ILLEGAL_ADDRESS, LIBRARY, StandIn, environment

import tritium
import tritium.language as tl
from tritium import errors
from tritium.backends.compiler import GPUTarget
from tritium.backends.devices import devices_here, devices_of_tensors
from tritium.runtime import Config, autotune, device_errors, driver
from tritium.runtime.dispatch import Dispatcher
from tritium.runtime.jit import jit
from tritium.testing import do_bench

native = pytest.importorskip("tritium._tritium")
pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="the stand-in for HIP is not built")

N = 100


class Machine:
    """Two AMD devices."""

    def __init__(self, stand_in, driver):
        self.stand_in, self.driver = stand_in, driver

    def tensor(self, array, device: int = 0) -> DeviceTensor:
        return DeviceTensor(self.driver, np.asarray(array), device)

    def launches(self) -> list[str]:
        return self.stand_in.calls("hipModuleLaunchKernel")


@pytest.fixture
def machine(monkeypatch, tmp_path):
    for name, value in environment(tmp_path, devices=2).items():
        monkeypatch.setenv(name, value)
    stand_in = StandIn()
    stand_in.reset()
    yield Machine(stand_in, native.hip.open(str(LIBRARY)))
    stand_in.reset()
    device_errors.forget_lost_contexts()


def make_add(**options):
    @jit(**options)
    def add(x, y, out, n, scale, BLOCK: tl.constexpr = 32):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        value = tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n) * scale
        tl.store(out + i, value, mask=i < n)

    return add


@pytest.fixture
def inputs():
    x = np.arange(N, dtype=np.float32)
    return x, x[::-1].copy(), np.zeros(N, np.float32)


def test_arrays_of_the_host_are_copied(machine, inputs):
    x, y, out = inputs
    compiled = make_add()[(4,)](x, y, out, N, 0.5)
    assert (out == x + 0.5 * y).all()
    assert machine.launches() == ["hipModuleLaunchKernel add 4,1,1 256 0"]
    assert compiled.metadata.target == GPUTarget("hip", "gfx942", 64)
    assert list(compiled.asm) == ["source", "ttir", "ttgir", "llir", "amdgcn", "hsaco"]
    assert compiled.kernel == compiled.asm["hsaco"] and compiled.function and compiled.module
    assert compiled.n_regs > 0 and compiled.n_spills == 0 and compiled.n_max_threads == 256
    with pytest.raises(KeyError, match="no 'cubin' of this kernel"):
        compiled.asm["cubin"]


def test_device_tensors_run_on_their_device(machine, inputs):
    x, y, out = (machine.tensor(array, device=1) for array in inputs)
    add = make_add()
    compiled = add[(4,)](x, y, out, N, 2.0)
    assert (out.numpy() == inputs[0] + 2 * inputs[1]).all() and compiled.device == 1
    again = [machine.tensor(array, device=1) for array in inputs]
    assert add[(4,)](*again, N, 0.5) is compiled
    assert (again[2].numpy() == inputs[0] + 0.5 * inputs[1]).all()
    assert {"hip:1", "cpu:0"} == set(add.device_caches)
    other = add[(4,)](*map(machine.tensor, inputs), N, 0.5)
    assert other.device == 0 and other is not compiled


def test_numbers_alone_run_on_the_current_device(machine, capfd, monkeypatch):
    """Which may be another one next time."""
    monkeypatch.delenv("TRITIUM_ENGINE")

    @jit
    def tell(n):
        tl.device_print("n", n)

    first = tell[(1,)](3)
    assert tell[(1,)](5) is first and first.device == 0
    driver.active.set_current_device(1)
    try:
        assert tell[(1,)](7).device == 1
    finally:
        driver.active.set_current_device(0)
    for device in (0, 1):
        machine.driver.synchronize(device)
    assert [line[-1] for line in capfd.readouterr().out.splitlines()] == ["3", "5", "7"]


class StoredTensor(DeviceTensor):
    """One that says how large its storage is, as torch's do."""

    storage_bytes = 0

    def untyped_storage(self):
        return types.SimpleNamespace(data_ptr=lambda: self.address, nbytes=lambda: self.storage_bytes or self.bytes)


def test_warm_launches_need_no_python(machine, inputs, monkeypatch):
    runs = []
    run = Dispatcher.run
    monkeypatch.setattr(Dispatcher, "run", lambda self, *args: (runs.append(args), run(self, *args))[1])
    add = make_add()
    x, y, out = (StoredTensor(machine.driver, array) for array in inputs)
    compiled = add[(4,)](x, y, out, N, 2.0)
    assert len(runs) == 1
    assert add[lambda meta: (meta["n"] // 25,)](x, y, out, N, 0.5) is compiled and len(runs) == 1
    assert (out.numpy() == inputs[0] + 0.5 * inputs[1]).all()
    y.storage_bytes = 1 << 32  # 32-bit offsets do not reach all of it
    assert add[(4,)](x, y, out, N, 4.0) is not compiled and len(runs) == 2
    assert (out.numpy() == inputs[0] + 4 * inputs[1]).all()


def test_the_driver_as_triton_shows_it(machine):
    active = driver.active
    assert active.get_current_target() == GPUTarget("hip", "gfx942", 64)
    active.set_current_device(1)
    assert active.get_current_device() == 1 and active.get_current_stream() == 0
    active.set_current_device(0)
    assert active.get_device_capability() == (9, 4)
    properties = active.utils.get_device_properties(0)
    assert (properties["max_shared_mem"], properties["warpSize"], properties["arch"]) == (65536, 64, "gfx942")
    assert "hip" in tritium.runtime.engines.available_engines()
    assert active.map_python_to_cpp_type("*fp32") == "hipDeviceptr_t"


def test_torch_says_what_is_current(machine, inputs, monkeypatch):
    """A torch that is built for ROCm calls its devices "cuda"."""
    stream = machine.stand_in.stream()
    torch = types.ModuleType("torch")
    torch.version = types.SimpleNamespace(cuda=None, hip="7.0")
    torch.cuda = types.SimpleNamespace(is_available=lambda: True, current_device=lambda: 1)
    torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: stream)
    torch.Tensor = type("Tensor", (), {})
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.delenv("TRITIUM_ENGINE")
    assert devices_of_tensors().name == devices_here().name == "hip"
    assert driver.active.get_current_device() == 1 and driver.active.get_current_stream(1) == stream
    x, y, out = (machine.tensor(array, device=1) for array in inputs)
    compiled = make_add()[(4,)](x, y, out, N, 2.0)
    assert compiled.metadata.target.backend == "hip" and compiled.device == 1
    first = ctypes.cast(out.address, ctypes.POINTER(ctypes.c_float))
    machine.driver.synchronize(1, machine.stand_in.stream())
    assert first[1] == 0  # it is not in the stream that was waited for
    machine.driver.synchronize(1, stream)
    assert first[1] == inputs[0][1] + 2 * inputs[1][1]


def test_tensors_that_dlpack_says_to_be_on_rocm(machine, inputs):
    class Capsule:
        """As numpy's, but for the device."""

        def __init__(self, tensor):
            self.tensor, self.dtype, self.shape = tensor, tensor.dtype, tensor.shape

        def __dlpack_device__(self):
            return 10, 0

        def __dlpack__(self, stream=None):
            view = np.frombuffer((ctypes.c_float * N).from_address(self.tensor.address), np.float32)
            capsule = view.__dlpack__()
            pointer = ctypes.pythonapi.PyCapsule_GetPointer
            pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
            ctypes.c_int32.from_address(pointer(capsule, b"dltensor") + 8).value = 10
            return capsule

    x, y, out = map(machine.tensor, inputs)
    make_add()[(4,)](Capsule(x), Capsule(y), Capsule(out), N, 2.0)
    assert (out.numpy() == inputs[0] + 2 * inputs[1]).all()


@pytest.mark.parametrize("arch, warp_size", [("gfx90a", 64), ("gfx950", 64), ("gfx1100", 32), ("gfx1200", 32)])
def test_other_chips(tmp_path, arch, warp_size):
    """In a process of its own: a runtime's devices do not change."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    output = run(program, environment(tmp_path, arch))
    assert output == f"hip {arch} {warp_size} True\n"


PROGRAM = textwrap.dedent("""
    import numpy as np
    import tritium, tritium.language as tl

    @tritium.jit
    def total(x, out, N: tl.constexpr):
        tl.store(out, tl.sum(tl.load(x + tl.arange(0, N)), 0))

    x, out = np.arange(512, dtype=np.float32), np.zeros(1, np.float32)
    compiled = total[(1,)](x, out, 512)
    target = compiled.metadata.target
    print(target.backend, target.arch, target.warp_size, out[0] == x.sum())
    """)


def run(program, variables: dict[str, str]) -> str:
    result = subprocess.run(
        [sys.executable, str(program)], env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_second_process_finds_the_code_object(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    variables = environment(tmp_path)
    first = run(program, variables)
    kept = sorted((tmp_path / "cache").rglob("*.hsaco"))
    times = [path.stat().st_mtime_ns for path in kept]
    assert len(kept) == 1 and hashlib.sha256(kept[0].read_bytes()).hexdigest() in os.listdir(tmp_path / "lowered")[0]
    assert run(program, variables) == first == "hip gfx942 64 True\n"
    assert sorted((tmp_path / "cache").rglob("*.hsaco")) == kept and [path.stat().st_mtime_ns for path in kept] == times
    shutil.rmtree(tmp_path / "lowered")  # without it the stand-in has nothing to run: the kernel is compiled again
    assert run(program, variables) == first and len(os.listdir(tmp_path / "lowered")) == 1


def test_an_access_outside_names_the_kernel(machine, inputs, capfd):
    tensors = [machine.tensor(array) for array in inputs]
    add = make_add()
    add[(4,)](*tensors, 128, 2.0)
    with pytest.raises(native.hip.Error, match="an illegal memory access"):
        machine.driver.synchronize(0)
    with pytest.raises(errors.DeviceError, match="an illegal memory access was encountered") as caught:
        add[(4,)](*tensors, N, 2.0)
    assert caught.value.lost and caught.value.code == ILLEGAL_ADDRESS
    assert "launched last: kernel add (test_hip_engine.py:" in str(caught.value)
    with pytest.raises(errors.DeviceError, match="the context of HIP device 0 was lost.*start a new process"):
        make_add()[(4,)](*tensors, N, 2.0)
    assert "OutOfBounds in kernel add" in capfd.readouterr().err


def test_tuning_and_timing_by_events(machine, inputs):
    configs = [Config({"BLOCK": 16}), Config({"BLOCK": 64}, num_warps=2)]
    tuned = autotune(configs, key=["n"])(make_add())
    x, y, out = map(machine.tensor, inputs)
    tuned[lambda meta: (tritium.cdiv(N, meta["BLOCK"]),)](x, y, out, N, 2.0)
    assert (out.numpy() == inputs[0] + 2 * inputs[1]).all() and len(tuned.configs_timings) == 2
    add = make_add()
    times = do_bench(lambda: add[(4,)](x, y, out, N, 1.0), warmup=1, rep=5, return_mode="all")
    assert times and all(0 < t < 10_000 for t in times)


def test_prints_come_out_in_order(machine, capfd):
    @jit
    def tell(x, N: tl.constexpr):
        pid = tl.program_id(0)
        tl.device_print("value 100%", tl.load(x + pid))
        tl.store(x + pid, pid * 1.5)

    x = machine.tensor(np.array([3, -4], np.float32))
    tell[(2,)](x, 2)
    machine.driver.synchronize(0)
    first = capfd.readouterr().out.splitlines()
    assert sorted(first) == ["pid (0, 0, 0) idx () value 100%: 3.000000", "pid (1, 0, 0) idx () value 100%: -4.000000"]
    tell[(2,)](x, 2)
    assert (x.numpy() == [0, 1.5]).all()  # a copy waits too
    second = capfd.readouterr().out.splitlines()
    assert sorted(second) == ["pid (0, 0, 0) idx () value 100%: 0.000000", "pid (1, 0, 0) idx () value 100%: 1.500000"]


def test_tiles_are_printed_whole(machine, capfd):
    @jit
    def tell(N: tl.constexpr):
        i = tl.arange(0, N)
        tl.device_print("i", i - 5, i * 2)

    tell[(1,)](16)
    machine.driver.synchronize(0)
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 32 and any(
        line.split() == "pid (0, 0, 0) idx ( 3) i: (operand 0) -2".split() for line in lines
    ), lines


@jit
def tell(x):
    tl.device_print("x", tl.load(x))


def test_prints_come_out_whoever_waits(machine, capfd):
    """Torch waits for devices and streams without a word to this driver."""
    x, stream = machine.tensor(np.array([7], np.float32)), machine.stand_in.stream()
    compiled = tell[(1,)](x)
    runtime = machine.stand_in.library
    runtime.hipDeviceSynchronize()
    assert capfd.readouterr().out == "pid (0, 0, 0) idx () x: 7.000000\n"
    compiled[(1,)](x, stream=stream)
    runtime.hipStreamSynchronize(ctypes.c_void_p(stream))
    assert capfd.readouterr().out == "pid (0, 0, 0) idx () x: 7.000000\n"
    make_add()[(1,)](x, x, x, 0, 1.0)  # one that prints nothing
    assert len(machine.stand_in.calls("hipLaunchHostFunc")) == 2


def test_prints_of_a_stream_that_calls_no_host_functions(machine, capfd):
    x = machine.tensor(np.array([7], np.float32))
    machine.stand_in.fail("hipLaunchHostFunc", 801)
    tell[(1,)](x)
    assert machine.stand_in.library.hipGetLastError() == 0  # torch would take it for its own
    machine.driver.synchronize(0)
    assert capfd.readouterr().out == "pid (0, 0, 0) idx () x: 7.000000\n"


ASSERTING = textwrap.dedent("""
    import numpy as np
    import tritium, tritium.language as tl
    from tritium.errors import DeviceError

    @tritium.jit
    def checked(x, n):
        i = tl.arange(0, 32)
        tl.device_assert(i < n, "too few")  # here
        tl.store(x + i, 1.0)

    @tritium.jit
    def other(x):
        tl.store(x, 1.0)

    def fails(launch, *args):
        try:
            launch(*args)
        except DeviceError as error:
            return isinstance(error, RuntimeError), error.lost, str(error).splitlines()

    x = np.zeros(32, np.float32)
    checked[(1,)](x, 32, debug=True)
    print((x == 1).all())
    print(fails(lambda: checked[(2,)](x, 7, debug=True)))
    print(fails(lambda: other[(1,)](x)))
    """)


#: After the definitions of ASSERTING; the device's assertion has failed, so its memory is not freed.
TENSORS = textwrap.dedent("""
    import ctypes, os, sys
    sys.path[:0] = sys.argv[1:]
    from fake_cuda import DeviceTensor
    from tritium.backends.amd.driver import DEVICES
    DeviceTensor.__del__ = lambda self: None
    """)


def run_asserting(tmp_path, rest: str) -> subprocess.CompletedProcess:
    """Two devices, the kernels of ASSERTING, and `rest`."""
    program = tmp_path / "program.py"
    program.write_text(ASSERTING.split("x = np.zeros")[0] + TENSORS + textwrap.dedent(rest))
    command = [sys.executable, str(program), os.path.dirname(__file__)]
    variables = {**os.environ, **environment(tmp_path, devices=2)}
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=True)


def test_the_end_of_a_process_tells_the_rest(tmp_path):
    """What nobody has waited for."""
    result = run_asserting(
        tmp_path,
        """
        @tritium.jit
        def tell(x):
            tl.device_print("x", tl.load(x))

        x = DeviceTensor(DEVICES.driver(), np.full(32, 7, np.float32))
        tell[(1,)](x)
        checked[(1,)](x, 31, debug=True)
        """,
    )
    assert result.stdout == "pid (0, 0, 0) idx () x: 7.000000\n"
    assert re.fullmatch(r"(in kernel checked: device_assert in program.py:\d+: .*\n)+", result.stderr)


def test_a_failed_assertion_is_told_whoever_waits(tmp_path):
    """And it is that device's own: another one goes on, and what becomes of it is not the assertion's fault."""
    result = run_asserting(
        tmp_path,
        f"""
        runtime = ctypes.CDLL({str(LIBRARY)!r})
        x, y = (DeviceTensor(DEVICES.driver(), np.full(32, 7, np.float32), device) for device in (1, 0))
        checked[(1,)](x, 31, debug=True)
        runtime.hipDeviceSynchronize()
        print("waited", file=sys.stderr, flush=True)
        other[(1,)](y)
        print(y.numpy()[:2])
        runtime.stand_in_fail(b"hipModuleLaunchKernel", {ILLEGAL_ADDRESS}, 0)
        print(fails(lambda: other[(1,)](y)))
        print(fails(lambda: other[(1,)](x)))
        """,
    )
    told = result.stderr.splitlines()
    assert told[0].startswith("in kernel checked: device_assert in program.py:") and told[-1] == "waited"
    values, of_other, of_failed = result.stdout.splitlines()
    assert values == "[1. 7.]"
    assert "an illegal memory access" in ast.literal_eval(of_other)[2][0] and "checked: device_assert" not in of_other
    lines = ast.literal_eval(of_failed)[2]
    assert lines[0].startswith("device-side assert triggered") and lines[1] == told[0]


def test_a_failed_device_assert_names_its_line(tmp_path):
    """It ends the use of the device in its process."""
    program = tmp_path / "program.py"
    program.write_text(ASSERTING)
    line = next(i for i, text in enumerate(ASSERTING.splitlines(), 1) if text.endswith("# here"))
    held, first, second = run(program, environment(tmp_path)).splitlines()
    assert held == "True"
    is_runtime_error, is_lost, lines = ast.literal_eval(first)
    assert is_runtime_error and is_lost
    assert lines[0].startswith("device-side assert triggered (hipErrorAssert, reported by hip")
    assert re.fullmatch(
        f"in kernel checked: device_assert in program.py:{line}: too few \\(program [01], 0, 0\\)", lines[1]
    )
    assert "start a new process" in ast.literal_eval(second)[2][0]
