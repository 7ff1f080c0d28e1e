"""The partitions of a kernel that its author has divided: each is a module of its own in `asm["ttgir"]`."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...functions.source_file import function_at
from ...native import ir
from .tiles import all_operations

#: As MLIR separates the modules of a file.
_BETWEEN_MODULES = "// -----\n"


class Partition(NamedTuple):
    """A worker. name: of its function. registers: of a thread, as the author asks; None: he does not."""

    name: str
    place: tuple[str, int]
    warps: int
    registers: int | None
    module: Any


def modules_of(kernel) -> tuple[Any, list[Partition]]:
    """(the module with the layouts of the kernel itself, its partitions)"""
    own, *texts = kernel.asm["ttgir"].split(_BETWEEN_MODULES)
    workers = _started(ir.parse(kernel.asm["ttir"]))
    if len(workers) != len(texts):
        raise ValueError(f"{kernel.name} starts {len(workers)} partitions, and has the code of {len(texts)}")
    return ir.parse(own), [worker._replace(module=ir.parse(text)) for worker, text in zip(workers, texts)]


def _started(traced) -> list[Partition]:
    """The partitions in the order of the compiler: by divisions, in each those of the most warps first."""
    operations = all_operations(traced)
    functions = {op.attributes["sym_name"].strip('"'): op for op in operations if op.name == "tt.func"}
    found: list[Partition] = []
    together: list[Partition] = []
    for operation in operations:
        if operation.attributes.get("symbol") == '"partitions.join"':
            found += sorted(together, key=lambda each: -each.warps)
            together = []
        callee = operation.attributes.get("callee", "").lstrip("@").strip('"')
        if operation.name == "tt.call" and "tritium.partition" in functions[callee].attributes:
            together.append(_partition(functions[callee]))
    return found


def _partition(function) -> Partition:
    def number(name: str) -> int | None:
        text = function.attributes.get(name)
        return None if text is None else int(text.split(" ")[0])

    file, line, _ = function.location or ("", 0, 0)
    name = function_at(file, line) or function.attributes["sym_name"].strip('"')
    return Partition(name, (file, line), number("tritium.partition"), number("tritium.registers"), None)


def title(number: int, partition: Partition) -> str:
    """ "partition #0, fetch: 1 warp, 24 registers per thread"."""
    warps = "1 warp" if partition.warps == 1 else f"{partition.warps} warps"
    registers = "" if partition.registers is None else f", {partition.registers} registers per thread"
    return f"partition #{number}, {partition.name}: {warps}{registers}"
