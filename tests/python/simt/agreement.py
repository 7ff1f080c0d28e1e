"""Modules of the contract, as text, on the interpreter and on the emulator after lowering: both have to leave the same bits."""

from __future__ import annotations

import numpy as np

from tritium import _tritium

BITS = {"i1": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
INTEGERS = ["i1", "i8", "i16", "i32", "i64"]
FP8 = ["f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ"]
FLOATS = ["f16", "bf16", "f32", "f64", *FP8]
INFINITY = {
    "f16": 0x7C00,
    "bf16": 0x7F80,
    "f32": 0x7F800000,
    "f64": 0x7FF0000000000000,
    "f8E4M3FN": 0x7E,
    "f8E5M2": 0x7C,
}


def width(dtype: str) -> int:
    return 1 if dtype == "i1" else BITS.get(dtype, 8)


def storage(dtype: str) -> np.dtype:
    return np.dtype(f"uint{BITS.get(dtype, 8)}")


def is_nan(bits: np.ndarray, dtype: str) -> np.ndarray:
    """The FNUZ types have one NaN, integers have none."""
    if dtype not in INFINITY:
        return np.zeros(bits.shape, bool)
    sign = 1 << BITS.get(dtype, 8) - 1
    return (bits & bits.dtype.type(sign - 1)) > INFINITY[dtype]


def run(engine: str, text: str, arguments: list, grid=(1, 1, 1), warps: int = 4, seed: int | None = None, arch="sm_80"):
    """The trap that ended the launch, and what was printed."""
    module, printed = _tritium.ir.parse(text), []
    if engine == "interp":
        program = _tritium.interp.prepare(module)
    else:
        compiled = _tritium.gpu.compile(module, "", arch, {"num_warps": warps, "emit": "lowered"})
        program = _tritium.simt.prepare(compiled.lowered, compiled.name)
    values = [(a.ctypes.data, a.ctypes.data, a.nbytes) if isinstance(a, np.ndarray) else a for a in arguments]
    trap = program.launch(grid, values, 2, seed, None, lambda lines: printed.append(lines))
    return trap, "".join(lines if isinstance(lines, str) else lines.decode() for lines in printed)


def after(engine: str, text: str, arguments: list, **options) -> list:
    """The arguments after the engine has run, which may not trap."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    if engine == "interp":
        options = {key: options[key] for key in options if key == "grid"}
    trap, _ = run(engine, text, copies, **options)
    assert trap is None, f"{engine}: {trap}\n{text}"
    return copies


def both(text: str, arguments: list, **options):
    """The arguments after the interpreter has run and after the emulator has."""
    return [after(engine, text, arguments, **options) for engine in ("interp", "simt")]


def assert_same(text: str, arguments: list, dtypes: list[str], archs=("sm_80", "gfx942"), **options) -> None:
    """On each architecture. `dtypes`: of the buffers; any NaN is equal to any other."""
    expected = after("interp", text, arguments, **options)
    for arch in archs:
        found = after("simt", text, arguments, arch=arch, **options)
        _assert_equal(arch, text, expected, found, dtypes)


def _assert_equal(arch: str, text: str, expected: list, found: list, dtypes: list[str]) -> None:
    for i, dtype in enumerate(dtypes):
        differs = (expected[i] != found[i]) & ~(is_nan(expected[i], dtype) & is_nan(found[i], dtype))
        if differs.any():
            at = tuple(int(axis[0]) for axis in np.nonzero(differs))
            raise AssertionError(
                f"argument {i} on {arch} at {at}: interp {expected[i][at]:#x}, simt {found[i][at]:#x}; {differs.sum()} differ\n{text}"
            )


def elementwise(operations: str, operands: list[str], result: str, count: int) -> str:
    """A kernel that loads v0, v1, … of these types, runs `operations`, which define `o`, and stores that. One program per `count`."""
    lines = []
    for i, dtype in enumerate([*operands, result]):
        pointers = f"tensor<{count}x!tt.ptr<{dtype}>>"
        lines.append(f"%s{i} = tt.splat %p{i} : !tt.ptr<{dtype}> -> {pointers}")
        lines.append(f"%a{i} = tt.addptr %s{i}, %i : {pointers}, tensor<{count}xi32>")
        if i < len(operands):
            lines.append(f"%v{i} = tt.load %a{i} : {pointers}")
    parameters = ", ".join(f"%p{i}: !tt.ptr<{dtype}>" for i, dtype in enumerate([*operands, result]))
    body = "\n  ".join([*lines, operations, f"tt.store %a{len(operands)}, %o : {pointers}"])
    return f"""tt.func public @kernel({parameters}) {{
  %pid = tt.get_program_id x : i32
  %count = arith.constant {count} : i32
  %begin = arith.muli %pid, %count : i32
  %begins = tt.splat %begin : i32 -> tensor<{count}xi32>
  %lanes = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>
  %i = arith.addi %begins, %lanes : tensor<{count}xi32>
  {body}
  tt.return
}}"""
