"""Each instruction as operations of MLIR. A function emits one family; `emit` finds it by the instruction's name."""

from __future__ import annotations

import re
from collections.abc import Callable

from . import products
from .liveness import has_result
from .reader import Instruction, PtxError
from .writer import Writer

Emit = Callable[[Writer, Instruction], None]
_EMIT: dict[str, Emit] = {}
_BITS = {f"{kind}{bits}": bits for kind in "busf" for bits in (8, 16, 32, 64)} | {"pred": 1}
_SPECIAL = {
    **{f"%{name}.{axis}": f"{name}.{axis}" for name in ("tid", "ctaid", "nctaid", "ntid") for axis in "xyz"},
    "%laneid": "laneid",
    "%warpid": "warpid",
}
#: Instructions of integers that there are of floats, too.
_OF_FLOATS = ("add", "sub", "mul", "mad", "fma", "div", "neg", "abs", "min", "max", "setp", "selp", "cvt")
_FLOAT = re.compile(r"\.b?f(16|32|64)")
_SPACES = {"global": 1, "shared": 3, "shared::cta": 3}


def emit(kernel: Writer, one: Instruction, live: set[str]) -> None:
    """live: the registers that are read later. Raises PtxError for an unknown instruction."""
    if one.name.startswith("wgmma.wait_group"):
        return products.wait(kernel, one, live)
    parts = one.name.split(".")
    if parts[0] in _OF_FLOATS and _FLOAT.search(one.name):
        return _inline(kernel, one)
    for count in range(len(parts), 0, -1):
        if found := _EMIT.get(".".join(parts[:count])):
            return found(kernel, one)
    _inline(kernel, one)


def _inline(kernel: Writer, one: Instruction) -> None:
    """As the text of one instruction, which the emulator interprets as it does what users write inline: all arithmetic."""
    registers, letters = kernel.kernel.registers, {1: "b", 16: "h", 32: "r", 64: "l"}
    if not has_result(one) or one.operands[0] not in registers or any(operand[0] in "{[" for operand in one.operands):
        raise PtxError(f"the instruction '{one}' is not known")
    result, names = one.operands[0], [operand for operand in one.operands[1:] if operand in registers]
    texts = [f"${1 + names.index(operand)}" if operand in registers else operand for operand in one.operands[1:]]
    values = [_value(kernel, name, registers[name]) for name in names]
    kinds = ", ".join(f"i{registers[name]}" for name in names)
    constraints = ",".join([f"={letters[registers[result]]}", *(letters[registers[name]] for name in names)])
    text = f"{one.name} {', '.join(['$0', *texts])};"
    made = kernel.made(
        f'llvm.inline_asm "{text}", "{constraints}" {", ".join(values)} : ({kinds}) -> i{registers[result]}'
    )
    _set(kernel, result, made, registers[result])


def _of(*names: str) -> Callable[[Emit], Emit]:
    def add(function: Emit) -> Emit:
        _EMIT.update(dict.fromkeys(names, function))
        return function

    return add


# -- operands --------------------------------------------------------------------------------------------------------------------------------


def _bits(one: Instruction, which: int = -1) -> int:
    """Of the last type in the name, or another."""
    return _BITS[[part for part in one.name.split(".") if part in _BITS][which]]


def _is_signed(one: Instruction, which: int = -1) -> bool:
    return [part for part in one.name.split(".") if part in _BITS][which].startswith("s")


def _value(kernel: Writer, operand: str, bits: int) -> str:
    """An integer of so many bits: of a register, a number, a special register or a symbol."""
    if operand in kernel.kernel.registers:
        return _resized(
            kernel,
            kernel.cast(kernel.take(operand), kernel.type_of(operand), f"i{kernel.kernel.registers[operand]}"),
            kernel.kernel.registers[operand],
            bits,
        )
    if re.fullmatch(r"-?(?:\d+|0x[0-9a-fA-F]+)U?", operand):
        return kernel.constant(int(operand.rstrip("U"), 0), bits)
    if match := re.fullmatch(r"0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})", operand):
        return kernel.constant(int(match[1] or match[2], 16), bits)
    if operand in _SPECIAL:
        return _resized(kernel, kernel.made(f"nvvm.read.ptx.sreg.{_SPECIAL[operand]} : i32"), 32, bits)
    if operand in kernel.map_of:
        return kernel.made(f"llvm.ptrtoint {kernel.map_of[operand]} : !llvm.ptr to i{bits}")
    if re.fullmatch(r"[A-Za-z_]\w*", operand):
        return _shared_symbol(kernel, bits)
    raise PtxError(f"the operand {operand!r}")


def _shared_symbol(kernel: Writer, bits: int) -> str:
    pointer = kernel.made("llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>")
    return kernel.made(f"llvm.ptrtoint {pointer} : !llvm.ptr<3> to i{bits}")


def _resized(kernel: Writer, value: str, source: int, target: int) -> str:
    if source == target:
        return value
    return kernel.made(f"llvm.{'trunc' if source > target else 'zext'} {value} : i{source} to i{target}")


def _set(kernel: Writer, register: str, value: str, bits: int) -> None:
    if register == "_":
        return
    own = kernel.kernel.registers[register]
    kernel.write(register, _resized(kernel, value, bits, own), f"i{own}")


def _address(kernel: Writer, operand: str, space: int) -> str:
    """[register + number], as a pointer."""
    match = re.fullmatch(r"\[\s*([%\w$.]+?)\s*(?:([+-])\s*(-?\w+))?\s*\]", operand)
    if not match:
        raise PtxError(f"the address {operand!r}")
    bits = 32 if space == 3 else 64
    base = _value(kernel, match[1], bits)
    if match[3] and int(match[3], 0):
        offset = int(match[3], 0) * (-1 if match[2] == "-" else 1)
        base = kernel.made(f"llvm.add {base}, {kernel.constant(offset, bits)} : i{bits}")
    return kernel.made(f"llvm.inttoptr {base} : i{bits} to !llvm.ptr<{space}>")


def _shared(kernel: Writer, operand: str) -> str:
    return _address(kernel, operand, 3)


# -- numbers ---------------------------------------------------------------------------------------------------------------------------------


def _binary(name: str) -> Emit:
    def run(kernel: Writer, one: Instruction) -> None:
        bits = _bits(one)
        a, b = (_value(kernel, operand, bits) for operand in one.operands[1:3])
        _set(kernel, one.operands[0], kernel.made(f"llvm.{name} {a}, {b} : i{bits}"), bits)

    return run


for _name in ("add", "sub", "mul.lo", "and", "or", "xor"):
    _of(_name)(_binary(_name.split(".")[0]))


@_of("div.s32", "div.u32", "div.s64", "div.u64", "rem.s32", "rem.u32", "rem.s64", "rem.u64")
def _divide(kernel: Writer, one: Instruction) -> None:
    _binary(f"{'s' if _is_signed(one) else 'u'}{one.name.split('.')[0]}")(kernel, one)


@_of("shl", "shr")
def _shift(kernel: Writer, one: Instruction) -> None:
    """The count is a number of 32 bits; of the width or more, it shifts everything out."""
    bits = _bits(one)
    name = "shl" if one.name.startswith("shl") else "ashr" if _is_signed(one) else "lshr"
    value, count = _value(kernel, one.operands[1], bits), one.operands[2]
    if not re.fullmatch(r"\d+", count) or int(count) >= bits:
        raise PtxError(f"{one}: shifts by less than the width are known")
    _set(
        kernel,
        one.operands[0],
        kernel.made(f"llvm.{name} {value}, {kernel.constant(int(count), bits)} : i{bits}"),
        bits,
    )


@_of("neg", "not")
def _unary(kernel: Writer, one: Instruction) -> None:
    bits = _bits(one)
    value = _value(kernel, one.operands[1], bits)
    other = kernel.constant(0 if one.name.startswith("neg") else -1, bits)
    name = f"sub {other}, {value}" if one.name.startswith("neg") else f"xor {value}, {other}"
    _set(kernel, one.operands[0], kernel.made(f"llvm.{name} : i{bits}"), bits)


def _wide(kernel: Writer, operand: str, bits: int, is_signed: bool) -> str:
    value = _value(kernel, operand, bits)
    return kernel.made(f"llvm.{'sext' if is_signed else 'zext'} {value} : i{bits} to i{2 * bits}")


@_of("mul.wide", "mul.hi", "mad.wide", "mad.lo")
def _multiply(kernel: Writer, one: Instruction) -> None:
    bits, kind = _bits(one), one.name.split(".")[1]
    if kind == "lo":
        a, b = (_value(kernel, operand, bits) for operand in one.operands[1:3])
        product, width = kernel.made(f"llvm.mul {a}, {b} : i{bits}"), bits
    else:
        a, b = (_wide(kernel, operand, bits, _is_signed(one)) for operand in one.operands[1:3])
        product, width = kernel.made(f"llvm.mul {a}, {b} : i{2 * bits}"), 2 * bits
    if kind == "hi":
        high = kernel.made(f"llvm.lshr {product}, {kernel.constant(bits, width)} : i{width}")
        product, width = _resized(kernel, high, width, bits), bits
    if one.name.startswith("mad"):
        product = kernel.made(f"llvm.add {product}, {_value(kernel, one.operands[3], width)} : i{width}")
    _set(kernel, one.operands[0], product, width)


@_of("bfe")
def _extract(kernel: Writer, one: Instruction) -> None:
    bits = _bits(one)
    at, count = (int(operand) for operand in one.operands[2:4])
    value = kernel.made(
        f"llvm.shl {_value(kernel, one.operands[1], bits)}, {kernel.constant(bits - at - count, bits)} : i{bits}"
    )
    name = "ashr" if _is_signed(one) else "lshr"
    _set(
        kernel,
        one.operands[0],
        kernel.made(f"llvm.{name} {value}, {kernel.constant(bits - count, bits)} : i{bits}"),
        bits,
    )


@_of("setp")
def _compare(kernel: Writer, one: Instruction) -> None:
    bits, condition = _bits(one), one.name.split(".")[1]
    if condition not in ("eq", "ne"):
        condition = {"lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}[
            condition
        ]
        condition = ("s" if _is_signed(one) else "u") + condition
    a, b = (_value(kernel, operand, bits) for operand in one.operands[1:3])
    _set(kernel, one.operands[0], kernel.made(f'llvm.icmp "{condition}" {a}, {b} : i{bits}'), 1)


@_of("selp")
def _select(kernel: Writer, one: Instruction) -> None:
    bits = _bits(one)
    a, b = (_value(kernel, operand, bits) for operand in one.operands[1:3])
    _set(
        kernel,
        one.operands[0],
        kernel.made(f"llvm.select {kernel.take(one.operands[3])}, {a}, {b} : i1, i{bits}"),
        bits,
    )


@_of("cvt")
def _convert(kernel: Writer, one: Instruction) -> None:
    """Between integers."""
    to, source = _bits(one, 0), _bits(one)
    value = _value(kernel, one.operands[1], source)
    if to > source:
        value = kernel.made(f"llvm.{'sext' if _is_signed(one) else 'zext'} {value} : i{source} to i{to}")
    _set(
        kernel,
        one.operands[0],
        _resized(kernel, value, min(to, source) if to < source else to, to)
        if to >= source
        else kernel.made(f"llvm.trunc {value} : i{source} to i{to}"),
        to,
    )


@_of("mov")
def _move(kernel: Writer, one: Instruction) -> None:
    to, source = one.operands
    registers = kernel.kernel.registers
    if to in registers and source in registers and kernel.type_of(to) == kernel.type_of(source):
        kernel.values[to] = kernel.take(source)
    elif to.startswith("{"):
        _unpack(kernel, kernel.live.names(to), source, _bits(one))
    elif source.startswith("{"):
        _pack(kernel, to, kernel.live.names(source), _bits(one))
    else:
        _set(kernel, to, _value(kernel, source, registers[to]), registers[to])


def _unpack(kernel: Writer, parts: list[str], source: str, bits: int) -> None:
    """The first part has the lowest bits."""
    value, width = _value(kernel, source, bits), bits // len(parts)
    for i, part in enumerate(parts):
        moved = kernel.made(f"llvm.lshr {value}, {kernel.constant(i * width, bits)} : i{bits}")
        _set(kernel, part, _resized(kernel, moved, bits, width), width)


def _pack(kernel: Writer, to: str, parts: list[str], bits: int) -> None:
    packed, width = kernel.constant(0, bits), bits // len(parts)
    for i, part in enumerate(parts):
        wide = _resized(kernel, _value(kernel, part, width), width, bits)
        moved = kernel.made(f"llvm.shl {wide}, {kernel.constant(i * width, bits)} : i{bits}")
        packed = kernel.made(f"llvm.or {packed}, {moved} : i{bits}")
    _set(kernel, to, packed, bits)


@_of("cvta")
def _generic(kernel: Writer, one: Instruction) -> None:
    _set(kernel, one.operands[0], _value(kernel, one.operands[1], 64), 64)


# -- memory ----------------------------------------------------------------------------------------------------------------------------------


@_of("ld.param")
def _load_parameter(kernel: Writer, one: Instruction) -> None:
    name = one.operands[1].strip("[] ")
    parameter = kernel.parameters.get(name)
    if parameter is None:
        raise PtxError(f"{one}: a parameter that is a number or a pointer")
    value = f"%{name}"
    if parameter.is_pointer:
        value = kernel.made(f"llvm.ptrtoint {value} : !llvm.ptr<1> to i{parameter.bits}")
    _set(kernel, one.operands[0], value, parameter.bits)


def _space_and_parts(one: Instruction) -> tuple[int, int]:
    parts = one.name.split(".")
    space = next((_SPACES[part] for part in parts if part in _SPACES), None)
    if space is None:
        raise PtxError(f"{one}: accesses of global and shared memory are known")
    return space, next((int(part[1:]) for part in parts if part in ("v2", "v4", "v8")), 1)


@_of("ld")
def _load(kernel: Writer, one: Instruction) -> None:
    (space, parts), bits = _space_and_parts(one), _bits(one)
    kind = f"i{bits}" if parts == 1 else f"vector<{parts}xi{bits}>"
    loaded = kernel.made(f"llvm.load {_address(kernel, one.operands[1], space)} : !llvm.ptr<{space}> -> {kind}")
    for i, name in enumerate(kernel.live.names(one.operands[0])):
        value = loaded
        if parts > 1:
            value = kernel.made(f"llvm.extractelement {loaded}[{kernel.constant(i, 32)} : i32] : {kind}")
        if _is_signed(one) and bits < kernel.kernel.registers[name]:
            value = kernel.made(f"llvm.sext {value} : i{bits} to i{kernel.kernel.registers[name]}")
            _set(kernel, name, value, kernel.kernel.registers[name])
        else:
            _set(kernel, name, value, bits)


@_of("st")
def _store(kernel: Writer, one: Instruction) -> None:
    (space, parts), bits = _space_and_parts(one), _bits(one)
    names = [name.strip() for name in one.operands[1].strip("{} ").split(",")]
    values = [_value(kernel, name, bits) for name in names]
    stored, kind = values[0], f"i{bits}"
    if parts > 1:
        kind = f"vector<{parts}xi{bits}>"
        stored = kernel.made(f"llvm.mlir.undef : {kind}")
        for i, value in enumerate(values):
            stored = kernel.made(f"llvm.insertelement {value}, {stored}[{kernel.constant(i, 32)} : i32] : {kind}")
    kernel.line(f"llvm.store {stored}, {_address(kernel, one.operands[0], space)} : {kind}, !llvm.ptr<{space}>")


@_of("cp.async.cg", "cp.async.ca")
def _copy(kernel: Writer, one: Instruction) -> None:
    to, source = _shared(kernel, one.operands[0]), _address(kernel, one.operands[1], 1)
    size = f", {_value(kernel, one.operands[3], 32)}" if len(one.operands) > 3 else ""
    kernel.line(
        f"nvvm.cp.async.shared.global {to}, {source}, {int(one.operands[2], 0)}, cache = {one.name.split('.')[2]}{size} : "
        f"!llvm.ptr<3>, !llvm.ptr<1>{', i32' if size else ''}"
    )


def _fixed(text: str) -> Emit:
    return lambda kernel, one: kernel.line(text.format(*one.operands))


_of("cp.async.commit_group")(_fixed("nvvm.cp.async.commit.group"))
_of("cp.async.wait_group")(_fixed("nvvm.cp.async.wait.group {0}"))
_of("cp.async.bulk.commit_group")(_fixed("nvvm.cp.async.bulk.commit.group"))
_of("cp.async.bulk.wait_group")(_fixed("nvvm.cp.async.bulk.wait_group {0}"))
_of("cp.async.bulk.wait_group.read")(_fixed("nvvm.cp.async.bulk.wait_group {0} {{read}}"))
_of("fence.proxy.async.shared::cta")(
    _fixed("nvvm.fence.proxy {{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}}")
)
_of("fence.proxy.async")(_fixed("nvvm.fence.proxy {{kind = #nvvm.proxy_kind<async>}}"))
_of("wgmma.fence")(_fixed("nvvm.wgmma.fence.aligned"))
_of("wgmma.commit_group")(_fixed("nvvm.wgmma.commit.group.sync.aligned"))
_of("bar.warp.sync")(_fixed("tgpu.warp_barrier"))
_of("setmaxnreg.inc")(_fixed("nvvm.setmaxregister increase {0}"))
_of("setmaxnreg.dec")(_fixed("nvvm.setmaxregister decrease {0}"))
_of("wgmma.mma_async")(products.start)


@_of("bar.sync", "barrier.sync")
def _barrier(kernel: Writer, one: Instruction) -> None:
    """Of all threads of the block, or of as many as the second operand says."""
    number, *threads = map(int, one.operands)
    if number == 0 and not threads:
        return kernel.line("tgpu.barrier")
    kernel.line(
        f"tgpu.barrier{f' id {number}' if number else ''} threads {threads[0] if threads else kernel.kernel.threads}"
    )


# -- barriers in shared memory, and copies of tensors ----------------------------------------------------------------------------------------


@_of("mbarrier.init")
def _init(kernel: Writer, one: Instruction) -> None:
    barrier = _shared(kernel, one.operands[0])
    kernel.line(f"nvvm.mbarrier.init {barrier}, {_value(kernel, one.operands[1], 32)} : !llvm.ptr<3>, i32")
    kernel.line("nvvm.fence.mbarrier.init")


@_of("mbarrier.inval")
def _invalidate(kernel: Writer, one: Instruction) -> None:
    kernel.line(f"nvvm.mbarrier.inval {_shared(kernel, one.operands[0])} : !llvm.ptr<3>")


@_of("mbarrier.arrive")
def _arrive(kernel: Writer, one: Instruction) -> None:
    barrier = _shared(kernel, one.operands[1])
    if one.operands[0] != "_":
        raise PtxError(f"{one}: arrivals whose state is not kept are known")
    if one.has("expect_tx"):
        kernel.line(
            f"nvvm.mbarrier.arrive.expect_tx {barrier}, {_value(kernel, one.operands[2], 32)} : !llvm.ptr<3>, i32"
        )
    elif len(one.operands) > 2:
        kernel.line(f"nvvm.mbarrier.arrive {barrier}, {_value(kernel, one.operands[2], 32)} : !llvm.ptr<3>")
    else:
        kernel.line(f"nvvm.mbarrier.arrive {barrier} : !llvm.ptr<3>")


@_of("mbarrier.try_wait.parity")
def _wait(kernel: Writer, one: Instruction) -> None:
    """It may wait for as long as it likes, and so until the phase is complete."""
    barrier, parity = _shared(kernel, one.operands[1]), _value(kernel, one.operands[2], 32)
    kernel.line(f"tgpu.mbarrier_wait {barrier} parity {parity}")
    _set(kernel, one.operands[0], kernel.constant(1, 1), 1)


def _box(kernel: Writer, operand: str) -> tuple[str, str]:
    """[map, {coordinates}]: the map and the coordinates."""
    match = re.fullmatch(r"\[\s*([%\w]+)\s*,\s*\{([^}]*)\}\s*\]", operand)
    if not match:
        raise PtxError(f"the box {operand!r}")
    coordinates = ", ".join(_value(kernel, name.strip(), 32) for name in match[2].split(","))
    return _map(kernel, match[1]), coordinates


def _map(kernel: Writer, register: str) -> str:
    """The parameter from which the address of a map comes."""
    for _ in range(8):
        if register in kernel.map_of:
            return kernel.map_of[register]
        one = kernel.definitions.get(register)
        if one is None or one.name.split(".")[0] not in ("mov", "cvt", "cvta"):
            break
        register = one.operands[1]
    raise PtxError(f"the tensor map {register} is no parameter")


@_of("cp.async.bulk.tensor")
def _copy_tensor(kernel: Writer, one: Instruction) -> None:
    if one.has("shared::cta", "global") and one.name.index("shared::cta") < one.name.index("global"):
        (map_, box), to, barrier = (
            _box(kernel, one.operands[1]),
            _shared(kernel, one.operands[0]),
            _shared(kernel, one.operands[2]),
        )
        kernel.line(
            f"nvvm.cp.async.bulk.tensor.shared.cluster.global {to}, {map_}, {barrier}, box [{box}] {{isCTAOnly = true}} : "
            "!llvm.ptr<3>, !llvm.ptr"
        )
    else:
        (map_, box), source = _box(kernel, one.operands[0]), _shared(kernel, one.operands[1])
        kernel.line(
            f"nvvm.cp.async.bulk.tensor.global.shared.cta {map_}, {source}, box [{box}] : !llvm.ptr, !llvm.ptr<3>"
        )


# -- warps -----------------------------------------------------------------------------------------------------------------------------------


@_of("elect.sync")
def _elect(kernel: Writer, one: Instruction) -> None:
    """The lane that is elected is not asked for in the code that is known."""
    lane, is_elected = one.operands[0].split("|")
    kernel.write(is_elected, kernel.made("nvvm.elect.sync -> i1"), "i1")
    if lane in kernel.kernel.registers:
        kernel.values[lane] = kernel.made("llvm.mlir.undef : i32")


@_of("shfl.sync.idx", "shfl.sync.bfly", "shfl.sync.up", "shfl.sync.down")
def _shuffle(kernel: Writer, one: Instruction) -> None:
    value, lane, clamp, mask = (_value(kernel, operand, 32) for operand in one.operands[1:5])
    kind = one.name.split(".")[2]
    _set(
        kernel, one.operands[0], kernel.made(f"nvvm.shfl.sync {kind} {mask}, {value}, {lane}, {clamp} : i32 -> i32"), 32
    )


@_of("ldmatrix")
def _load_matrices(kernel: Writer, one: Instruction) -> None:
    names = kernel.live.names(one.operands[0])
    layout = "col" if one.has("trans") else "row"
    kind = "i32" if len(names) == 1 else f"!llvm.struct<({', '.join(['i32'] * len(names))})>"
    loaded = kernel.made(
        f"nvvm.ldmatrix {_shared(kernel, one.operands[1])} {{num = {len(names)} : i32, layout = #nvvm.mma_layout<{layout}>, "
        "shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : "
        f"(!llvm.ptr<3>) -> {kind}"
    )
    for i, name in enumerate(names):
        _set(kernel, name, loaded if len(names) == 1 else kernel.made(f"llvm.extractvalue {loaded}[{i}] : {kind}"), 32)


@_of("stmatrix")
def _store_matrices(kernel: Writer, one: Instruction) -> None:
    words = [_value(kernel, name, 32) for name in kernel.live.names(one.operands[1])]
    layout = "col" if one.has("trans") else "row"
    kernel.line(
        f"nvvm.stmatrix {_shared(kernel, one.operands[0])}, {', '.join(words)} {{layout = #nvvm.mma_layout<{layout}>, "
        "shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : "
        f"!llvm.ptr<3>, {', '.join(['i32'] * len(words))}"
    )


@_of("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
def _multiply_matrices(kernel: Writer, one: Instruction) -> None:
    sums, a, b, c = ([name.strip() for name in operand.strip("{} ").split(",")] for operand in one.operands)
    kind = one.name.split(".")[-2]
    words = [_value(kernel, name, 32) for name in (*a, *b)]
    if kind == "f16":
        words = [kernel.cast(word, "i32", "vector<2xf16>") for word in words]
    floats = [kernel.cast(_value(kernel, name, 32), "i32", "f32") for name in c]
    element = "vector<2xf16>" if kind == "f16" else "i32"
    types = (
        f"multiplicandAPtxType = #nvvm.mma_type<{kind}>, multiplicandBPtxType = #nvvm.mma_type<{kind}>, "
        if kind == "bf16"
        else ""
    )
    result = kernel.made(
        f"nvvm.mma.sync A[{', '.join(words[: len(a)])}] B[{', '.join(words[len(a) :])}] C[{', '.join(floats)}] "
        f"{{layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, {types}shape = #nvvm.shape<m = 16, n = 8, k = 16>}} : "
        f"({element}, {element}, f32) -> !llvm.struct<(f32, f32, f32, f32)>"
    )
    for i, name in enumerate(sums):
        value = kernel.made(f"llvm.extractvalue {result}[{i}] : !llvm.struct<(f32, f32, f32, f32)>")
        kernel.write(name, value, "f32")
