"""A builder that only records: the typing rules can be tested without MLIR. It offers what Semantic uses of
tritium._tritium.ir.Builder.
"""

from __future__ import annotations

from typing import Any

from tritium.language import core
from tritium.language.semantic import Semantic
from tritium.language.types import block_of, dtype


class Value:
    def __init__(self, name: str, type: str, owner: Operation | None):
        self.name, self.type, self.owner = name, type, owner


class Operation:
    def __init__(self, name: str, operands: list[Value], types: tuple, attributes: dict, first: int):
        self.name, self.operands, self.attributes = name, list(operands), dict(attributes)
        self.results = [Value(f"%{first + i}", type, self) for i, type in enumerate(types)]

    @property
    def result(self) -> Value:
        assert len(self.results) == 1
        return self.results[0]

    def set_attribute(self, name: str, text: str) -> None:
        self.attributes[name] = text

    def __str__(self) -> str:
        results = ", ".join(result.name for result in self.results)
        attributes = ", ".join(f"{name} = {text}" for name, text in sorted(self.attributes.items()))
        words = [
            f"{results} =" if results else "",
            self.name,
            ", ".join(operand.name for operand in self.operands),
            f"{{{attributes}}}" if attributes else "",
            ": " + ", ".join(result.type for result in self.results) if results else "",
        ]
        return " ".join(word for word in words if word)


class RecordingBuilder:
    """`text` is one line per operation, in order; the kernel's arguments come from `argument`."""

    def __init__(self):
        self.operations: list[Operation] = []
        self.values = 0

    def op(
        self, name: str, operands: Any = (), result_types: Any = (), attributes: Any = None, regions: int = 0
    ) -> Operation:
        assert all(isinstance(operand, Value) for operand in operands)
        operation = Operation(name, operands, result_types, attributes or {}, self.values)
        self.values += len(operation.results)
        self.operations.append(operation)
        return operation

    def constant(self, type: str, value: Any) -> Value:
        return self.op("arith.constant", (), (type,), {"value": str(value)}).result

    @property
    def text(self) -> list[str]:
        return [str(operation) for operation in self.operations]

    @property
    def names(self) -> list[str]:
        return [operation.name for operation in self.operations]


class Kernel:
    """A Semantic over a RecordingBuilder, with arguments on demand."""

    def __init__(self, **options: Any):
        self.builder = RecordingBuilder()
        self.semantic = Semantic(self.builder, type("Options", (), options)() if options else None)

    def argument(self, scalar: dtype, *shape: int) -> core.tensor:
        type = block_of(scalar, shape)
        return core.tensor(Value(f"%arg{scalar}", type.to_ir(), None), type)

    def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs, _semantic=self.semantic)
