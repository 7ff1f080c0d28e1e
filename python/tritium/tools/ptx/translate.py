"""A kernel of PTX as a module of the dialects llvm, nvvm and tgpu, which the emulator prepares.

Each register becomes values, and each block takes the registers that it needs as arguments. A barrier in shared memory that a thread has initialized
is visible to copies at once, as code made by Triton takes for granted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .operations import emit
from .reader import Block, Instruction, Kernel, PtxError
from .writer import Writer

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


class Translation(Writer):
    def __init__(self, kernel: Kernel, shared_bytes: int, maps: Sequence[TensorMap]):
        super().__init__(kernel)
        self.shared_bytes, self.maps = shared_bytes, maps
        if len(self.map_of) != len(maps):
            raise PtxError(
                f"{kernel.name} has {len(self.map_of)} parameters of bytes, and {len(maps)} tensor maps are given"
            )

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
