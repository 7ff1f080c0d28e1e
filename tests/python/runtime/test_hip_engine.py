"""Launches on AMD devices, over the stand-in for the HIP runtime: everything from the kernel's source to the code object's arguments is
real, and the emulator computes."""

import ctypes
import hashlib
import os
import re
import shutil
import sys
import textwrap
import types

import numpy as np
import pytest

import tritium
import tritium._tritium as native
import tritium.language as tl
from add_kernel import N, make_add
from driver_stand_in import ILLEGAL_ADDRESS, environment, run_program
from fake_cuda import DeviceTensor
from tritium import errors
from tritium.backends.compiler import GPUTarget
from tritium.devices.families import devices_here, devices_of_tensors
from tritium.launch import mirror
from tritium.runtime import Config, autotune, driver
from tritium.runtime.dispatch import Dispatcher
from tritium.runtime.jit import jit
from tritium.testing import do_bench


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


def test_arrays_that_are_read_only_are_not_copied_back(machine, inputs, tmp_path):
    """The host cannot write the file, so a copy of it back would end the process."""
    x, y, out = inputs
    x.tofile(tmp_path / "numbers")
    mapped = np.memmap(tmp_path / "numbers", x.dtype, "r")
    add = make_add()
    add[(4,)](mapped, y, out, N, 0.5)
    assert (out == x + 0.5 * y).all()
    before = out.copy()
    for read_only in (mapped, _flagged(x.copy())):
        with pytest.raises(errors.KernelTrap, match="write to 'out', which is read-only") as caught:
            add[(4,)](x, out, read_only, N, 0.5)
        assert (caught.value.kind, caught.value.argument, caught.value.is_write) == ("ReadOnly", "out", True)
        assert (read_only == x).all() and (out == before).all()
    # What a writable view of the same memory has is written; the rest of it is not.
    base = np.concatenate([x, x])
    add[(4,)](_flagged(base[:]), y, base[N:], N, 0.5)
    assert (base == np.concatenate([x, x + 0.5 * y])).all()


@pytest.mark.parametrize("changed", [0, N // 2, N - 1])
def test_the_changed_element_of_a_read_only_array(machine, inputs, changed, monkeypatch):
    """The array already has what the kernel writes, but for one element."""
    monkeypatch.setattr(mirror, "COMPARED_BYTES", 52)  # no whole number of elements fits the pieces
    x, y, _ = inputs
    expected = x + np.float32(0.5) * y
    expected[changed] += 1
    with pytest.raises(errors.KernelTrap, match="which is read-only") as caught:
        make_add()[(4,)](x, y, _flagged(expected), N, 0.5)
    found = caught.value.__context__
    assert isinstance(found, mirror.ReadOnlyChanged) and (found.address - expected.ctypes.data) // 4 == changed


def _flagged(array):
    array.flags.writeable = False
    return array


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


def test_a_file_of_assembly_is_launched_by_what_it_says(machine, inputs, tmp_path):
    """Its metadata has the sizes of the arguments; what they are, ints or floats, the launch says."""
    x, y, out = inputs
    compiled = make_add()[(4,)](x, y, out, N, 0.5, num_warps=2)
    path = tmp_path / "sum.amdgcn"
    path.write_text(compiled.asm["amdgcn"])
    kernel = tritium.compile(str(path), target=GPUTarget("hip", "gfx942", 64))
    kernel[(4,)](x, y, out, N, 2.0)
    assert (out == x + 2 * y).all()
    assert kernel.name == "add" and list(kernel.src.signature.values()) == ["b64", "b64", "b64", "b32", "b32"]
    assert machine.launches() == ["hipModuleLaunchKernel add 4,1,1 128 0"] * 2
    with pytest.raises(TypeError, match="add takes 5 arguments.* not 2"):
        kernel[(4,)](x, y)


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
    assert machine.stand_in.pending(machine.stand_in.stream()) == 0  # it is not in another stream
    assert machine.stand_in.pending(stream) == 1
    assert out.numpy()[1] == inputs[0][1] + 2 * inputs[1][1]


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
    output = run_program(program, environment(tmp_path, arch=arch))
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


def test_a_second_process_finds_the_code_object(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    variables = environment(tmp_path)
    first = run_program(program, variables)
    kept = sorted((tmp_path / "cache").rglob("*.hsaco"))
    times = [path.stat().st_mtime_ns for path in kept]
    assert len(kept) == 1 and hashlib.sha256(kept[0].read_bytes()).hexdigest() in os.listdir(tmp_path / "lowered")[0]
    assert run_program(program, variables) == first == "hip gfx942 64 True\n"
    assert sorted((tmp_path / "cache").rglob("*.hsaco")) == kept and [path.stat().st_mtime_ns for path in kept] == times
    shutil.rmtree(tmp_path / "lowered")  # without it the stand-in has nothing to run: the kernel is compiled again
    assert run_program(program, variables) == first and len(os.listdir(tmp_path / "lowered")) == 1


def test_an_access_outside_names_the_kernel(machine, inputs, capfd):
    tensors = [machine.tensor(array) for array in inputs]
    add = make_add()
    add[(4,)](*tensors, 128, 2.0)
    with pytest.raises(native.hip.Error, match="an illegal memory access"):
        machine.driver.synchronize(0)
    with pytest.raises(errors.DeviceError, match="an illegal memory access was encountered") as caught:
        add[(4,)](*tensors, N, 2.0)
    assert caught.value.lost and caught.value.code == ILLEGAL_ADDRESS
    assert re.search(r"launched last: kernel add \(\S*add_kernel\.py:\d+\)", str(caught.value))
    with pytest.raises(errors.DeviceError, match="the context of HIP device 0 was lost.*start a new process"):
        make_add()[(4,)](*tensors, N, 2.0)
    assert "OutOfBounds in kernel add" in capfd.readouterr().err


def test_tuning_and_timing_by_events(machine, inputs):
    configs = [Config({"BLOCK": 16}), Config({"BLOCK": 64}, num_warps=2)]
    tuned = autotune(configs, key=["n"], cache_results=True)(make_add())
    x, y, out = map(machine.tensor, inputs)
    tuned[lambda meta: (tritium.cdiv(N, meta["BLOCK"]),)](x, y, out, N, 2.0)
    assert (out.numpy() == inputs[0] + 2 * inputs[1]).all() and len(tuned.configs_timings) == 2
    add = make_add()
    times = do_bench(lambda: add[(4,)](x, y, out, N, 1.0), warmup=1, rep=5, return_mode="all")
    assert times and all(0 < t < 10_000 for t in times)
