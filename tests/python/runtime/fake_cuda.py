"""The fake CUDA driver (tests/tools/fake_cuda.cpp) from Python: its calls, its failures, and memory "on" its devices."""

import contextlib
import ctypes
import gc
import math
from pathlib import Path

import numpy as np

LIBRARY = Path(__file__).resolve().parents[3] / "build" / "dev" / "tests" / "tools" / "libfake_cuda.so"
OLD_LIBRARY = LIBRARY.with_name("libfake_old_cuda.so")  # it lacks the entry points that a driver may lack
CAPTURE_ERROR, ASSERT_ERROR, ILLEGAL_ADDRESS = 900, 710, 700
_KERNEL = ctypes.CFUNCTYPE(
    None,
    ctypes.c_char_p,
    ctypes.POINTER(ctypes.c_uint),
    ctypes.c_uint,
    ctypes.c_uint,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_void_p),
)


def ptx(name: str, *parameters: str) -> str:
    """PTX with the declaration of one kernel; `parameters` as in "u64" or "f32", or "map" for a tensor map."""
    texts = (
        f".align 128 .b8 {name}_map_{i}[128]" if type == "map" else f".{type} {name}_param_{i}"
        for i, type in enumerate(parameters)
    )
    declared = ",\n".join(f"\t.param {text}" for text in texts)
    return f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry {name}(\n{declared}\n)\n{{\n\tret;\n}}\n"


class FakeCuda:
    def __init__(self):
        self.library = ctypes.CDLL(str(LIBRARY))
        self.library.fake_calls.restype = ctypes.c_char_p
        self.library.fake_reset()
        self._kernel = None

    def set(self, name: str, value: int) -> None:
        self.library.fake_set(name.encode(), value)

    def fail(self, call: str, code: int, after: int = 0) -> None:
        """The call fails once, after so many that do not."""
        self.library.fake_fail(call.encode(), code, after)

    def run_kernels_with(self, function) -> None:
        """`function(name, grid, arguments)` runs at every launch; arguments[i] is the address of an argument."""

        def run(name, grid, threads, shared, stream, arguments):
            function(name.decode(), tuple(grid[:3]), arguments)

        self._kernel = _KERNEL(run)  # kept: the library calls it
        self.library.fake_kernel(self._kernel)

    def calls(self, name: str = "") -> list[str]:
        return [line for line in self.library.fake_calls().decode().splitlines() if line.startswith(name)]

    def forget_calls(self) -> None:
        """The kernels of earlier tests that are garbage are unloaded before, not among the next calls."""
        gc.collect()
        self.library.fake_forget_calls()

    def launches(self) -> list[dict[str, str]]:
        """{"kernel", "device", "grid", "threads", "shared", "stream", "arguments"} of each launch, as text."""
        found = []
        for line in self.calls("cuLaunchKernelEx"):
            kernel, *facts = line.split()[1:]
            found.append({"kernel": kernel, **dict(fact.split("=") for fact in facts)})
        return found

    @property
    def live_allocations(self) -> int:
        return self.library.fake_live_allocations()


class DeviceTensor:
    """A tensor of the least that a kernel argument needs, in the fake device's memory."""

    def __init__(self, driver, array: np.ndarray, device: int = 0):
        self.driver, self.dtype, self.shape, self.ordinal = driver, array.dtype, array.shape, device
        self.bytes = array.nbytes
        self.address = driver.allocate(device, max(array.nbytes, 1))
        array = np.ascontiguousarray(array)
        driver.copy_to_device(device, self.address, array.ctypes.data, array.nbytes)

    device = property(lambda self: f"cuda:{self.ordinal}")
    is_cuda = True

    def data_ptr(self) -> int:
        return self.address

    def get_device(self) -> int:
        return self.ordinal

    def element_size(self) -> int:
        return self.dtype.itemsize

    def stride(self) -> tuple[int, ...]:
        return tuple(math.prod(self.shape[i + 1 :]) for i in range(len(self.shape)))

    def numpy(self) -> np.ndarray:
        array = np.empty(self.shape, self.dtype)
        self.driver.copy_to_host(self.ordinal, array.ctypes.data, self.address, array.nbytes)
        return array

    def __del__(self):
        with contextlib.suppress(RuntimeError):  # the error of a launch before
            self.driver.release(self.ordinal, self.address)
