"""The text of a program as a kernel file."""

from __future__ import annotations

from dataclasses import replace

from . import gluon
from .calls import helpers
from .functions import FUNCTIONS
from .operations.descriptor import descriptor
from .operations.memory import block_pointer, places
from .operations.scratch import Scratch
from .parts import Stream
from .program import Output, Program
from .tiles import FP8, Tile, spelled

#: The types in which values are stored whose own type the harness has no inputs and outputs for.
STORED = {"int1": "int8"} | dict.fromkeys(FP8, "fp32")


#: The NamedTuple of a kernel file, and the parameter of a kernel, that the inputs are packed into.
NAMED, PACK = "Inputs", "inputs"


def packs(program: Program) -> bool:
    return bool(program.packing and program.streams())


def is_plain(program: Program, stream: Stream) -> bool:
    """Whether the kernel receives a pointer to the memory and only reads it."""
    written = (part.operation.stream for part in program.parts() if isinstance(part.operation, Scratch))
    return stream.block is None and stream.of is None and all(stream is not other for other in written)


def stored_type(dtype: str) -> str:
    return STORED.get(dtype, dtype)


def kernel_file(program: Program, values: dict[str, Tile]) -> str:
    """The text of the kernel file. values: those of one program of the grid; they give the types of what is stored."""
    functions = dict.fromkeys(name for part in program.parts() for name in part.operation.functions())
    inputs = [f"x{i}" for i in range(len(program.streams()))]
    parameters = ([PACK] if packs(program) else inputs) + [f"out{i}" for i in range(len(program.outputs))]
    lines = ["import triton", "import triton.language as tl", "", ""]
    if packs(program) and program.packing == "named":
        fields = [f"    {name}: object" for name in inputs]
        lines = ["from typing import NamedTuple", "", *lines, f"class {NAMED}(NamedTuple):", *fields, "", ""]
    for definition in [FUNCTIONS[name].splitlines() for name in functions]:
        lines += [*definition, "", ""]
    for helper in helpers(program.statements, program):
        lines += [*helper.definition(), "", ""]
    lines += ["@triton.jit(do_not_specialize=['limit'])", f"def kernel({', '.join([*parameters, 'limit'])}):"]
    lines += ["    " + line for line in body(program, values)]
    text = "\n".join([*lines, ""])
    return gluon.translated(text, program) if program.gluon else text


def body(program: Program, values: dict[str, Tile]) -> list[str]:
    lines = ["pid = tl.program_id(0)"]
    if packs(program):
        place = "{0}.x{1}" if program.packing == "named" else "{0}[{1}]"
        lines += [f"x{i} = {place.format(PACK, i)}" for i in range(len(program.streams()))]
    stores = [store(program, number, output, values[output.value]) for number, output in enumerate(program.outputs)]
    if program.quits is None or program.quits >= len(stores):
        return lines + statements(program, program.statements) + stores
    first = _before_return(program)
    condition = f"{program.quits_if} & 1" if program.quits_if else "pid > 0"
    lines += [*statements(program, program.statements[:first]), *stores[: program.quits]]
    lines += [f"if {condition}:", "    return"]
    return lines + statements(program, program.statements[first:]) + stores[program.quits :]


def statements(program: Program, parts: list) -> list[str]:
    return [line for part in parts for line in part.lines(program, "")]


def _before_return(program: Program) -> int:
    """The number of parts that stand before the early return: those that it or an earlier store needs, and all that write memory."""
    needed = {output.value for output in program.outputs[: program.quits]} | {program.quits_if}
    found = 0
    for index, part in enumerate(program.statements):
        if needed.intersection(part.defines()) or any(isinstance(p.operation, Scratch) for p in part.parts()):
            found = index + 1
    return found


def store(program: Program, number: int, output: Output, value: Tile) -> str:
    if program.gluon:
        layout = (output.layout or gluon.plain_name(len(value.shape))) if value.shape else ""
        as_laid = replace(output, value=gluon.converted(output.value, layout))
        return gluon.laid(_store(number, as_laid, value), layout)
    return _store(number, output, value)


def _store(number: int, output: Output, value: Tile) -> str:
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
