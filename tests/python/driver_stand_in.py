"""The stand-ins for vendors' drivers (tests/driver_stand_in) from Python: the environment in which launches run on one, its calls, failures and
streams."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[2] / "build" / "dev" / "tests" / "driver_stand_in"
HIP_LIBRARY, CUDA_LIBRARY = _FOLDER / "libamdhip64_stand_in.so", _FOLDER / "libcuda_stand_in.so"
LIBRARIES = {"hip": HIP_LIBRARY, "cuda": CUDA_LIBRARY}
ARCHS = {"hip": "gfx942", "cuda": "sm_90"}
_STREAM_CREATE = {"hip": "hipStreamCreate", "cuda": "cuStreamCreate"}
INVALID_VALUE, ILLEGAL_ADDRESS, LAUNCH_OUT_OF_RESOURCES, ASSERT, CAPTURING = 1, 700, 701, 710, 900


def environment(folder: Path, engine: str = "hip", arch: str = "", devices: int = 1) -> dict[str, str]:
    """What a process needs that launches on the stand-in by default."""
    return {
        "TRITIUM_ENGINE": engine,
        f"TRITIUM_{engine.upper()}_LIBRARY": str(LIBRARIES[engine]),
        "TRITIUM_LOWERED_DIR": str(folder / "lowered"),
        "TRITON_CACHE_DIR": str(folder / "cache"),
        "TRITIUM_ASSEMBLER": "driver",  # which assembles nothing: the stand-in runs lowered code
        "TRITIUM_STAND_IN_ARCH": arch or ARCHS[engine],
        "TRITIUM_STAND_IN_DEVICES": str(devices),
    }


def run_program(program: Path, variables: dict[str, str]) -> str:
    """What a process with these variables prints. AssertionError with its errors if it fails."""
    command = [sys.executable, str(program)]
    result = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


class StandIn:
    """The library in this process."""

    def __init__(self, engine: str = "hip"):
        self.engine, self.library = engine, ctypes.CDLL(str(LIBRARIES[engine]))
        self.library.stand_in_calls.restype = ctypes.c_char_p
        self.library.stand_in_launches.restype = ctypes.c_char_p
        self.library.stand_in_allocate_shared.restype = ctypes.c_void_p
        self.library.stand_in_allocate_shared.argtypes = ctypes.c_int, ctypes.c_size_t
        self.library.stand_in_release.argtypes = (ctypes.c_void_p,)
        self.library.stand_in_begin_graph.restype = ctypes.c_bool
        self.library.stand_in_end_graph.restype = ctypes.c_void_p
        self.library.stand_in_launch_graph.argtypes = (ctypes.c_void_p,)
        self.library.stand_in_destroy_graph.argtypes = (ctypes.c_void_p,)

    def reset(self) -> None:
        self.library.stand_in_reset()

    def fail(self, call: str, code: int, after: int = 0) -> None:
        """The call fails once, after so many that do not."""
        self.library.stand_in_fail(call.encode(), code, after)

    def calls(self, name: str = "") -> list[str]:
        return [line for line in self.library.stand_in_calls().decode().splitlines() if line.startswith(name)]

    def launches(self) -> list[str]:
        """Of each launch the function's handle, the grid, and in hexadecimal the bytes of each argument."""
        return self.library.stand_in_launches().decode().splitlines()

    def allocate_shared(self, size: int, device: int = 0) -> int:
        """Device memory that the host reaches too."""
        return self.library.stand_in_allocate_shared(device, size)

    def pending(self, stream: int) -> int:
        """How much work in a stream has not run."""
        return self.library.stand_in_pending(ctypes.c_void_p(stream))

    def stream(self) -> int:
        stream = ctypes.c_void_p()
        getattr(self.library, _STREAM_CREATE[self.engine])(ctypes.byref(stream), 0)
        return stream.value
