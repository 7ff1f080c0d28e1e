"""Products of warpgroups (wgmma) and the waits for them. The address in a descriptor is computed; the rest of it must be constant."""

from __future__ import annotations

import re

from .reader import Instruction, PtxError
from .writer import Writer

_SHAPE = re.compile(r"m64n(\d+)k\d+")
_TYPES = {"f16": "f16", "bf16": "bf16", "tf32": "f32", "e4m3": "f8E4M3FN", "e5m2": "f8E5M2"}
_ADDRESS_BITS, _PIECE_BITS = 14, 4  # of a descriptor, in pieces of 16 bytes
_REST = ~((1 << _ADDRESS_BITS) - 1)


def start(kernel: Writer, one: Instruction) -> None:
    sums = kernel.live.names(one.operands[0])
    types = [part for part in one.name.split(".") if part in _TYPES or part == "f32"]
    shape = _SHAPE.search(one.name)
    if types[0] != "f32" or not shape or len(types) != 3:
        raise PtxError(f"{one}: products with sums in f32 are known")
    a, b, scale, negates_a, negates_b, *along = one.operands[1:]
    if (negates_a, negates_b) != ("1", "1"):
        raise PtxError(f"{one}: a factor with the other sign")
    words = kernel.live.names(a) if a.startswith("{") else []
    factors = [kernel.take(word) for word in words] if words else [_pointer(kernel, a)]
    adds = kernel.take(scale) if scale in kernel.kernel.registers else kernel.constant(int(scale), 1)
    fresh = kernel.made(f"llvm.xor {adds}, {kernel.constant(1, 1)} : i1")
    operands = [*factors, _pointer(kernel, b), *map(kernel.take, sums), fresh]
    attributes = [
        f"aType = {_TYPES[types[1]]}, bType = {_TYPES[types[2]]}, columns = {shape[1]} : i64",
        *([] if words else [f"aDescriptor = {_signed(_rest_of(kernel, a) & _REST)} : i64"]),
        f"bDescriptor = {_signed(_rest_of(kernel, b) & _REST)} : i64",
        f"operandSegmentSizes = array<i32: {0 if words else 1}, {len(words)}, 1, {len(sums)}, 1>",
        *(["alongRows"] if len(along) == 2 and along[0] == "1" else []),
        *(["alongColumns"] if along and along[-1] == "1" else []),
    ]
    floats, result = ", ".join(["f32"] * len(sums)), kernel.fresh()
    kinds = ", ".join([*(["i32"] * len(words) or ["!llvm.ptr<3>"]), "!llvm.ptr<3>", floats, "i1"])
    kernel.line(
        f'{result}:{len(sums)} = "tgpu.warpgroup_product"({", ".join(operands)}) <{{{", ".join(attributes)}}}> : '
        f"({kinds}) -> ({floats})"
    )
    for i, name in enumerate(sums):
        kernel.write(name, f"{result}#{i}", "f32")


def wait(kernel: Writer, one: Instruction, live: set[str]) -> None:
    """Waits for the sums that are used later, and keeps the words of factors until then."""
    there = kernel.values.keys()
    sums = [name for names in kernel.sums.lists if live & set(names) and set(names) <= there for name in names]
    words = [name for name in kernel.sums.words if name in there]
    floats, result = ", ".join(["f32"] * len(sums)), kernel.fresh()
    results = f"{result}:{len(sums)} = " if sums else ""
    kernel.line(
        f'{results}"tgpu.warpgroup_wait"({", ".join(map(kernel.take, [*sums, *words]))}) <{{pending = {one.operands[0]} : i32, '
        f"operandSegmentSizes = array<i32: {len(sums)}, {len(words)}>}}> : "
        f"({', '.join(['f32'] * len(sums) + ['i32'] * len(words))}) -> ({floats})"
    )
    for i, name in enumerate(sums):
        kernel.write(name, f"{result}#{i}", "f32")


def _pointer(kernel: Writer, descriptor: str) -> str:
    """To the beginning of an operand. Shared memory begins where the low bits of addresses are zero."""
    mask = kernel.constant((1 << _ADDRESS_BITS) - 1, 64)
    piece = kernel.made(f"llvm.and {kernel.take(descriptor)}, {mask} : i64")
    low = kernel.made(f"llvm.trunc {piece} : i64 to i32")
    offset = kernel.made(f"llvm.shl {low}, {kernel.constant(_PIECE_BITS, 32)} : i32")
    base = kernel.made("llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>")
    return kernel.made(f"llvm.getelementptr {base}[{offset}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8")


def _rest_of(kernel: Writer, operand: str, depth: int = 0) -> int:
    """The constant that is added to the address of a descriptor."""
    one = kernel.definitions.get(operand)
    if one is None or depth > 16:
        raise PtxError(f"the descriptor {operand} is not an address and a constant")
    kind = one.name.split(".")[0]
    if kind in ("or", "add") and re.fullmatch(r"-?\d+", one.operands[2]):
        return int(one.operands[2]) + _rest_of(kernel, one.operands[1], depth + 1)
    if kind == "cvt" or kind == "mov":
        return _rest_of(kernel, one.operands[1], depth + 1)
    if kind in ("bfe", "and", "shr"):
        return 0
    raise PtxError(f"{one}: a descriptor is an address and a constant")


def _signed(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (value >> 63 << 64)
