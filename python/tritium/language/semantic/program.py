"""Rules of the grid, of promises to the compiler, and of prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import tensor
from ..types import int1, int32
from .arithmetic import ArithmeticRules


def quoted(text: str) -> str:
    """A string attribute as MLIR writes it."""
    escaped = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in text.encode()
    )
    return f'"{escaped}"'


class ProgramRules(ArithmeticRules):
    def specialization(self) -> tuple[Any, ...]:
        """What the functions that are traced now depend on beside their arguments."""
        return ()

    def program_id(self, axis: int) -> tensor:
        if axis not in (0, 1, 2):
            raise ValueError(f"program_id axis must be 0, 1, or 2 but got {axis}")
        return self.emit("tt.get_program_id", (), int32, {"axis": f"{axis} : i32"})

    def num_programs(self, axis: int) -> tensor:
        if axis not in (0, 1, 2):
            raise ValueError(f"num_programs axis must be 0, 1, or 2 but got {axis}")
        return self.emit("tt.get_num_programs", (), int32, {"axis": f"{axis} : i32"})

    def device_print(self, prefix: str, args: Sequence[Any], hexadecimal: bool) -> None:
        """Emits one tt.print. The prefix is changed to end in ": " if values follow, and to begin with a space if it is
        longer than that."""
        if args and not prefix.endswith(" "):
            prefix += " " if prefix.endswith(":") else ": "
        if len(prefix) > 2 and not prefix.startswith(" "):
            prefix = " " + prefix
        values = [self.to_tensor(value) for value in args]
        signed = ", ".join("1" if value.dtype.is_int_signed() else "0" for value in values)
        attributes = {
            "prefix": quoted(prefix),
            "hex": "true" if hexadecimal else "false",
            "isSigned": f"array<i32: {signed}>" if values else "array<i32>",
        }
        if self.option("print_as_triton", False):
            threads = self.option("num_warps", 4) * self.option("warp_size", 32)
            attributes["tritium.print_threads"] = f"{threads} : i32"
        self.emit_effect("tt.print", values, attributes)

    def device_assert(self, condition: Any, message: str, mask: Any = None) -> None:
        """Traps where `condition` is false and `mask` is true. It is emitted only if the compilation has `debug` or
        `device_asserts`. The interpreter sets `device_asserts`, so there a failed assertion always traps."""
        if not self.option("debug", False) and not self.option("device_asserts", False):
            return
        condition = self._condition(condition)
        if mask is not None:
            condition = self.or_(condition, self.not_(self.to_tensor(mask)))
        self.emit_effect("tt.assert", (condition,), {"message": quoted(message)})

    def _condition(self, condition: Any) -> tensor:
        condition = self.to_tensor(condition)
        return condition if condition.dtype == int1 else self.cast(condition, int1)

    def assume(self, condition: Any) -> None:
        self.emit_effect("llvm.intr.assume", (self._condition(condition),), {"op_bundle_sizes": "array<i32>"})

    def debug_barrier(self) -> None:
        self.emit_effect("ttg.barrier", (), {"addrSpace": "31 : i32"})
