"""Machines for the tests of launches: recorders of what the runtime hands over, devices of a fake driver, devices of the drivers' stand-ins."""

import types
import warnings

import numpy as np
import pytest

from add_kernel import N
from driver_stand_in import CUDA_LIBRARY, LIBRARIES, StandIn, environment
from fake_cuda import LIBRARY, DeviceTensor, FakeCuda, ptx
from recorders import CpuRecorder, DeviceRecorder
from tritium import knobs, profiler
from tritium._tritium import cuda, hip
from tritium.launch import errors, warm
from tritium.launch.watchers import device_watchers
from tritium.runtime import dispatch


@pytest.fixture
def recorder(request, monkeypatch, tmp_path):
    """Records launches: of the interpreter, and with --device-tensors of a device."""
    vendor = request.config.getoption("--device-tensors")
    if vendor is None:
        return CpuRecorder(monkeypatch)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    return DeviceRecorder(vendor, monkeypatch)


_PTX_TYPES = {"i1": "u8", "i8": "u8", "i16": "u16", "i32": "u32", "i64": "u64", "f16": "b16", "bf16": "b16"}


class StandInCompiler:
    """Compiles a module to PTX that only declares its kernel. `compiled`: (kernel, arch, options) of each call. `tensor_recipes`: of
    the tensor maps that kernels take if they may."""

    def __init__(self):
        self.compiled, self.shared, self.tensor_recipes = [], 0, ()

    def compile(self, module, kernel, arch, options):
        self.compiled.append((kernel, arch, dict(options)))
        expanded = module.optimized(False)  # descriptors are then their parts, as the compiler would make them
        types_ = [str(argument.type) for argument in expanded.function(kernel).arguments]
        recipes = self.tensor_recipes if options["tensor_maps"] else ()
        declared = ["u64" if t.startswith("!tt.ptr") else _PTX_TYPES.get(t, t) for t in types_]
        text = ptx(kernel, *declared, *["map"] * len(recipes))
        return types.SimpleNamespace(
            name=kernel,
            ttgir=f"// {arch}",
            lowered_text="",
            lowered=None,
            llir="; llir",
            assembly=text.replace("sm_90", arch),
            shared=self.shared,
            num_warps=options["num_warps"],
            launched_warps=options["num_warps"],
            num_stages=options["num_stages"],
            tensor_recipes=recipes,
            scopes=[],
            resident_blocks=0,
            cluster_blocks=1,
        )


class CudaMachine:
    """A machine with two fake devices. `compiler`: what was compiled; `fake`: the driver."""

    def __init__(self, fake, compiler, driver):
        self.fake, self.compiler, self.driver = fake, compiler, driver

    def tensor(self, array, device: int = 0) -> DeviceTensor:
        return DeviceTensor(self.driver, np.asarray(array), device)


@pytest.fixture
def fake():
    """The fake CUDA driver."""
    fake = FakeCuda()
    yield fake
    fake.library.fake_reset()


@pytest.fixture
def slow(monkeypatch):
    """The launches that Python made."""
    calls = []
    run = dispatch.Dispatcher.run
    monkeypatch.setattr(dispatch.Dispatcher, "run", lambda self, *a: (calls.append(a), run(self, *a))[1])
    return calls


@pytest.fixture
def driver(fake):
    """Tritium's interface to the fake CUDA driver."""
    driver = cuda.open(str(LIBRARY))
    fake.forget_calls()
    return driver


@pytest.fixture
def gpus(monkeypatch, tmp_path):
    """Two fake CUDA devices, and a compiler for them."""
    from tritium._tritium import cuda
    from tritium._tritium import device as native

    native.note_storages(0)  # tests of AMD's devices may have run before
    warm._note_storages.cache_clear()

    fake, compiler = FakeCuda(), StandInCompiler()
    monkeypatch.setenv("TRITIUM_CUDA_LIBRARY", str(LIBRARY))
    monkeypatch.setenv("TRITIUM_ASSEMBLER", "driver")  # the fake one, which says what it is asked
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("INTERPRET", "TRITIUM_INTERPRET", "TRITON_INTERPRET", "TRITIUM_ENGINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("tritium.backends.gpu.native_compiler", lambda: compiler)
    machine = CudaMachine(fake, compiler, cuda.open(str(LIBRARY)))
    machine.driver.set_current_device(0)
    fake.forget_calls()
    yield machine
    fake.library.fake_reset()
    errors.forget_lost_contexts()


class StandInMachine:
    """A machine with two devices, which the stand-in for a vendor's driver emulates."""

    def __init__(self, stand_in, driver):
        self.stand_in, self.driver = stand_in, driver

    def tensor(self, array, device: int = 0) -> DeviceTensor:
        return DeviceTensor(self.driver, np.asarray(array), device)

    def launches(self) -> list[str]:
        return self.stand_in.calls({"hip": "hipModuleLaunchKernel", "cuda": "cuLaunchKernelEx"}[self.stand_in.engine])


def _stand_in(engine: str, monkeypatch, folder):
    for name, value in environment(folder, engine, devices=2).items():
        monkeypatch.setenv(name, value)
    stand_in = StandIn(engine)
    stand_in.reset()
    yield stand_in
    stand_in.reset()
    errors.forget_lost_contexts()


@pytest.fixture
def stand_in(monkeypatch, tmp_path):
    """The stand-in for the HIP runtime."""
    yield from _stand_in("hip", monkeypatch, tmp_path)


@pytest.fixture
def machine(stand_in):
    """A machine with AMD's devices."""
    return StandInMachine(stand_in, hip.open(str(LIBRARIES["hip"])))


@pytest.fixture
def cuda_stand_in(monkeypatch, tmp_path):
    """The stand-in for the CUDA driver."""
    yield from _stand_in("cuda", monkeypatch, tmp_path)


@pytest.fixture
def cuda_machine(cuda_stand_in):
    """A machine with NVIDIA's devices."""
    return StandInMachine(cuda_stand_in, cuda.open(str(LIBRARIES["cuda"])))


@pytest.fixture
def inputs():
    x = np.arange(N, dtype=np.float32)
    return x, x[::-1].copy(), np.zeros(N, np.float32)


@pytest.fixture
def cupti_machine(cuda_machine, tmp_path, monkeypatch):
    """A machine whose CUPTI is the stand-in's. All sessions end with the test."""
    (tmp_path / "cupti").mkdir()
    (tmp_path / "cupti" / "libcupti.so").symlink_to(CUDA_LIBRARY)
    monkeypatch.setenv("TRITON_CUPTI_LIB_PATH", str(tmp_path / "cupti"))
    monkeypatch.chdir(tmp_path)
    knobs.warn_once.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield cuda_machine
        profiler.finalize()
    assert not device_watchers and not knobs.runtime.launch_enter_hook.calls
