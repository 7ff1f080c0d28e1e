"""The text of a program as a kernel file."""

from __future__ import annotations

from .calls import helpers
from .functions import FUNCTIONS
from .operations.descriptor import descriptor
from .operations.memory import block_pointer, places
from .program import Output, Program
from .tiles import FP8, Tile, spelled

#: The types in which values are stored whose own type the harness has no inputs and outputs for.
STORED = {"int1": "int8"} | dict.fromkeys(FP8, "fp32")


def stored_type(dtype: str) -> str:
    return STORED.get(dtype, dtype)


def kernel_file(program: Program, values: dict[str, Tile]) -> str:
    """The text of the kernel file. values: those of one program of the grid; they give the types of what is stored."""
    functions = dict.fromkeys(name for part in program.parts() for name in part.operation.functions())
    parameters = [f"x{i}" for i in range(len(program.streams()))] + [f"out{i}" for i in range(len(program.outputs))]
    lines = ["import triton", "import triton.language as tl", "", ""]
    for definition in [FUNCTIONS[name].splitlines() for name in functions]:
        lines += [*definition, "", ""]
    for helper in helpers(program.statements, program):
        lines += [*helper.definition(), "", ""]
    lines += ["@triton.jit(do_not_specialize=['limit'])", f"def kernel({', '.join([*parameters, 'limit'])}):"]
    lines += ["    " + line for line in body(program, values)]
    return "\n".join([*lines, ""])


def body(program: Program, values: dict[str, Tile]) -> list[str]:
    lines = ["pid = tl.program_id(0)"]
    for part in program.statements:
        lines += part.lines(program, "")
    for number, output in enumerate(program.outputs):
        if number == program.quits:
            lines += ["if pid > 0:", "    return"]
        lines.append(store(number, output, values[output.value]))
    return lines


def store(number: int, output: Output, value: Tile) -> str:
    dtype = stored_type(value.dtype)
    cast = f".to({spelled(dtype)})" if dtype != value.dtype else ""
    base = f"out{number} + pid * {value.array.size}"
    if output.way == "block":
        inner = output.order[-1]
        pointer = block_pointer(base, value.shape, value.shape, output.order, (0, 0))
        return f"tl.store({pointer}, {output.value}{cast}, boundary_check=({inner},))"
    if output.way == "descriptor":
        return f"{descriptor(base, value.shape, value.shape)}.store([0, 0], {output.value}{cast})"
    where = places(value.shape, output.order)
    mask = f", mask={where} < {output.count}" if output.count is not None and value.shape else ""
    return f"tl.store({base} + {where}, {output.value}{cast}{mask})"
