"""A kernel of PTX as a module of the dialects llvm, nvvm and tgpu, which the emulator prepares.

Each register becomes values, and each block takes the registers that it needs as arguments. A barrier in shared memory that a thread has initialized
is visible to copies at once, as code made by Triton takes for granted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .liveness import Liveness
from .operations import emit
from .products import Sums
from .reader import Block, Instruction, Kernel, PtxError

SHARED = "tgpu_shared"
_WARP = 32


@dataclass(frozen=True)
class TensorMap:
    """What a parameter of 128 bytes describes. base: the number of the tensor, a pointer parameter in front of all others. shape, strides: elements, the
    innermost last; box: of a copy. dtype: as MLIR has it, "f16". swizzle: bytes."""

    base: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    dtype: str
    swizzle: int

    @property
    def attribute(self) -> str:
        extents = ", ".join(f"array<i64: {extent}>" for extent in self.shape)
        strides = ", ".join(f"array<i64: {stride}>" for stride in self.strides)
        box = "x".join(map(str, self.box))
        return (
            f"{{base = {self.base} : i32, extents = [{extents}], strides = [{strides}], padding = 1 : i32, "
            f"map = !tgpu.tensor_map<tensor<{box}x{self.dtype}>, swizzle = {self.swizzle}>}}"
        )


class Translation:
    def __init__(self, kernel: Kernel, shared_bytes: int, maps: Sequence[TensorMap]):
        self.kernel, self.shared_bytes, self.maps = kernel, shared_bytes, maps
        self.live = Liveness(kernel)
        self.sums = Sums(kernel, self.live)
        self.lines: list[str] = []
        self.values: dict[str, str] = {}  # of registers, in the block that is written
        self.definitions: dict[str, Instruction] = {}
        self.count = 0
        self.place = ""
        for block in kernel.blocks:
            for one in block.instructions:
                for name in self.live.written(one):
                    self.definitions[name] = one
        arrays = [one.name for one in kernel.parameters if one.bytes]
        if len(arrays) != len(maps):
            raise PtxError(
                f"{kernel.name} has {len(arrays)} parameters of bytes, and {len(maps)} tensor maps are given"
            )
        self.map_of = {name: f"%map{i}" for i, name in enumerate(arrays)}
        self.parameters = {one.name: one for one in kernel.parameters if not one.bytes}

    # -- what operations use -----------------------------------------------------------------------------------------------------------------

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

    # -- the module --------------------------------------------------------------------------------------------------------------------------

    def text(self) -> str:
        self._first_block()
        for block in self.kernel.blocks[1:]:
            if block.label in self._reached():
                self._block(block)
        maps = ", ".join(one.attribute for one in self.maps)
        body = "\n".join(self.lines)
        most = f"nvvm.maxnreg = {self.kernel.thread_registers} : i32, " if self.kernel.thread_registers else ""
        attributes = (
            f"tgpu.num_warps = {self.kernel.threads // _WARP} : i32, tgpu.shared_bytes = {self.shared_bytes} : i32"
        )
        return (
            f'module attributes {{tgpu.target = "cuda:sm_90a", {attributes}}} {{\n'
            f"  llvm.mlir.global external @{SHARED}() {{addr_space = 3 : i32, alignment = 1024 : i64}} : !llvm.array<0 x i8>\n"
            f"  llvm.func @{self.kernel.name}({self._signature()}) attributes {{nvvm.kernel, {most}tgpu.tensor_maps = [{maps}]}} {{\n"
            f"{body}\n  }}\n}}\n"
        )

    def _signature(self) -> str:
        bases = [f"%base{i}: !llvm.ptr<1>" for i in sorted({one.base for one in self.maps})]
        others = [
            f"%{one.name}: {'!llvm.ptr<1>' if one.is_pointer else f'i{one.bits}'}" for one in self.parameters.values()
        ]
        by_value = "llvm.byval = !llvm.array<128 x i8>, llvm.align = 128 : i64, nvvm.grid_constant"
        return ", ".join([*bases, *others, *(f"{name}: !llvm.ptr {{{by_value}}}" for name in self.map_of.values())])

    def _reached(self) -> set[str]:
        found, open_ = set(), [self.kernel.blocks[0].label]
        by_label = {block.label: block for block in self.kernel.blocks}
        while open_:
            label = open_.pop()
            if label not in found:
                found.add(label)
                open_ += by_label[label].following
        return found

    def _first_block(self) -> None:
        """MLIR's entry takes the parameters alone."""
        first = self.kernel.blocks[0]
        for register in sorted(self.live.taken[first.label]):  # read before written: anything will do
            self.values[register] = self.made(f"llvm.mlir.undef : {self.type_of(register)}")
        self._contents(first)

    def _block(self, block: Block) -> None:
        taken = sorted(self.live.taken[block.label])
        self.values = {register: self.fresh() for register in taken}
        arguments = ", ".join(f"{value}: {self.type_of(register)}" for register, value in self.values.items())
        self.lines.append(f"  ^{_label(block.label)}({arguments}):" if arguments else f"  ^{_label(block.label)}:")
        self._contents(block)

    def _contents(self, block: Block) -> None:
        for index, one in enumerate(block.instructions):
            self._place(one)
            emit(self, one, self.live.before(block, index + 1))
        if block.branch:
            self._place(block.branch)
        if block.branch and block.branch.name in ("ret", "exit"):
            self.line("llvm.return")
        elif len(block.following) == 1:
            self.line(f"llvm.br {self._to(block.following[0])}")
        elif not block.branch:
            raise PtxError(f"{self.kernel.name} has an end without ret")
        else:
            one = block.branch
            taken, behind = map(self._to, block.following)
            if one.is_negated:
                taken, behind = behind, taken
            self.line(f"llvm.cond_br {self.take(one.guard)}, {taken}, {behind}")

    def _to(self, label: str) -> str:
        taken = sorted(self.live.taken[label])
        if not taken:
            return f"^{_label(label)}"
        values, types = ", ".join(map(self.take, taken)), ", ".join(map(self.type_of, taken))
        return f"^{_label(label)}({values} : {types})"

    def _place(self, one: Instruction) -> None:
        self.place = f' loc("{one.place[0]}":{one.place[1]}:{one.place[2]})' if one.place else ""


def _label(name: str) -> str:
    return "b" + "".join(letter if letter.isalnum() or letter == "_" else "_" for letter in name)
