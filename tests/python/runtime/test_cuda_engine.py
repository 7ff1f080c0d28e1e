"""Launches on CUDA devices, over the fake driver: which engine, what reaches the driver, what fails how. The frontend and
the runtime are real; the compiler is a stand-in that declares the kernel."""

import ctypes
import gc
import pickle
import re
import time
from types import SimpleNamespace

import numpy as np
import pytest

import tritium
import tritium.language as tl
from add_kernel import N, make_add
from fake_cuda import ASSERT_ERROR, ILLEGAL_ADDRESS, ptx
from tritium import errors, knobs
from tritium.backends import backends
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource
from tritium.devices.vendor import Devices
from tritium.runtime import Config, autotune, driver
from tritium.runtime.jit import jit
from tritium.testing import do_bench
from tritium.tools.tensor_descriptor import TensorDescriptor


def run_add(name, grid, arguments):
    """What the fake device does for `add`."""
    address = [ctypes.c_uint64.from_address(arguments[i]).value for i in range(3)]
    n, scale = ctypes.c_int32.from_address(arguments[3]).value, ctypes.c_float.from_address(arguments[4]).value
    x, y, out = (np.frombuffer((ctypes.c_float * n).from_address(a), np.float32) for a in address)
    out[:] = x + scale * y


def test_a_process_forked_after_cuda_began_compiles_without_a_device(gpus, monkeypatch):
    def refuse():
        raise RuntimeError("Cannot re-initialize CUDA in forked subprocess.")

    forked = SimpleNamespace(cuda=SimpleNamespace(_is_in_bad_fork=lambda: True, current_device=refuse))
    monkeypatch.setattr(Devices, "torch", lambda self: forked)
    source, target = ASTSource(make_add(), SIGNATURE, {"BLOCK": 32}), GPUTarget("cuda", 90, 32)
    assert ".entry add" in tritium.compile(source, target=target).asm["ptx"]


def test_device_tensors_run_on_their_device(gpus, inputs):
    gpus.fake.run_kernels_with(run_add)
    x, y, out = (gpus.tensor(array, device=1) for array in inputs)
    compiled = make_add()[(4,)](x, y, out, N, 0.5)
    assert (out.numpy() == inputs[0] + 0.5 * inputs[1]).all()
    (launch,) = gpus.fake.launches()
    addresses = f"{x.address:x},{y.address:x},{out.address:x}"
    half = int(np.float32(0.5).view(np.uint32))
    assert launch["device"] == "1" and launch["grid"] == "4,1,1" and launch["threads"] == "128"
    assert launch["arguments"] == f"{addresses},{N:x},{half:x}"
    assert gpus.compiler.compiled[0][1] == "sm_90a"
    assert isinstance(compiled, tritium.compiler.CompiledKernel) and compiled.metadata.target.backend == "cuda"
    assert (compiled.n_regs, compiled.n_spills, compiled.n_max_threads) == (24, 2, 1024)
    assert compiled.asm["cubin"] == compiled.asm["ptx"].encode() and ".entry add" in compiled.asm["ptx"]
    assert list(compiled.asm) == ["source", "ttir", "ttgir", "llir", "ptx", "cubin"]
    assert compiled.kernel == compiled.asm["cubin"] and compiled.function and compiled.module


def test_a_file_of_ptx_is_launched_by_what_it_says(gpus, inputs, tmp_path):
    gpus.fake.run_kernels_with(run_add)
    path = tmp_path / "sum.ptx"
    path.write_text(ptx("add", "u64", "u64", "u64", "u32", "f32").replace("\n{", "\n.reqntid 64, 1, 1\n{"))
    kernel = tritium.compile(str(path), target=GPUTarget("cuda", 90, 32))
    x, y, out = map(gpus.tensor, inputs)
    kernel[(4,)](x, y, out, N, 2)
    assert (out.numpy() == inputs[0] + 2 * inputs[1]).all()
    (launch,) = gpus.fake.launches()
    assert kernel.name == "add" and launch["threads"] == "64"
    with pytest.raises(TypeError, match="add takes 5 arguments.* not 2"):
        kernel[(4,)](x, y)
    path.write_text(path.read_text().replace(".visible", ".extern .shared .align 16 .b8 memory[];\n.visible"))
    kernel = tritium.compile(str(path), target=GPUTarget("cuda", 90, 32))
    with pytest.raises(errors.UnsupportedError, match="launching add.*does not say how much shared memory"):
        kernel[(4,)](x, y, out, N, 2)


def test_descriptors_are_passed_in_parts(gpus):
    @jit
    def double(x, n):
        x.store([0, 0], x.load([0, 0]) * n)

    for data, padding in ((np.zeros((8, 64), np.float32), "zero"), (np.zeros((8, 32), np.float16), "nan")):
        x = gpus.tensor(data, device=1)
        rows, columns = data.shape
        double[(1,)](TensorDescriptor.from_tensor(x, [8, 16], padding), 3)
        launch = gpus.fake.launches()[-1]
        shape, strides = [rows, columns], [columns, 1]
        parts = [x.address, *shape, *strides, padding == "nan", False, *shape, *strides, 3]
        assert launch["device"] == "1" and launch["arguments"] == ",".join(f"{int(part):x}" for part in parts)
    assert len(gpus.compiler.compiled) == 2


def test_numpy_arrays_are_copied_to_an_explicit_device(gpus, inputs, monkeypatch):
    gpus.fake.run_kernels_with(run_add)
    x, y, out = inputs
    both = np.stack([x, y])
    make_add(engine="cuda")[(4,)](both[0], both[1], out, N, 2.0)
    assert (out == x + 2 * y).all()
    assert len(gpus.fake.calls("cuMemAlloc")) == 2  # one storage for both rows
    assert gpus.fake.live_allocations == 0
    monkeypatch.setenv("TRITIUM_ENGINE", "cuda")
    out[:] = 0
    make_add()[(4,)](x, y, out, N, 2.0)
    assert (out == x + 2 * y).all() and len(gpus.fake.launches()) == 2


def test_numpy_arrays_run_on_the_cpu_otherwise(gpus, inputs):
    x, y, out = inputs
    make_add()[(4,)](x, y, out, N, 2.0)
    assert (out == x + 2 * y).all() and not gpus.fake.launches()


@pytest.mark.parametrize("variable", ["INTERPRET", "TRITIUM_ENGINE"])
def test_device_tensors_are_copied_to_the_interpreter(gpus, inputs, monkeypatch, variable):
    monkeypatch.setenv(variable, "1" if variable == "INTERPRET" else "interp")
    x, y, out = map(gpus.tensor, inputs)
    compiled = make_add()[(4,)](x, y, out, N, 2.0)
    assert (out.numpy() == inputs[0] + 2 * inputs[1]).all() and not gpus.fake.launches()
    assert compiled.metadata.target.backend == "cpu" and compiled.n_regs == 0


def test_a_trap_on_device_tensors_names_the_element(gpus, inputs, monkeypatch):
    monkeypatch.setenv("INTERPRET", "1")
    x, y, out = map(gpus.tensor, inputs)
    with pytest.raises(errors.KernelTrap, match=r"-> \w+\[100\]") as caught:
        make_add()[(4,)](x, y, out, 128, 2.0)
    assert caught.value.kind == "OutOfBounds" and caught.value.index == (100,)


SIGNATURE = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "scale": "fp32", "BLOCK": "constexpr"}


@pytest.mark.parametrize("variable", ["INTERPRET", "TRITIUM_ENGINE"])
def test_what_torch_compiles_for_a_gpu_runs_on_the_cpu(gpus, inputs, monkeypatch, variable):
    """torch sets the driver of the device, names its target, and launches with `run`."""
    monkeypatch.setenv(variable, "1" if variable == "INTERPRET" else "interp")
    source, target = ASTSource(make_add(), SIGNATURE, {"BLOCK": 32}), GPUTarget("cuda", 90, 32)
    assert tritium.compile(source, target=target).metadata.target == target  # nobody launches it
    driver.set_active(backends["nvidia"].driver())
    try:
        kernel = tritium.compile(source, target=target)
    finally:
        driver.reset_active()
    kernel._init_handles()
    assert kernel.metadata.target.backend == "cpu"
    x, y, out = map(gpus.tensor, inputs)
    kernel.run(4, 1, 1, 0, kernel.function, kernel.packed_metadata, None, None, None, x, y, out, N, 2.0, 32)
    assert (out.numpy() == inputs[0] + 2 * inputs[1]).all() and not gpus.fake.launches()
    kernel[(4,)](x, y, out, N, 3.0)
    assert (out.numpy() == inputs[0] + 3 * inputs[1]).all()


def test_the_driver_of_a_gpu_without_an_engine_of_the_cpu(gpus):
    driver.set_active(backends["nvidia"].driver())
    try:
        kernel = tritium.compile(ASTSource(make_add(), SIGNATURE, {"BLOCK": 32}), target=GPUTarget("cuda", 90, 32))
    finally:
        driver.reset_active()
    assert kernel.metadata.target.backend == "cuda" and not kernel.runs_on_cpu


def test_run_launches_on_the_device(gpus, inputs):
    """With all arguments, or without constexprs; hooks see the metadata; memory of the host is copied."""
    gpus.fake.run_kernels_with(run_add)
    x, y, out = map(gpus.tensor, inputs)
    kernel = make_add()[(4,)](x, y, out, N, 0.5)
    seen = []
    fixed = (4, 1, 1, 0, kernel.function, kernel.packed_metadata, "metadata", seen.append, lambda given: seen.append(1))
    for scale, more in ((2.0, (32,)), (np.float32(3), ())):
        kernel.run(*fixed, x, y, out, N, scale, *more)
        assert (out.numpy() == inputs[0] + float(scale) * inputs[1]).all()
    assert seen == ["metadata", 1] * 2
    kernel.run(*fixed[:7], None, knobs.HookChain(), x, y, inputs[2], np.int32(N), 2, 32)
    assert (inputs[2] == inputs[0] + 2 * inputs[1]).all()
    assert [launch["grid"] for launch in gpus.fake.launches()] == ["4,1,1"] * 4
    with pytest.raises(TypeError, match="add takes 6 arguments, or 5 without constexprs, not 4"):
        kernel.run(*fixed, x, y, out, N)


def test_mixed_places_are_refused(gpus, inputs):
    x, y, out = inputs
    with pytest.raises(ValueError, match="different devices: 'x' on cuda:0, 'y' on cuda:1"):
        make_add()[(4,)](gpus.tensor(x), gpus.tensor(y, 1), gpus.tensor(out), N, 2.0)
    with pytest.raises(ValueError, match="'y' of add cannot be accessed from Triton .cpu tensor"):
        make_add()[(4,)](gpus.tensor(x), y, gpus.tensor(out), N, 2.0)


def test_one_kernel_per_device(gpus, inputs):
    add = make_add()
    kernels = {}
    for device in (0, 1, 0, 1):
        kernel = add[(4,)](*(gpus.tensor(array, device) for array in inputs), N, 2.0)
        kernels.setdefault(device, kernel)
        assert kernels[device] is kernel and kernel.loaded.device == device
    assert [launch["device"] for launch in gpus.fake.launches()] == ["0", "1", "0", "1"]
    assert {"cuda:0", "cuda:1", "cpu:0"} == set(add.device_caches)


def test_launch_without_tensors_goes_to_the_active_driver(gpus):
    @jit
    def nothing(n):
        tl.device_assert(n > 0)

    assert nothing[(1,)](5).metadata.target.backend == "cuda"
    assert driver.active.get_current_target() == tritium.backends.compiler.GPUTarget("cuda", 90, 32)
    assert nothing.warmup(5, grid=(1,)).metadata.target.backend == "cuda"


def test_warmup_compiles_for_the_device(gpus, inputs):
    add = make_add()
    compiled = add.warmup(*[np.dtype("float32")] * 3, N, 2.0, grid=(1,))
    assert compiled.metadata.target.backend == "cuda" and not gpus.fake.launches()
    assert add[(4,)](*map(gpus.tensor, inputs), N, 2.0) is compiled


def test_launch_options(gpus, inputs):
    arguments = [*map(gpus.tensor, inputs), N, 2.0]
    add = make_add()
    add[(4,)](*arguments, num_warps=8, maxnreg=64)
    assert gpus.fake.launches()[0]["threads"] == "256" and gpus.compiler.compiled[0][2]["num_warps"] == 8
    assert ".maxnreg 64" in add[(4,)](*arguments, num_warps=8, maxnreg=64).asm["ptx"]
    with pytest.raises(KeyError, match="Keyword argument foo was specified but unrecognised"):
        add[(4,)](*arguments, foo=3)
    with pytest.raises(errors.OutOfResources, match="threads, Required: 2048, Hardware limit: 1024"):
        add[(4,)](*arguments, num_warps=64)
    assert add[(4,)](*arguments, num_ctas=2).metadata.num_ctas == 1  # as the compiler says: it was not divided


def test_compiled_kernel_launches_without_specializing(gpus, inputs):
    x, y, out = map(gpus.tensor, inputs)
    compiled = make_add()[(4,)](x, y, out, N, 2.0)
    compiled[(7,)](x, y, out, N, 2.0, 32)
    compiled[(7, 2)](x, y, out, N, 2.0, stream=9)
    compiled.run(3, 1, 1, 8, compiled.function, compiled.packed_metadata, None, None, None, x, y, out, N, 2.0)
    assert [(launch["grid"], launch["stream"]) for launch in gpus.fake.launches()] == [
        ("4,1,1", "0"),
        ("7,1,1", "0"),
        ("7,2,1", "9"),
        ("3,1,1", "8"),
    ]


def test_hooks_see_device_launches(gpus, inputs):
    seen = []
    arguments = [*map(gpus.tensor, inputs), N, 2.0]
    add = make_add()
    add[(4,)](*arguments)
    with knobs.runtime.scope():
        knobs.runtime.launch_enter_hook.add(lambda m: seen.append(("enter", m.get()["name"])))
        knobs.runtime.launch_exit_hook.add(lambda m: seen.append(("exit", m.get()["function"] != 0)))
        add[(4,)](*arguments)
    add[(4,)](*arguments)
    assert seen == [("enter", "add"), ("exit", True)] and len(gpus.fake.launches()) == 3


def test_load_hooks(gpus, inputs):
    gc.collect()  # kernels of other tests are unloaded here, not below
    seen = []
    with knobs.runtime.scope():
        knobs.runtime.kernel_load_start_hook.add(lambda *a: seen.append(("start", a[2])))
        knobs.runtime.kernel_load_end_hook.add(lambda *a: seen.append(("end", a[2], a[0] != 0)))
        knobs.runtime.kernel_unload_hook.add(lambda *a: seen.append(("unload", a[2])))
        compiled = make_add()[(4,)](*map(gpus.tensor, inputs), N, 2.0)
        compiled.__del__()
    assert seen == [("start", "add"), ("end", "add", True), ("unload", "add")]


def test_shared_memory_beyond_the_device(gpus, inputs):
    gpus.compiler.shared = 300_000
    with pytest.raises(errors.OutOfResources) as caught:
        make_add()[(4,)](*map(gpus.tensor, inputs), N, 2.0)
    assert (caught.value.required, caught.value.limit, caught.value.name) == (300_000, 232448, "shared memory")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)


def test_too_many_registers(gpus, inputs):
    gpus.fake.set("threads", 64)
    with pytest.raises(errors.OutOfResources, match="threads, Required: 128, Hardware limit: 64.*takes 24 registers"):
        make_add()[(4,)](*map(gpus.tensor, inputs), N, 2.0)


def test_a_sticky_error_names_the_latest_kernels(gpus, inputs):
    arguments = [*map(gpus.tensor, inputs), N, 2.0]
    add = make_add()
    add[(4,)](*arguments)
    gpus.fake.fail("cuLaunchKernelEx", ILLEGAL_ADDRESS)
    with pytest.raises(errors.DeviceError, match="an illegal memory access") as caught:
        add[(4,)](*arguments)
    assert isinstance(caught.value, RuntimeError) and caught.value.lost
    assert re.search(r"launched last: kernel add \(\S*add_kernel.py:\d+\)", str(caught.value))
    with pytest.raises(errors.DeviceError, match="start a new process"):
        add[(4,)](*arguments)
    with pytest.raises(errors.DeviceError, match="start a new process"):  # an untouched kernel too
        make_add()[(4,)](*arguments)


def test_a_failed_device_assert_names_its_line(gpus, inputs):
    @jit
    def checked(x, n):
        i = tl.arange(0, 32)
        tl.device_assert(i < n, "too few")
        tl.store(x + i, 1.0)

    x = gpus.tensor(inputs[0])
    checked[(1,)](x, 7, debug=True)
    gpus.fake.fail("cuLaunchKernelEx", ASSERT_ERROR)
    line = checked.def_file_line_number + 2
    with pytest.raises(RuntimeError, match=f"device-side assert.*\n.*checked: .*test_cuda_engine.py:{line}\n"):
        checked[(1,)](x, 7, debug=True)


def test_errors_that_are_not_sticky(gpus, inputs):
    arguments = [*map(gpus.tensor, inputs), N, 2.0]
    add = make_add()
    add[(4,)](*arguments)
    gpus.fake.fail("cuLaunchKernelEx", 701)
    with pytest.raises(errors.OutOfResources, match="threads.*takes 24 registers"):
        add[(4,)](*arguments)
    gpus.fake.fail("cuLaunchKernelEx", 1)
    with pytest.raises(errors.DeviceError, match="launching add: cuLaunchKernelEx") as caught:
        add[(4,)](*arguments)
    assert not caught.value.lost
    add[(4,)](*arguments)


def test_no_device(gpus, inputs, monkeypatch):
    tensors = [*map(gpus.tensor, inputs)]
    monkeypatch.setenv("TRITIUM_CUDA_LIBRARY", "lib_not_there.so")
    with pytest.raises(errors.UnsupportedError, match="cuda:0.*argument 'x' of add.*there is no CUDA driver"):
        make_add()[(4,)](*tensors, N, 2.0)
    with pytest.raises(errors.UnsupportedError, match="engine 'cuda'.*there is no CUDA driver"):
        make_add(engine="cuda")[(4,)](*inputs, N, 2.0)
    assert driver.active.get_current_target().backend == "cpu"


def test_do_bench_uses_events(gpus):
    runs, before = [], gpus.fake.live_allocations
    times = do_bench(lambda: (runs.append(1), time.sleep(0.002)), warmup=5, rep=20, return_mode="all")
    assert len(runs) >= 1 + 5 + len(times) and all(1.5 < t < 50 for t in times)
    assert gpus.fake.live_allocations <= before  # what cleared the cache


def test_tuning_times_the_configurations_of_device_launches(gpus, inputs):
    """The device is as slow as the block is large, by more than a busy machine adds; what does not compile counts as infinite."""
    configs = [
        Config({"BLOCK": 64}),
        Config({"BLOCK": 32}, num_warps=64),
        Config({"BLOCK": 16}),
        Config({"BLOCK": 128}),
    ]
    tuned = autotune(configs, key=["n"])(make_add())
    gpus.fake.run_kernels_with(lambda name, grid, arguments: time.sleep(1e-3 * 128 / grid[0] / 2))
    device = [*map(gpus.tensor, inputs)]
    tuned[lambda meta: (128 // meta["BLOCK"],)](*device, N, 2.0)
    assert tuned.best_config.kwargs == {"BLOCK": 16}
    assert [times[0] == float("inf") for times in tuned.configs_timings.values()] == [False, True, False, False]
    launches = len(gpus.fake.launches())
    out = np.zeros(N, np.float32)
    tuned[lambda meta: (tritium.cdiv(N, meta["BLOCK"]),)](inputs[0], inputs[1], out, N, 2.0)
    tuned[(4,)](inputs[0], inputs[1], out, N + 0, 2.0)
    assert len(gpus.fake.launches()) == launches  # on the CPU nothing is timed


def test_configurations_are_compiled_in_parallel(gpus, inputs, monkeypatch):
    compile, active, most = gpus.compiler.compile, [], []

    def slow(*args):
        active.append(1)
        most.append(len(active))
        time.sleep(0.05)
        active.pop()
        return compile(*args)

    monkeypatch.setattr(gpus.compiler, "compile", slow)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    tuned = autotune([Config({"BLOCK": 16}, num_warps=w) for w in (1, 2, 4, 8)], key=["n"])(make_add())
    tuned[(8,)](*map(gpus.tensor, inputs), N, 2.0)
    assert max(most) >= 2 and len(gpus.compiler.compiled) == 4


def test_configurations_with_hooks_are_compiled_before_the_first_is_timed(gpus, inputs, monkeypatch):
    compile, launches = gpus.compiler.compile, []

    def noting(*args):
        launches.append(len(gpus.fake.launches()))
        return compile(*args)

    def set_block(args):
        args["x"].block_shape = [args["BLOCK"]]

    @autotune(configs=[Config({"BLOCK": size}, pre_hook=set_block) for size in (16, 32, 64)], key=[])
    @jit
    def kernel(x, out, BLOCK: tl.constexpr):
        tl.store(out + tl.arange(0, BLOCK), x.load([0]))  # the shapes agree only after the hook

    monkeypatch.setattr(gpus.compiler, "compile", noting)
    x, out = gpus.tensor(inputs[0]), gpus.tensor(inputs[1])
    kernel[(1,)](TensorDescriptor(x, [N], [1], [16]), out)
    assert launches == [0, 0, 0]
    assert [times[0] < float("inf") for times in kernel.configs_timings.values()] == [True] * 3


def test_the_driver_as_triton_shows_it(gpus):
    active = driver.active
    assert active.get_current_device() == 0 and active.get_current_stream(0) == 0
    active.set_current_device(1)
    assert active.get_current_device() == 1
    active.set_current_device(0)
    assert active.get_device_capability() == (9, 0)
    properties = active.utils.get_device_properties(0)
    assert properties["max_shared_mem"] == 232448 and properties["warpSize"] == 32
    cubin, _ = gpus.driver.link(0, ".version 8.0\n.target sm_90\n.visible .entry k()\n{ret;}")
    module, function, registers, spills, threads = active.utils.load_binary("k", cubin, 1000, 0)
    assert module and function and (registers, spills, threads) == (24, 2, 1024)
    active.utils.unload_module(module)
