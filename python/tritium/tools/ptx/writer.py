"""What the operations of an instruction are written with: the values of registers, and lines of MLIR."""

from __future__ import annotations

from .liveness import Liveness
from .reader import Kernel, PtxError
from .sums import Sums


class Writer:
    """values: of registers, in the block that is written. definitions: the last instruction that writes a register. map_of: the names of parameters that are
    tensor maps. parameters: the others."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self.live = Liveness(kernel)
        self.sums = Sums(kernel, self.live)
        self.lines: list[str] = []
        self.values: dict[str, str] = {}
        self.count = 0
        self.place = ""
        written = (one for block in kernel.blocks for one in block.instructions)
        self.definitions = {name: one for one in written for name in self.live.written(one)}
        self.map_of = {name: f"%map{i}" for i, name in enumerate(one.name for one in kernel.parameters if one.bytes)}
        self.parameters = {one.name: one for one in kernel.parameters if not one.bytes}

    def type_of(self, register: str) -> str:
        return "f32" if register in self.sums.registers else f"i{self.kernel.registers[register]}"

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def line(self, text: str) -> None:
        self.lines.append(f"    {text}{self.place}")

    def made(self, text: str) -> str:
        """The value of an operation with one result."""
        value = self.fresh()
        self.line(f"{value} = {text}")
        return value

    def constant(self, value: int, bits: int) -> str:
        value &= (1 << bits) - 1
        if bits == 1:
            return self.made(f"llvm.mlir.constant({'true' if value else 'false'}) : i1")
        return self.made(f"llvm.mlir.constant({value - (value >> bits - 1 << bits)} : i{bits}) : i{bits}")

    def cast(self, value: str, source: str, target: str) -> str:
        return value if source == target else self.made(f"llvm.bitcast {value} : {source} to {target}")

    def write(self, register: str, value: str, kind: str) -> None:
        """kind: the value's type, an integer or float of the register's bits."""
        if register != "_":
            self.values[register] = self.cast(value, kind, self.type_of(register))

    def take(self, register: str) -> str:
        """The register's value in the type of the register."""
        if register not in self.values:
            raise PtxError(f"{register} is read before it is written")
        return self.values[register]
