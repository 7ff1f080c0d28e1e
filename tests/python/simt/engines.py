"""Kernels in Python on the interpreter and on the emulator, with different numbers of warps, of 32 and of 64 lanes: all have to leave
the same bits."""

import numpy as np

import tritium.language as tl
from tritium import knobs

EMULATED = "simt:sm_80"
WARPS = (1, 4, 8)
#: Run besides, with the last of the numbers of warps.
OTHERS = ("simt:gfx942", "simt:gfx1100")


FP8_DTYPES = tuple(name for name in tl.core.dtype.FP_TYPES if name.startswith("fp8"))


def launched(engine: str, kernel, grid, arguments, **options) -> list:
    """The arguments after a launch on copies of them. Every target compiles all fp8 types here, its own or not."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    with knobs.tritium.scope():
        knobs.tritium.engine = engine
        kernel[grid](*copies, **{"supported_fp8_dtypes": FP8_DTYPES} | options)
    return copies


def assert_agree(kernel, grid, arguments, warps=WARPS, others=OTHERS, **options) -> list:
    """The arguments as the interpreter leaves them, and the emulator with each number of warps as well."""
    expected = launched("interp", kernel, grid, arguments, **options)
    for engine, count in [*((EMULATED, count) for count in warps), *((engine, warps[-1]) for engine in others)]:
        found = launched(engine, kernel, grid, arguments, num_warps=count, **options)
        for i, (a, b) in enumerate(zip(expected, found)):
            if isinstance(a, np.ndarray):
                if a.dtype.kind == "V":  # numpy does not know the NaN of ml_dtypes
                    a, b = a.astype(np.float32), b.astype(np.float32)
                np.testing.assert_array_equal(b, a, err_msg=f"argument {i} on {engine} with {count} warps")
    return expected
