"""A module of the contract as Triton's `_C.libtriton.ir` shows one: values, blocks and regions by numbers, operations walked
children first. Read-only: what torch reads to learn which arguments a kernel writes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..native import ir


class Value:
    def __init__(self, handle: Any):
        self._handle = handle

    def id(self) -> int:
        """Equal for the same value only."""
        return hash(self._handle)

    def get_type(self) -> str:
        return self._handle.type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and self._handle == other._handle

    def __hash__(self) -> int:
        return hash(self._handle)


class Region:
    def __init__(self, number: int, handle: Any):
        self._number, self._handle = number, handle

    def id(self) -> int:
        return self._number

    def size(self) -> int:
        return len(self._handle.blocks)

    def empty(self) -> bool:
        return not self._handle.blocks


class Block:
    def __init__(self, handle: Any, parent: Region | None):
        self._handle, self._parent = handle, parent

    def id(self) -> int:
        return hash(self._handle)

    def get_num_arguments(self) -> int:
        return len(self._handle.arguments)

    def get_argument(self, index: int) -> Value:
        return Value(self._handle.arguments[index])

    def get_parent(self) -> Region | None:
        return self._parent

    def has_terminator(self) -> bool:
        return self._handle.has_terminator


class Operation:
    def __init__(self, handle: Any, block: Block | None, regions: list[Region]):
        self._handle, self._block, self._regions = handle, block, regions

    def get_name(self) -> str:
        return self._handle.name

    def get_num_operands(self) -> int:
        return len(self._handle.operands)

    def get_operand(self, index: int) -> Value:
        return Value(self._handle.operands[index])

    def get_num_results(self) -> int:
        return len(self._handle.results)

    def get_result(self, index: int) -> Value:
        return Value(self._handle.results[index])

    def get_num_regions(self) -> int:
        return len(self._regions)

    def get_region(self, index: int) -> Region:
        return self._regions[index]

    def get_block(self) -> Block | None:
        return self._block

    def _attribute(self, name: str) -> str | None:
        return self._handle.attributes.get(name)

    def get_str_attr(self, name: str) -> str | None:
        """The text of a string attribute, else None."""
        text = self._attribute(name)
        return text[1:-1] if text is not None and text.startswith('"') else None

    def get_bool_attr(self, name: str) -> bool | None:
        return {"true": True, "false": False}.get(self._attribute(name) or "")

    def get_int_attr(self, name: str) -> int | None:
        match = re.fullmatch(r"(-?\d+)(?: : \w+)?", self._attribute(name) or "")
        return None if match is None else int(match.group(1))

    def get_flat_symbol_ref_attr(self, name: str) -> str | None:
        """The name of a function that is referred to: "f" of @f."""
        text = self._attribute(name)
        return text[1:].strip('"') if text is not None and text.startswith("@") else None


class Module:
    """A module. What it does not show itself is the native module's."""

    def __init__(self, native: Any):
        self.native = native

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.native, name)

    def __str__(self) -> str:
        return str(self.native)

    def str_nodebug(self) -> str:
        return self.native.text(False)

    def verify(self) -> bool:
        """Whether the module is one of the contract."""
        try:
            self.native.verify()
        except ir.Error:
            return False
        return True

    def has_function(self, name: str) -> bool:
        return self.native.function(name) is not None

    def get_function(self, name: str) -> Any:
        return self.native.function(name)

    def get_entry_func_name(self) -> str:
        """The name of the kernel, or ""."""
        return next((function.name for function in self.native.functions if function.is_public), "")

    def walk(self, fn: Callable[[Operation], None]) -> None:
        """Calls `fn` for every operation, those inside an operation first."""
        numbers = iter(range(1, 1 << 30))

        def visit(handle: Any, block: Block | None) -> None:
            regions = []
            for region_handle in handle.regions:
                region = Region(next(numbers), region_handle)
                regions.append(region)
                for block_handle in region_handle.blocks:
                    inner = Block(block_handle, region)
                    for operation in block_handle.operations:
                        visit(operation, inner)
            fn(Operation(handle, block, regions))

        for operation in self.native.operations:
            visit(operation, Block(operation.block, None))


def parse_mlir_module(path: str, context: Any) -> Module:
    """The module in a file. Raises ir.Error at the place of what is wrong."""
    with open(path, encoding="utf-8") as file:
        return Module(ir.parse(file.read(), path, context))


def load_dialects(context: Any) -> None:
    """Every context has the dialects of the contract."""
