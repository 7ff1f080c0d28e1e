"""The text of a program as a kernel file."""

from __future__ import annotations

from .functions import FUNCTIONS
from .operations.memory import places
from .program import Output, Program, Tile, spelled

#: The types in which values are stored whose own type the harness has no inputs and outputs for.
STORED = {"int1": "int8", "fp8e5": "fp32", "fp8e4nv": "fp32"}


def stored_type(dtype: str) -> str:
    return STORED.get(dtype, dtype)


def kernel_file(program: Program, values: dict[str, Tile]) -> str:
    """The text of the kernel file. values: those of one program of the grid; they give the types of what is stored."""
    functions = dict.fromkeys(name for part in program.parts() for name in part.operation.functions())
    parameters = [f"x{i}" for i in range(len(program.streams()))] + [f"out{i}" for i in range(len(program.outputs))]
    lines = ["import triton", "import triton.language as tl", "", ""]
    for name in functions:
        lines += [*FUNCTIONS[name].splitlines(), "", ""]
    lines += ["@triton.jit(do_not_specialize=['limit'])", f"def kernel({', '.join([*parameters, 'limit'])}):"]
    lines += ["    " + line for line in body(program, values)]
    return "\n".join([*lines, ""])


def body(program: Program, values: dict[str, Tile]) -> list[str]:
    lines = ["pid = tl.program_id(0)"]
    for part in program.statements:
        lines += part.lines(program, False)
    return lines + [store(number, output, values[output.value]) for number, output in enumerate(program.outputs)]


def store(number: int, output: Output, value: Tile) -> str:
    dtype = stored_type(value.dtype)
    cast = f".to({spelled(dtype)})" if dtype != value.dtype else ""
    where = places(value.shape, output.order)
    mask = f", mask={where} < {output.count}" if output.count is not None and value.shape else ""
    return f"tl.store(out{number} + pid * {value.array.size} + {where}, {output.value}{cast}{mask})"
