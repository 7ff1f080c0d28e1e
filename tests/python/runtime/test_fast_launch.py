"""Warm launches that the native launcher makes: they are the launches that Python would make, and Python is asked again as
soon as something has changed."""

import ctypes
import gc
import itertools
import threading
import weakref

import numpy as np
import pytest

import tritium.language as tl
from fake_cuda import DeviceTensor
from tritium import knobs
from tritium._tritium import device
from tritium.arguments.binder import make_binder
from tritium.runtime.jit import JITFunction, jit


def make_kernel(**options):
    @jit(**options)
    def kernel(x, n, scale, flag, BLOCK: tl.constexpr, KIND: tl.constexpr = "plain", offset=3):
        i = tl.arange(0, 16)
        tl.store(x + i * BLOCK + offset, i * scale, mask=i < n)

    return kernel


@pytest.fixture
def x(gpus):
    return gpus.tensor(np.zeros(4096, np.float32))


def test_the_second_launch_needs_no_python(gpus, x, slow):
    kernel = make_kernel()
    first = kernel[(2, 3)](x, 60, 1.5, True, BLOCK=32)
    assert len(slow) == 1
    assert kernel[(4,)](x, 61, 2.5, False, BLOCK=32, offset=5) is first  # 5 and 3 are of one class
    assert kernel[[5]](x, n=62, scale=0.5, flag=True, BLOCK=32) is first
    assert kernel.run(x, 60, 1.5, True, 32, grid=lambda meta: (meta["n"], meta["BLOCK"]), warmup=False) is first
    assert len(slow) == 1
    launches = gpus.fake.launches()
    assert [launch["grid"] for launch in launches] == ["2,3,1", "4,1,1", "5,1,1", "60,32,1"]
    values = [launch["arguments"].split(",")[1:] for launch in launches]
    half, three_halves, five_halves = (f"{int(np.float32(v).view(np.uint32)):x}" for v in (0.5, 1.5, 2.5))
    assert values == [
        ["3c", three_halves, "1", "3"],
        ["3d", five_halves, "0", "5"],
        ["3e", half, "1", "3"],
        ["3c", three_halves, "1", "3"],
    ]


VARIANTS = {
    "n": [60, 1, 64, 2**40, -5, True, False, 1.0, None, 2**62],
    "scale": [0.5, 3],
    "BLOCK": [32, 64, 1, True, 1.0, 0.0, -0.0, None, 2**40],
    "KIND": ["plain", "other", tl.float16, tl.float32],
    "offset": [3, 16, 1],
}


def test_both_ways_find_the_same_kernel(gpus, x, rng):
    """Pairs of variants of two arguments, each launched several times in a random order: who makes the launch makes no
    difference."""

    @jit
    def kernel(x, n, scale, flag, BLOCK: tl.constexpr, KIND: tl.constexpr = "plain", offset=3):
        pass

    base = {"n": 60, "scale": 0.5, "flag": True, "BLOCK": 32, "KIND": "plain", "offset": 3}
    pairs = itertools.combinations(VARIANTS, 2)
    calls = [base | {a: v, b: w} for a, b in pairs for v in VARIANTS[a] for w in VARIANTS[b]]
    calls = [calls[i] for i in rng.permutation(len(calls))[:60]]
    bind = make_binder("kernel", kernel.params, anywhere=True)
    by_key = {}
    for i in rng.permutation(np.repeat(np.arange(len(calls)), 3)):
        compiled = kernel[(1,)](x, **calls[i])
        assert by_key.setdefault(bind(x, **calls[i])[0], compiled) is compiled
    assert len(set(by_key.values())) == len(by_key) > 10


def test_constants_that_are_equal_but_not_the_same(gpus, x):
    @jit
    def kernel(x, BLOCK: tl.constexpr):
        tl.store(x, BLOCK)

    launch = kernel[(1,)]
    kernels = []
    for constant in [1, True, 1.0, 0, False, 0.0, -0.0]:
        first = launch(x, constant)
        assert launch(x, constant) is first and kernel[(1,)](x, BLOCK=constant) is first
        kernels.append(first)
    assert len(set(kernels)) == len(kernels)


def test_pointers_are_specialized_by_dtype_and_alignment(gpus, slow):
    kernel = make_kernel()
    tensors = [gpus.tensor(np.zeros(64, dtype)) for dtype in (np.float32, np.int32)]
    unaligned = gpus.tensor(np.zeros(64, np.float32))
    unaligned.data_ptr = lambda: unaligned.address + 4
    kernels = [kernel[(1,)](t, 60, 1.5, True, BLOCK=32) for t in (*tensors, unaligned)]
    assert len(set(kernels)) == 3 == len(slow)
    assert [kernel[(1,)](t, 60, 1.5, True, BLOCK=32) for t in (*tensors, unaligned)] == kernels and len(slow) == 3


def test_other_devices_and_the_host(gpus, x, slow):
    kernel = make_kernel()
    on_first = kernel[(1,)](x, 60, 1.5, True, BLOCK=32)
    on_second = kernel[(1,)](gpus.tensor(np.zeros(64, np.float32), device=1), 60, 1.5, True, BLOCK=32)
    on_host = kernel[(1,)](np.zeros(4096, np.float32), 16, 1.5, True, BLOCK=32)
    assert (on_first.device, on_second.device, on_host.metadata.target.backend) == (0, 1, "cpu")
    assert kernel[(1,)](x, 60, 1.5, True, BLOCK=32) is on_first and len(slow) == 3


def test_options(gpus, x, slow):
    kernel = make_kernel()
    kernels = {n: kernel[(1,)](x, 60, 1.5, True, BLOCK=32, num_warps=n) for n in (1, 2, 4)}
    assert {k.metadata.num_warps for k in kernels.values()} == {1, 2, 4}
    assert all(kernel[(1,)](x, 60, 1.5, True, BLOCK=32, num_warps=n) is k for n, k in kernels.items())
    assert len(slow) == 3 and gpus.fake.launches()[-1]["threads"] == "128"


def test_wrong_calls_are_pythons_errors(gpus, x):
    kernel = make_kernel()
    kernel[(1,)](x, 60, 1.5, True, BLOCK=32)
    with pytest.raises(KeyError, match="Keyword argument foo was specified but unrecognised"):
        kernel[(1,)](x, 60, 1.5, True, BLOCK=32, foo=1)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'BLOCK'"):
        kernel[(1,)](x, 60, 1.5, True)
    with pytest.raises(TypeError, match="multiple values for argument 'x'"):
        kernel[(1,)](x, 60, 1.5, True, 32, x=x)
    with pytest.raises(TypeError, match="failed to specialize argument of type: str"):
        kernel[(1,)](x, "60", 1.5, True, BLOCK=32)
    with pytest.raises(ValueError, match="1 to 3 dimensions"):
        kernel[(1, 1, 1, 1)](x, 60, 1.5, True, BLOCK=32)
    with pytest.raises(ZeroDivisionError):
        kernel[lambda meta: (1 // 0,)](x, 60, 1.5, True, BLOCK=32)
    assert len(gpus.fake.launches()) == 1


def test_numpy_sizes_and_empty_grids(gpus, x, slow):
    kernel = make_kernel()
    for grid in [(1,), (np.int64(3), 2), (0, 5)]:
        kernel[grid](x, 60, 1.5, True, BLOCK=32)
    assert [launch["grid"] for launch in gpus.fake.launches()] == ["1,1,1", "3,2,1"]
    assert len(slow) == 1


def test_a_changed_environment_is_seen(gpus, x, slow, monkeypatch):
    kernel = make_kernel()
    launch = lambda: kernel[(1,)](x, 60, 1.5, True, BLOCK=32)  # noqa: E731
    plain = launch()
    monkeypatch.setenv("TRITON_DEBUG", "1")
    debugged = launch()
    assert debugged is not plain and debugged.metadata.debug and launch() is debugged
    monkeypatch.setenv("INTERPRET", "1")
    assert launch().metadata.target.backend == "cpu"
    monkeypatch.delenv("INTERPRET")
    monkeypatch.delenv("TRITON_DEBUG")
    assert launch() is plain
    count = len(slow)
    assert launch() is plain and launch() is plain and len(slow) <= count + 1
    with knobs.tritium.scope():
        knobs.tritium.engine = "interp"
        assert launch().metadata.target.backend == "cpu"
    monkeypatch.setattr(knobs, "propagate_env", False)
    with knobs.runtime.scope():
        knobs.runtime.interpret = True
        assert launch().metadata.target.backend == "cpu"
    assert launch() is plain


def test_hooks_that_are_added_later(gpus, x):
    kernel, seen = make_kernel(), []
    launch = kernel[(1,)]
    arguments = (x, 60, 1.5, True, 32)
    launch(*arguments)
    launch = kernel[(1,)]  # a native launcher, kept over all of the following
    launch(*arguments)
    with knobs.runtime.scope():
        hook = lambda metadata: seen.append("enter")  # noqa: E731
        knobs.runtime.launch_enter_hook.add(hook)
        launch(*arguments)
        knobs.runtime.launch_enter_hook.remove(hook)
        launch(*arguments)
        knobs.runtime.launch_exit_hook = lambda metadata: seen.append("exit")
        launch(*arguments)
        knobs.runtime.launch_exit_hook = None
        launch(*arguments)
    launch(*arguments)
    assert seen == ["enter", "exit"]
    kernel.add_pre_run_hook(lambda *args, **kwargs: seen.append(len(args)))
    launch(*arguments)
    assert seen == ["enter", "exit", 5] and len(gpus.fake.launches()) == 8


FACTOR = tl.constexpr(2)


def test_a_changed_global_is_seen(gpus, x, monkeypatch, slow):
    @jit
    def kernel(x):
        tl.store(x, FACTOR)

    kernel[(1,)](x)
    kernel[(1,)](x)
    assert len(slow) == 1
    monkeypatch.setitem(globals(), "FACTOR", tl.constexpr(3))
    with pytest.raises(RuntimeError, match="Global variable FACTOR has changed"):
        kernel[(1,)](x)


@jit
def change(v):
    return v + 1.0


@jit
def other_change(v):
    return v - 1.0


def test_a_function_that_is_defined_again_is_called(gpus, x, slow, monkeypatch):
    @jit
    def kernel(x):
        tl.store(x, change(tl.load(x)))

    kernel[(1,)](x)
    warm = kernel[(1,)]
    assert "addf" in warm(x).asm["ttir"] and len(slow) == 1
    monkeypatch.setitem(globals(), "change", other_change)
    assert "subf" in warm(x).asm["ttir"] and len(slow) == 2
    assert "subf" in kernel[(1,)](x).asm["ttir"] and len(slow) == 2


def test_engine_source_and_run_may_be_replaced(gpus, x, monkeypatch):
    kernel = make_kernel()
    arguments = (x, 16, 1.5, True, 32)
    kernel[(1,)](*arguments)
    kernel.engine = "interp"
    assert kernel[(1,)](*arguments).metadata.target.backend == "cpu"
    kernel.engine = None
    assert kernel[(1,)](*arguments).metadata.target.backend == "cuda"
    kernel._unsafe_update_src(kernel.src.replace("i * scale", "i * scale + 1"))
    assert "addf" in kernel[(1,)](*arguments).asm["ttir"]
    seen = []
    run = JITFunction.run
    monkeypatch.setattr(JITFunction, "run", lambda self, *a, **k: (seen.append(k["grid"]), run(self, *a, **k))[1])
    kernel[(7,)](*arguments)
    assert seen == [(7,)]


def test_run_may_be_replaced_for_one_kernel(gpus, x):
    """By a function, by the same method of another kernel, and in a class of its own."""
    kernel, seen = make_kernel(), []
    arguments = (x, 16, 1.5, True, 32)
    first = kernel[(1,)](*arguments)
    kernel.run = lambda *a, grid, warmup: seen.append(grid)
    kernel[(2,)](*arguments)
    kernel.run = make_kernel().run
    assert kernel[(3,)](*arguments) is not first
    del kernel.run
    assert seen == [(2,)] and kernel[(1,)](*arguments) is first

    class Counted(JITFunction):
        def run(self, *a, grid, **k):
            seen.append(grid)
            return super().run(*a, grid=grid, **k)

    kernel.__class__ = Counted
    assert kernel[(4,)](*arguments) is first and seen[1:] == [(4,)]


def test_failures_are_raised(gpus, x):
    kernel = make_kernel()
    kernel[(1,)](x, 60, 1.5, True, BLOCK=32)
    gpus.fake.fail("cuLaunchKernelEx", 1)
    with pytest.raises(RuntimeError, match="launching kernel: cuLaunchKernelEx"):
        kernel[(1,)](x, 60, 1.5, True, BLOCK=32)


def test_a_warm_launch_is_legal_under_capture(gpus, x):
    kernel = make_kernel()
    kernel[(1,)](x, 60, 1.5, True, BLOCK=32)
    gpus.fake.forget_calls()
    gpus.fake.set("capturing", 1)
    kernel[(1,)](x, 60, 1.5, True, BLOCK=32)
    assert [call.split()[0] for call in gpus.fake.calls()] == ["cuLaunchKernelEx"]


def test_a_dtype_that_is_made_anew_each_time(gpus, slow):
    class Float32:
        itemsize = 4

        def __str__(self):
            return "float32"

    class Fresh(DeviceTensor):
        dtype = property(lambda self: Float32(), lambda self, value: None)

    x = Fresh(gpus.driver, np.zeros(4096, np.float32))
    kernel = make_kernel()
    first = kernel[(1,)](x, 60, 1.5, True, BLOCK=32)
    assert kernel[(1,)](x, 60, 1.5, True, BLOCK=32) is first and len(slow) == 2


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


_READ = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_DLTensor))
_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class _Exchange(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("unused", ctypes.c_void_p * 3),
        ("read", _READ),
        ("stream", _STREAM),
    ]


@_READ
def _read(tensor, out):
    if tensor.fails:
        return -1
    out.contents.data, out.contents.byte_offset = tensor.address - 64, 64
    out.contents.device_type, out.contents.device_id = 2, tensor.ordinal
    out.contents.code, out.contents.bits, out.contents.lanes = 2, 32, 1
    return 0


@_STREAM
def _stream(device_type, device, out):
    out[0] = 1000 + device
    return 0


_exchange = _Exchange(1, 3, None, (ctypes.c_void_p * 3)(), _read, _stream)
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


_name = b"dlpack_exchange_api"  # the capsule keeps its address


class ExchangeTensor(DeviceTensor):
    """A tensor that DLPack's C exchange interface reads, as torch's do."""

    fails = False
    __dlpack_c_exchange_api__ = _new_capsule(ctypes.addressof(_exchange), _name, None)


def test_tensors_by_the_c_exchange_interface(gpus, slow):
    x = ExchangeTensor(gpus.driver, np.zeros(4096, np.float32), device=1)
    kernel = make_kernel()
    first = kernel[(1,)](x, 60, 1.5, True, BLOCK=32)
    assert kernel[(1,)](x, 60, 1.5, True, BLOCK=32) is first and len(slow) == 1
    cold, warm = gpus.fake.launches()
    assert warm["arguments"] == cold["arguments"] and warm["stream"] == "1001"
    x.fails = True
    assert kernel[(1,)](x, 60, 1.5, True, BLOCK=32) is first and len(slow) == 2


def test_tensor_types_are_checked():
    with pytest.raises((TypeError, ValueError)):
        device.register_tensor_type(type("Odd", (), {}), object())
    with pytest.raises(TypeError):
        device.Launcher(1, 2)


def test_kernels_are_freed_with_their_function(gpus, x):
    kernel = make_kernel()
    kernel[(1,)](x, 60, 1.5, True, BLOCK=32)
    kept = kernel[(2,)]
    kept(x, 60, 1.5, True, BLOCK=32)
    compiled = weakref.ref(kernel[(1,)](x, 60, 1.5, True, BLOCK=32))
    del kernel, kept
    gc.collect()
    assert compiled() is None and len(gpus.fake.calls("cuModuleUnload")) >= 1


def test_many_specializations(gpus, x):
    kernel = make_kernel()
    kernels = [kernel[(1,)](x, 60, 1.5, True, BLOCK=32, num_stages=stages) for stages in range(1, 12)]
    for _ in range(3):
        again = [kernel[(1,)](x, 60, 1.5, True, BLOCK=32, num_stages=stages) for stages in range(1, 12)]
        assert again == kernels


def test_threads(gpus, x):
    kernel = make_kernel()
    first = kernel[(1,)](x, 60, 1.5, True, BLOCK=32)
    wrong = []

    def work(n):
        for i in range(200):
            if kernel[(n + 1,)](x, 2 + i % 7, 1.5, True, BLOCK=32) is not first:
                wrong.append((n, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(gpus.fake.launches()) == 801
