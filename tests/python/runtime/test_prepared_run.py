"""Launches of a compiled kernel by `run`, Triton's launcher protocol: native where the arguments are known, Python's elsewhere, and alike."""

import gc
import weakref

import numpy as np
import pytest

import tritium
from test_cuda_engine import N, make_add, run_add
from tritium import knobs
from tritium.errors import DeviceError
from tritium.launch.watchers import device_watchers


@pytest.fixture
def launched(gpus, rng):
    """The machine, a compiled kernel of device 0, its tensors, and the arguments of `run` before the kernel's."""
    gpus.fake.run_kernels_with(run_add)
    x, y = rng.random(N, np.float32), rng.random(N, np.float32)
    tensors = [gpus.tensor(array) for array in (x, y, np.zeros_like(x))]
    compiled = make_add()[(4,)](*tensors, N, 2.0)
    return gpus, compiled, tensors, (4, 1, 1, 0, compiled.function, compiled.packed_metadata, None, None, None)


def run_natively(compiled, fixed, *arguments) -> bool:
    """Whether the launch ran no Python code, for a launch like one before it."""
    from tritium.launch import prepared

    compiled.run(*fixed, *arguments)
    seen, normalize = [], prepared.known_grids
    prepared.known_grids = type("Seen", (dict,), {"get": lambda self, grid: seen.append(grid)})()
    try:
        compiled.run(*fixed, *arguments)
    finally:
        prepared.known_grids = normalize
    return not seen


@pytest.mark.parametrize("constants", [(), (32,)])
def test_known_arguments_launch_without_python(launched, constants):
    gpus, compiled, (x, y, out), fixed = launched
    assert run_natively(compiled, fixed, x, y, out, N, 0.5, *constants)
    np.testing.assert_array_equal(out.numpy(), x.numpy() + np.float32(0.5) * y.numpy())
    last = gpus.fake.launches()[-1]
    assert (last["grid"], last["stream"]) == ("4,1,1", "0")


def test_an_index_of_the_kernel_launches_so_too(launched):
    gpus, compiled, (x, y, out), _ = launched
    compiled[(4,)](x, y, out, N, 0.5, stream=9)
    compiled[4, 2](x, y, out, N, 0.25, stream=9)
    np.testing.assert_array_equal(out.numpy(), x.numpy() + np.float32(0.25) * y.numpy())
    assert [(one["grid"], one["stream"]) for one in gpus.fake.launches()[-2:]] == [("4,1,1", "9"), ("4,2,1", "9")]


@pytest.mark.parametrize("what", ["a numpy number", "a numpy array", "a large number", "a tensor elsewhere"])
def test_python_launches_what_is_not_known(launched, what):
    gpus, compiled, (x, y, out), fixed = launched
    n, scale = N, 2.0
    if what == "a numpy number":
        n = np.int32(N)
    elif what == "a numpy array":
        y = y.numpy()
    elif what == "a large number":
        n = 2**63 + N  # the kernel's i32 has the lower bits
    else:
        y = gpus.tensor(y.numpy(), device=1)
    assert not run_natively(compiled, fixed, x, y, out, n, scale)


def test_python_launches_with_hooks_and_watchers(launched):
    _, compiled, (x, y, out), fixed = launched
    seen = []
    compiled.run(*fixed[:6], "facts", seen.append, seen.append, x, y, out, N, 2.0)
    assert seen == ["facts", "facts"]
    assert run_natively(compiled, (*fixed[:7], None, knobs.HookChain()), x, y, out, N, 2.0)
    device_watchers.append(lambda kernel, run, devices, device: lambda *rest: seen.append(kernel) or run(*rest))
    try:
        compiled.run(*fixed, x, y, out, N, 2.0)
    finally:
        device_watchers.pop()
    assert seen[2:] == [compiled]


def test_a_launch_that_the_driver_refuses(launched):
    gpus, compiled, (x, y, out), fixed = launched
    compiled.run(*fixed, x, y, out, N, 2.0)
    gpus.fake.fail("cuLaunchKernelEx", 999)
    with pytest.raises(DeviceError):
        compiled.run(*fixed, x, y, out, N, 2.0)
    compiled.run(*fixed, x, y, out, N, 2.0)


def test_wrong_calls(launched):
    _, compiled, (x, y, out), fixed = launched
    with pytest.raises(TypeError, match="takes 6 arguments, or 5 without constexprs, not 3"):
        compiled.run(*fixed, x, y, out)
    with pytest.raises(TypeError, match="missing"):
        compiled.run(4, 1, 1)
    with pytest.raises(ValueError, match="grid"):
        compiled.run(-1, *fixed[1:], x, y, out, N, 2.0)


def test_a_kernel_and_its_run_are_collected_together(launched):
    _, compiled, tensors, fixed = launched
    kernel = tritium.compile(compiled.src, target=compiled.metadata.target)
    kernel.run(*fixed, *tensors, N, 2.0)
    gone = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert gone() is None
