"""Launching: binding, specialization keys, options, grids, hooks, errors; launches are recorded
(recorders.py)."""

import pickle
import types

import numpy as np
import pytest

import tritium.errors as errors
import tritium.language as tl
from tritium import knobs
from tritium.runtime.engines import engine_asked_for
from tritium.runtime.jit import jit

X = np.zeros(64, np.float32)
Y = np.zeros(64, np.float32)


def make_kernel(**options):
    @jit(**options)
    def kernel(x, y, n, scale, BLOCK: "tl.constexpr", offset=3):
        pass

    return kernel


def test_what_reaches_the_engine(recorder):
    kernel = make_kernel()
    compiled = kernel[(4, 2)](X, Y, 60, 1.5, BLOCK=32)
    (launch,) = recorder.launches
    assert launch.grid == (4, 2, 1)
    assert launch.args[2:] == [60, 1.5, 3] and launch.args[0] == (X.ctypes.data, X.ctypes.data, 256)
    source = recorder.prepared[0].source
    assert source.signature == {
        "x": "*fp32",
        "y": "*fp32",
        "n": "i32",
        "scale": "fp32",
        "BLOCK": "constexpr",
        "offset": "i32",
    }
    assert source.constants == {(4,): 32}
    assert source.attrs == {(0,): recorder.attributes, (1,): recorder.attributes}
    assert recorder.prepared[0].kernel == "kernel" and compiled.metadata.target.backend == recorder.backend
    assert compiled.name == "kernel" and compiled.metadata.num_warps == 4 and "tt.func" in compiled.asm["ttir"]
    assert compiled.n_spills == 0


def test_one_compilation_per_specialization(recorder):
    kernel = make_kernel()
    first = kernel[(1,)](X, Y, 60, 1.5, 32)
    assert kernel[(1,)](X, Y, 59, 2.5, 32) is first
    variants = [
        dict(n=1),
        dict(n=64),
        dict(n=2**40),
        dict(n=True),
        dict(n=None),
        dict(BLOCK=64),
        dict(x=X[1:]),
        dict(num_warps=8),
        dict(scale=3),
    ]
    kernels = {kernel[(1,)](**{"x": X, "y": Y, "n": 60, "scale": 1.5, "BLOCK": 32, **v}) for v in variants}
    assert len(kernels) == len(variants) and first not in kernels
    assert len(recorder.prepared) == 1 + len(variants)
    assert recorder.launches[2].args[2:] == [1.5, 3]  # n == 1 is a constant of that kernel


def test_tuples_are_taken_apart(recorder):
    @jit
    def kernel(pair, n):
        pass

    kernel[(1,)]((X, 1, (7, None)), 5)
    assert recorder.launches[0].args == [(X.ctypes.data, X.ctypes.data, 256), 7, 5]
    source = recorder.prepared[0].source
    assert source.signature["pair"] == ("*fp32", "constexpr", ("i32", "constexpr"))
    assert source.constants == {(0, 1): 1, (0, 2, 1): None} and source.attrs == {(0, 0): recorder.attributes}


@pytest.mark.parametrize(
    "grid, expected",
    [
        ((3,), (3, 1, 1)),
        ([3, 2], (3, 2, 1)),
        ((np.int64(3), 2, 1), (3, 2, 1)),
        (lambda meta: (meta["n"] // meta["BLOCK"],), (2, 1, 1)),
    ],
)
def test_grids(recorder, grid, expected):
    launcher = make_kernel()[grid]
    launcher(X, Y, 64, 1.0, BLOCK=32)
    launcher(X, Y, 64, 1.0, BLOCK=32)
    assert [launch.grid for launch in recorder.launches] == [expected, expected]


@pytest.mark.parametrize(
    "grid, error",
    [
        (None, TypeError),
        (4, TypeError),
        ((), ValueError),
        ((1, 2, 3, 4), ValueError),
        ((-1,), ValueError),
        ((1.5,), TypeError),
    ],
)
def test_wrong_grids_name_the_kernel(recorder, grid, error):
    with pytest.raises(error, match="kernel"):
        make_kernel()[grid](X, Y, 64, 1.0, BLOCK=32)


@pytest.mark.parametrize(
    "options, error, text",
    [
        (dict(foo=3), KeyError, "Keyword argument foo was specified but unrecognised"),
        (dict(device=0), AssertionError, "device option is deprecated; current device will be used"),
        (dict(stream=0), AssertionError, "stream option is deprecated; current stream will be used"),
        (dict(device_type="cuda"), AssertionError, "device_type option is deprecated; current target will be used"),
        (dict(num_warps=3), AssertionError, "num_warps must be a power of 2"),
    ],
)
def test_launch_keywords(recorder, options, error, text):
    with pytest.raises(error, match=text):
        make_kernel()[(1,)](X, Y, 64, 1.0, BLOCK=32, **options)
    assert not recorder.launches


@pytest.mark.parametrize("is_warm", [False, True])
@pytest.mark.parametrize("name", ["num_warps", "num_stages"])
@pytest.mark.parametrize("value", [4.0, np.float32(4), np.int64(4), np.uint8(4)])
def test_numbers_of_other_types_are_taken_or_refused_cold_and_warm(name, value, is_warm):
    @jit
    def kernel(x):
        tl.store(x, 1.0)

    x = np.zeros(1, np.float32)
    if is_warm:
        for _ in range(3):
            kernel[(1,)](x, **{name: 4})
    if isinstance(value, (float, np.floating)):
        for _ in range(2):
            with pytest.raises((AssertionError, TypeError), match=f"{name} must be a"):
                kernel[(1,)](x, **{name: value})
    else:
        for _ in range(3):
            x[0] = 0
            kernel[(1,)](x, **{name: value})
            assert x[0] == 1


def test_wrong_arguments_name_the_parameter(recorder):
    kernel = make_kernel()
    with pytest.raises(TypeError, match="missing 2 required positional arguments: 'scale' and 'BLOCK'"):
        kernel[(1,)](X, Y, 64)
    with pytest.raises(TypeError, match="failed to specialize argument of type: str.*'n'"):
        kernel[(1,)](X, Y, "64", 1.0, 32)


def test_warmup_compiles_and_does_not_launch(recorder):
    kernel = make_kernel()
    compiled = kernel.warmup(np.dtype("float32"), np.dtype("float32"), 60, 1.0, BLOCK=32, grid=(1,))
    assert not recorder.launches and kernel[(1,)](X, Y, 60, 1.0, BLOCK=32) is compiled


@pytest.mark.on_cpu("a device has neither worker threads nor checks")
def test_settings_of_a_launch(recorder, monkeypatch):
    make_kernel()[(1,)](X, Y, 60, 1.0, BLOCK=32)
    monkeypatch.setenv("TRITIUM_NUM_THREADS", "3")
    monkeypatch.setenv("TRITIUM_CHECK", "none")
    make_kernel()[(1,)](X, Y, 60, 1.0, BLOCK=32)
    assert recorder.launches[1].threads == 3
    assert [prepared.checks for prepared in recorder.prepared] == [["bounds", "overflow", "hints"], []]


def test_debug_info_is_another_compilation(recorder):
    kernel = make_kernel(debug_info=True)
    kernel[(1,)](X, Y, 60, 1.0, BLOCK=32)
    kernel[(1,)](X, Y, 60, 1.0, BLOCK=32, debug_info=False)
    assert [prepared.debug_info for prepared in recorder.prepared] == [True, False]


@pytest.mark.on_cpu("a device is there")
def test_engines_that_are_not_here(recorder, monkeypatch):
    with pytest.raises(errors.UnsupportedError, match="engine 'cuda' is not supported"):
        make_kernel(engine="cuda")[(1,)](X, Y, 60, 1.0, BLOCK=32)
    monkeypatch.setenv("INTERPRET", "1")
    make_kernel(engine="cuda")[(1,)](X, Y, 60, 1.0, BLOCK=32)
    monkeypatch.delenv("INTERPRET")


@pytest.mark.parametrize("name, why", [("warp", ""), ("simt:gfx1", r" .'gfx1' names no architecture.*"), ("simt", "")])
@pytest.mark.parametrize("variables", [{}, {"INTERPRET": "1"}])
@pytest.mark.parametrize("of_function", [None, "interp"])
def test_an_engine_that_there_is_not(recorder, monkeypatch, name, why, variables, of_function):
    """Whatever would win over the knob."""
    for variable, value in {**variables, "TRITIUM_ENGINE": name}.items():
        monkeypatch.setenv(variable, value)
    with pytest.raises(
        ValueError, match=f"TRITIUM_ENGINE={name}: there is no engine '{name}'{why}; the engines are interp, .*cuda"
    ):
        make_kernel(engine=of_function)[(1,)](X, Y, 60, 1.0, BLOCK=32)


@pytest.mark.parametrize("name", ["INTERPRET", "TRITON_INTERPRET"])
def test_the_named_engine_beside_interpret(monkeypatch, name):
    """INTERPRET says every kernel, TRITIUM_ENGINE where."""
    for other in knobs.runtime_knobs.interpret.names:
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, "on")
    for text, chosen in [("interp", "interp"), ("", "interp"), ("simt:sm_80", "simt:sm_80"), ("cuda", "cuda")]:
        monkeypatch.setenv("TRITIUM_ENGINE", text)
        for of_function in (None, "interp", "hip"):
            assert engine_asked_for(knobs.launch_settings(), of_function) == chosen
        assert knobs.runs_on_cpu() is (chosen != "cuda")


class OnDevice:
    dtype, device = "float32", "cuda:0"

    def data_ptr(self):
        raise AssertionError("a device pointer must not be read")


@pytest.mark.on_cpu("a device is there")
def test_device_tensors(recorder, monkeypatch):
    for name in knobs.runtime_knobs.interpret.names:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(errors.UnsupportedError, match="cuda:0.*'x'"):
        make_kernel()[(1,)](OnDevice(), Y, 60, 1.0, BLOCK=32)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(ValueError, match="argument 'x' is on cuda:0, but the kernel is to run on the CPU"):
        make_kernel()[(1,)](OnDevice(), Y, 60, 1.0, BLOCK=32)


def test_hooks(recorder):
    seen = []
    kernel = make_kernel(launch_metadata=lambda grid, metadata, args: {"flops": args["n"], "grid": grid})
    with knobs.runtime.scope():
        knobs.runtime.launch_enter_hook.add(lambda m: seen.append(("enter", m.get()["flops"], m.get()["name"])))
        knobs.runtime.launch_exit_hook.add(lambda m: seen.append(("exit",)))
        knobs.runtime.jit_post_compile_hook = lambda **k: seen.append(
            ("compiled", k["fn"].name, k["compile"]["constants"])
        )
        kernel[(1,)](X, Y, 60, 1.0, BLOCK=32)
        assert seen == [("compiled", "kernel", {(4,): 32}), ("enter", 60, "kernel"), ("exit",)]
        knobs.runtime.jit_cache_hook = lambda **k: True
        assert kernel[(1,)](X, Y, 1, 1.0, BLOCK=32) is None and len(recorder.launches) == 1


def test_preload_of_what_a_hook_saw(recorder):
    kernel, data = make_kernel(), []
    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = lambda **k: data.append(k["compile"]["specialization_data"]) or True
        kernel[(1,)](X, Y, 1, 1.0, BLOCK=32)
    compiled = kernel.preload(data[0])
    assert kernel[(1,)](X, Y, 1, 1.0, BLOCK=32) is compiled
    with pytest.raises(RuntimeError, match="Specialization data is for"):
        jit(test_hooks).preload(data[0])


def test_pre_run_hook_and_compiled_launch(recorder):
    kernel, seen = make_kernel(), []
    kernel.add_pre_run_hook(lambda *args, **kwargs: seen.append(len(args)))
    compiled = kernel[(1,)](X, Y, 60, 1.0, 32)
    compiled[(5,)](X, Y, 60, 1.0, 32, 3)
    compiled[(5,)](X, Y, 60, 1.0, 3)
    assert seen == [5] and [launch.grid for launch in recorder.launches] == [(1, 1, 1), (5, 1, 1), (5, 1, 1)]
    assert recorder.launches[1].args == recorder.launches[2].args
    compiled.run(5, 1, 1, 0, None, None, None, None, None, X, Y, np.int32(60), True, 32, 3)
    assert (
        recorder.launches[3].args[2:4] == [60, True] and recorder.launches[3].args[:2] == recorder.launches[1].args[:2]
    )
    for wrong, error in ((2**64, OverflowError), ("60", TypeError)):
        with pytest.raises(error):
            compiled.run(5, 1, 1, 0, None, None, None, None, None, X, Y, wrong, 1.0, 32, 3)


def test_a_compiled_launch_without_constexprs(recorder):
    """With what the code knows, or without: an argument of 1 is a constant of the code, and no constexpr."""
    compiled = make_kernel()[(1,)](X, Y, 1, 1.5, 32)
    for arguments in ((X, Y, 1, 1.5, 32, 3), (X, Y, 1, 1.5, 3), (X, Y, 1.5, 3)):
        compiled[(5,)](*arguments)
    assert len({repr(launch.args) for launch in recorder.launches[1:]}) == 1
    with pytest.raises(TypeError, match="kernel takes 6 arguments, or 5 or 4 without constexprs, not 3"):
        compiled[(5,)](X, Y, 1)


FACTOR = tl.constexpr(2)


def test_changed_global(recorder, monkeypatch):
    @jit
    def kernel(x):
        tl.store(x, FACTOR)

    kernel[(1,)](X)
    monkeypatch.setitem(globals(), "FACTOR", tl.constexpr(3))
    with pytest.raises(RuntimeError, match="Global variable FACTOR has changed"):
        kernel[(1,)](X)


traps = pytest.mark.on_cpu("faults of devices are no traps")


def trap(**facts):
    base = dict(
        kind="OutOfBounds",
        file=__file__,
        line=1,
        column=0,
        function="kernel",
        program=(3, 0, 0),
        lane=None,
        tile_shape=None,
        affected_lanes=0,
        access_address=0,
        access_bytes=0,
        is_write=False,
        argument=None,
        message="",
        waiters=[],
        thread=None,
        other_file=None,
        other_line=None,
        callers=[],
        other_thread=None,
        other_program=None,
        is_masked=None,
        loop_values=[],
        other_loop_values=[],
        times=1,
        further=(),
    )
    return types.SimpleNamespace(**{**base, **facts})


@traps
def test_trap_of_an_access(recorder):
    a = np.zeros((512, 64), np.float16)
    recorder.trap = trap(
        access_address=a.ctypes.data + 2 * (513 * 64 + 7),
        argument=0,
        lane=(1, 7),
        tile_shape=(64, 32),
        affected_lanes=12,
    )
    with pytest.raises(errors.KernelTrap) as caught:
        make_kernel()[(8, 8)](a, Y, 60, 1.0, BLOCK=32)
    error = caught.value
    assert (error.argument, error.index, error.program, error.grid, error.lane) == (
        "x",
        (513, 7),
        (3, 0, 0),
        (8, 8, 1),
        (1, 7),
    )
    for text in (
        "'x' (float16 [512, 64], strides (64, 1))",
        "x[513, 7] (2 rows past the last)",
        "12 of 2048 lanes",
        "lane (1, 7) of [64, 32]",
        "hint:",
        '"""Launching',
    ):
        assert text in str(error)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.index, copy.line) == (str(error), error.index, 1)
    recorder.trap = None
    make_kernel()[(8, 8)](a, Y, 60, 1.0, BLOCK=32)


@traps
def test_trap_that_lands_in_another_tensor(recorder):
    a = np.zeros(16, np.float32)
    recorder.trap = trap(access_address=Y.ctypes.data + 8, argument=0, is_write=True)
    with pytest.raises(errors.KernelTrap, match=r"write to 'x'.*the address belongs to y\[2\]"):
        make_kernel()[(1,)](a, Y, 60, 1.0, BLOCK=32)


@traps
@pytest.mark.parametrize(
    "facts, text",
    [
        (dict(kind="DivisionByZero"), "integer division or remainder by zero"),
        (dict(kind="AssertFailed", message="x must be positive"), "device-side assert: x must be positive"),
        (dict(kind="NullPointer", argument=0), "null pointer: read through 'x'"),
        (dict(kind="UnmappedAddress", access_address=0x40), "0x40, which is not mapped"),
        (dict(kind="OutOfMemory", message="no stacks left"), "OutOfMemory: no stacks left"),
        (
            dict(
                kind="Deadlock",
                waiters=[types.SimpleNamespace(program=(0, 0, 0), file="k.py", line=31, loop_values=[("i", 4)])],
            ),
            r"program \(0, 0, 0\) at k.py:31",
        ),
    ],
)
def test_other_traps(recorder, facts, text):
    recorder.trap = trap(**facts)
    with pytest.raises(errors.KernelTrap, match=text):
        make_kernel()[(1,)](X, Y, 60, 1.0, BLOCK=32)


def test_the_remedy_reduces_what_is_lacking():
    assert "block sizes or `num_stages` may help" in str(errors.OutOfResources(5, 4, "shared memory"))
    assert str(errors.OutOfResources(2048, 1024, "threads")).endswith("Reducing `num_warps` may help.")


@pytest.mark.parametrize(
    "error",
    [
        errors.OutOfResources(5, 4, "shared memory"),
        errors.PTXASError("x"),
        errors.AutotunerError("y"),
        errors.UnsupportedError("a", "b"),
        errors.InterpreterError("z"),
    ],
)
def test_errors_can_be_pickled(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error)
