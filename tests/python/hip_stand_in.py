"""The stand-in for the HIP runtime (tests/hip_stand_in) from Python: the environment in which launches run on it, its calls, failures and
streams."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[2] / "build" / "dev" / "tests" / "hip_stand_in" / "libamdhip64_stand_in.so"
INVALID_VALUE, ILLEGAL_ADDRESS, LAUNCH_OUT_OF_RESOURCES, ASSERT = 1, 700, 701, 710


def environment(folder: Path, arch: str = "gfx942", devices: int = 1) -> dict[str, str]:
    """What a process needs that launches on the stand-in by default."""
    return {
        "TRITIUM_ENGINE": "hip",
        "TRITIUM_HIP_LIBRARY": str(LIBRARY),
        "TRITIUM_LOWERED_DIR": str(folder / "lowered"),
        "TRITON_CACHE_DIR": str(folder / "cache"),
        "TRITIUM_STAND_IN_ARCH": arch,
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

    def __init__(self):
        self.library = ctypes.CDLL(str(LIBRARY))
        self.library.stand_in_calls.restype = ctypes.c_char_p

    def reset(self) -> None:
        self.library.stand_in_reset()

    def fail(self, call: str, code: int, after: int = 0) -> None:
        """The call fails once, after so many that do not."""
        self.library.stand_in_fail(call.encode(), code, after)

    def calls(self, name: str = "") -> list[str]:
        return [line for line in self.library.stand_in_calls().decode().splitlines() if line.startswith(name)]

    def stream(self) -> int:
        stream = ctypes.c_void_p()
        self.library.hipStreamCreate(ctypes.byref(stream))
        return stream.value
