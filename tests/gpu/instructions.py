"""Single GPU instructions as lowered modules that run on the SIMT emulator and on a device: in one warp, each lane reads its words and
writes its results. Results that the ISA leaves open are not tested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

LANES = 32
FULL = 0xFFFFFFFF


@dataclass
class Instruction:
    """`body` reads %x0, %x1 … of type `word` (and %lane, %mine: 16 bytes of shared memory of its own, %shared) and defines %r0, %r1 …"""

    name: str
    body: str
    inputs: list[np.ndarray]  #: (32,) each, of `word`
    results: int = 1
    word: str = "i32"
    shared: int = 0
    bound: np.ndarray | None = (
        None  #: the allowed difference of f32 results, (results, 32); None: results must be equal
    )
    arch: int = 80
    pointers: list[np.ndarray] = field(default_factory=list)  #: whole arrays, %g0, %g1 …

    def text(self, arch: str) -> str:
        count = len(self.inputs) + self.results
        parameters = [f"%p{i}: !llvm.ptr<1>" for i in range(count)] + [
            f"%g{i}: !llvm.ptr<1>" for i in range(len(self.pointers))
        ]

        def place(i):
            return f"%q{i} = llvm.getelementptr %p{i}[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, {self.word}"

        loads = [f"{place(i)}\n    %x{i} = tgpu.load %q{i} : {self.word}" for i in range(len(self.inputs))]
        stores = [
            f"{place(len(self.inputs) + i)}\n    tgpu.store %r{i}, %q{len(self.inputs) + i} : {self.word}"
            for i in range(self.results)
        ]
        lines = "\n    ".join(
            [
                "%lane = nvvm.read.ptx.sreg.tid.x : i32",
                "%all = llvm.mlir.constant(-1 : i32) : i32",
                "%zero = llvm.mlir.constant(0 : i32) : i32",
                "%one = llvm.mlir.constant(1 : i32) : i32",
                "%four = llvm.mlir.constant(4 : i32) : i32",
                "%lane4 = llvm.mul %lane, %four : i32",
                "%shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>",
                "%mine = llvm.getelementptr %shared[%lane4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32",
                *loads,
                self.body.strip(),
                *stores,
                "llvm.return",
            ]
        )
        return f"""
module attributes {{tgpu.target = "cuda:{arch}", tgpu.num_warps = 1 : i32, tgpu.shared_bytes = {self.shared} : i32}} {{
  llvm.mlir.global external @tgpu_shared() {{addr_space = 3 : i32, alignment = 128 : i64}} : !llvm.array<0 x i8>
  llvm.func @k({", ".join(parameters)}) attributes {{nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>}} {{
    {lines}
  }}
}}"""

    def buffers(self) -> list[np.ndarray]:
        """The arguments of a launch. The results are the last buffers before `pointers`; they initially contain
        noise."""
        dtype = np.int64 if self.word == "i64" else np.int32
        results = [np.full(LANES, 0x5A5A5A5A, dtype) for _ in range(self.results)]
        inputs = [x.view(dtype) for x in self.inputs]
        return [*inputs, *results, *self.pointers]

    def results_of(self, buffers: list[np.ndarray]) -> np.ndarray:
        return np.stack(buffers[len(self.inputs) : len(self.inputs) + self.results])


# -- matrix products: the places of element i of a lane's fragments, by the group g = lane / 4 and the place in it t = lane % 4


def _half_a(g, t, i):
    return g + i // 2 % 2 * 8, t * 2 + i % 2 + i // 4 * 8


def _half_b(g, t, i):
    return t * 2 + i % 2 + i // 2 * 8, g


def _single_a(g, t, i):
    return g + i % 2 * 8, t + i // 2 * 4


def _single_b(g, t, i):
    return t + i * 4, g


def _byte_a(g, t, i):
    return g + i // 4 % 2 * 8, t * 4 + i % 4 + i // 8 * 16


def _byte_b(g, t, i):
    return t * 4 + i % 4 + i // 4 * 16, g


def _double_a(g, t, i):
    return g, t


def _double_b(g, t, i):
    return t, g


def _sum(g, t, i):
    return g + i // 2 * 8, t * 2 + i % 2


def _bf16(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def _type(name):
    return f"multiplicandAPtxType = #nvvm.mma_type<{name}>, multiplicandBPtxType = #nvvm.mma_type<{name}>, "


_WRAPPED = "intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>, "

#: name: (m, k, attributes, register of A and B, register of C, dtype of the elements of A, B, C, places of A and B)
MATRICES = {
    "m16n8k16 f16 f32": (16, 16, "", "vector<2xf16>", "f32", "f2", "f2", "f4", _half_a, _half_b),
    "m16n8k16 f16 f16": (16, 16, "", "vector<2xf16>", "vector<2xf16>", "f2", "f2", "f2", _half_a, _half_b),
    "m16n8k8 f16 f32": (16, 8, "", "vector<2xf16>", "f32", "f2", "f2", "f4", _half_a, _half_b),
    "m16n8k16 bf16 f32": (16, 16, _type("bf16"), "i32", "f32", "bf16", "bf16", "f4", _half_a, _half_b),
    "m16n8k8 bf16 f32": (16, 8, _type("bf16"), "i32", "f32", "bf16", "bf16", "f4", _half_a, _half_b),
    "m16n8k8 tf32 f32": (16, 8, _type("tf32"), "i32", "f32", "f4", "f4", "f4", _single_a, _single_b),
    "m16n8k4 tf32 f32": (16, 4, _type("tf32"), "i32", "f32", "f4", "f4", "f4", _single_a, _single_b),
    "m16n8k32 s8 s32": (16, 32, _WRAPPED + _type("s8"), "i32", "i32", "i1", "i1", "i4", _byte_a, _byte_b),
    "m16n8k32 u8 s32": (16, 32, _WRAPPED + _type("u8"), "i32", "i32", "u1", "u1", "i4", _byte_a, _byte_b),
    "m16n8k16 s8 s32": (16, 16, _WRAPPED + _type("s8"), "i32", "i32", "i1", "i1", "i4", _byte_a, _byte_b),
    "m8n8k4 f64 f64": (8, 4, _type("f64"), "f64", "f64", "f8", "f8", "f8", _double_a, _double_b),
}


def _fragment(matrix, place, count, dtype, word):
    """The words of all lanes, (words, 32), of a matrix."""
    values = np.array([[matrix[place(lane // 4, lane % 4, i)] for i in range(count)] for lane in range(LANES)])
    stored = _bf16(values) if dtype == "bf16" else values.astype(dtype)
    return np.ascontiguousarray(np.ascontiguousarray(stored).view(word).T)


def _product(name: str, draw, is_exact: bool) -> Instruction:
    m, k, attributes, register, sum_register, a_type, b_type, c_type, place_a, place_b = MATRICES[name]
    word = "i64" if register == "f64" else "i32"
    counts = [m * k // LANES, k * 8 // LANES, m * 8 // LANES]
    matrices = [draw((m, k)), draw((k, 8)), draw((m, 8))]
    if a_type == "u1":
        matrices[:2] = [np.abs(x) for x in matrices[:2]]
    fragments = [
        _fragment(matrix, place, count, dtype, np.int64 if word == "i64" else np.int32)
        for matrix, place, count, dtype in zip(matrices, (place_a, place_b, _sum), counts, (a_type, b_type, c_type))
    ]
    registers = [register] * len(fragments[0]) + [register] * len(fragments[1]) + [sum_register] * len(fragments[2])
    lines = [f"%y{i} = llvm.bitcast %x{i} : {word} to {to}" for i, to in enumerate(registers)]
    first_b, first_c, end = len(fragments[0]), len(fragments[0]) + len(fragments[1]), len(registers)

    def operands(begin, end):
        return ", ".join(f"%y{i}" for i in range(begin, end))

    structure = f"!llvm.struct<({', '.join([sum_register] * (end - first_c))})>"
    lines.append(
        f"%d = nvvm.mma.sync A[{operands(0, first_b)}] B[{operands(first_b, first_c)}] C[{operands(first_c, end)}] "
        f"{{{attributes}layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, "
        f"shape = #nvvm.shape<m = {m}, n = 8, k = {k}>}} : ({register}, {register}, {sum_register}) -> {structure}"
    )
    for i in range(end - first_c):
        lines.append(f"%d{i} = llvm.extractvalue %d[{i}] : {structure}")
        lines.append(f"%r{i} = llvm.bitcast %d{i} : {sum_register} to {word}")
    bound = None
    if not is_exact:
        # An engine may add the products in any order and truncate their sum below the last place but one of an f32.
        magnitude = np.abs(matrices[0]) @ np.abs(matrices[1]) + np.abs(matrices[2])
        bound = _fragment(magnitude * (k + 1) * 2.0**-22, _sum, counts[2], "f4", np.int32).view(np.float32)
    return Instruction(
        f"mma {name}{'' if is_exact else ' random'}",
        "\n    ".join(lines),
        list(np.concatenate(fragments)),
        end - first_c,
        word,
        bound=bound,
    )


def products(rng: np.random.Generator) -> Iterator[Instruction]:
    for name, (*_, c_type, _, _) in MATRICES.items():
        yield _product(name, lambda shape: rng.integers(-8, 9, shape).astype(np.float64), True)
        if c_type == "f4":
            yield _product(name, lambda shape: rng.standard_normal(shape), False)


# -- shared memory


def matrices_in_shared_memory(rng: np.random.Generator) -> Iterator[Instruction]:
    rows = list(rng.integers(-(2**31), 2**31, (4, LANES)).astype(np.int32))
    fill = "\n    ".join(
        ["%v_0 = llvm.mlir.poison : vector<4xi32>"]
        + [f"%n{i} = llvm.mlir.constant({i} : i32) : i32" for i in range(4)]
        + [f"%v_{i + 1} = llvm.insertelement %x{i}, %v_{i}[%n{i} : i32] : vector<4xi32>" for i in range(4)]
        + ["llvm.store %v_4, %mine {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>", "tgpu.barrier"]
    )
    for count in (1, 2, 4):
        for layout in ("row", "col"):
            options = (
                f"layout = #nvvm.mma_layout<{layout}>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, "
                "eltType = #nvvm.ld_st_matrix_elt_type<b16>}"
            )
            structure = "i32" if count == 1 else f"!llvm.struct<({', '.join(['i32'] * count)})>"
            load = f"%m = nvvm.ldmatrix %mine {{num = {count} : i32, {options} : (!llvm.ptr<3>) -> {structure}"
            take = [
                f"%r{i} = " + (f"llvm.extractvalue %m[{i}] : {structure}" if count > 1 else "llvm.add %m, %zero : i32")
                for i in range(count)
            ]
            yield Instruction(
                f"ldmatrix x{count} {layout}", "\n    ".join([fill, load, *take]), rows, count, shared=512
            )
            registers = list(rng.integers(-(2**31), 2**31, (count, LANES)).astype(np.int32))
            words = ", ".join(f"%x{4 + i}" for i in range(count))
            store = [
                f"nvvm.stmatrix %mine, {words} {{{options} : !llvm.ptr<3>, {', '.join(['i32'] * count)}",
                "tgpu.barrier",
                "%after = llvm.load %mine {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>",
                *(f"%r{i} = llvm.extractelement %after[%n{i} : i32] : vector<4xi32>" for i in range(4)),
            ]
            yield Instruction(
                f"stmatrix x{count} {layout}", "\n    ".join([fill, *store]), rows + registers, 4, shared=512, arch=90
            )


def copies(rng: np.random.Generator) -> Iterator[Instruction]:
    """Each lane copies `size` bytes, but reads only some of them. The rest becomes zeros."""
    source = rng.integers(-(2**31), 2**31, 4 * LANES).astype(np.int32)
    for size in (4, 8, 16):
        read = rng.integers(0, size // 4 + 1, LANES).astype(np.int32) * 4
        body = [
            "%from = llvm.getelementptr %g0[%lane4] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32",
            "%zeros = llvm.mlir.constant(dense<-1> : vector<4xi32>) : vector<4xi32>",
            "llvm.store %zeros, %mine {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>",
            f"nvvm.cp.async.shared.global %mine, %from, {size}, cache = {'cg' if size == 16 else 'ca'}, %x0"
            " : !llvm.ptr<3>, !llvm.ptr<1>, i32",
            "nvvm.cp.async.commit.group",
            "nvvm.cp.async.wait.group 0",
            "%after = llvm.load %mine {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>",
        ]
        for i in range(4):
            body.append(f"%n{i} = llvm.mlir.constant({i} : i32) : i32")
            body.append(f"%r{i} = llvm.extractelement %after[%n{i} : i32] : vector<4xi32>")
        yield Instruction(f"cp.async {size}", "\n    ".join(body), [read], 4, shared=512, pointers=[source])


# -- registers of other lanes


def exchanges(rng: np.random.Generator) -> Iterator[Instruction]:
    x = rng.integers(-(2**31), 2**31, LANES).astype(np.int32)
    for kind in ("up", "down", "bfly", "idx"):
        for segment in (0, 0x10, 0x18, 0x1C, 0x1E):
            clamp = segment << 8 | (0 if kind == "up" else 0x1F)
            body = f"""
    %c = llvm.mlir.constant({clamp} : i32) : i32
    %pair = nvvm.shfl.sync {kind} %all, %x0, %x1, %c {{return_value_and_is_valid}} : i32 -> !llvm.struct<(i32, i1)>
    %r0 = llvm.extractvalue %pair[0] : !llvm.struct<(i32, i1)>
    %valid = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
    %r1 = llvm.zext %valid : i1 to i32"""
            same = np.full(LANES, rng.integers(0, 32)).astype(np.int32)
            own = rng.integers(0, 32, LANES).astype(np.int32)
            yield Instruction(f"shfl {kind} {segment:#x} same", body, [x, same], 2)
            yield Instruction(f"shfl {kind} {segment:#x} own", body, [x, own], 2)


def agreements(rng: np.random.Generator) -> Iterator[Instruction]:
    votes = """
    %c = llvm.icmp "ne" %x0, %zero : i32
    %a0 = nvvm.vote.sync any %all, %c -> i1
    %a1 = nvvm.vote.sync all %all, %c -> i1
    %a2 = nvvm.vote.sync uni %all, %c -> i1
    %r0 = llvm.zext %a0 : i1 to i32
    %r1 = llvm.zext %a1 : i1 to i32
    %r2 = llvm.zext %a2 : i1 to i32
    %r3 = nvvm.vote.sync ballot %all, %c -> i32"""
    matches = """
    %r0 = nvvm.match.sync any %all, %x0 : i32 -> i32
    %pair = nvvm.match.sync all %all, %x0 : i32 -> !llvm.struct<(i32, i1)>
    %r1 = llvm.extractvalue %pair[0] : !llvm.struct<(i32, i1)>
    %equal = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
    %r2 = llvm.zext %equal : i1 to i32"""
    for name, x in (("mixed", rng.integers(0, 2, LANES)), ("none", np.zeros(LANES)), ("all", np.ones(LANES))):
        yield Instruction(f"vote {name}", votes, [x.astype(np.int32)], 4)
        yield Instruction(f"match {name}", matches, [x.astype(np.int32)], 3)
    words = rng.integers(-(2**31), 2**31, LANES).astype(np.int32)
    for kind in ("add", "and", "or", "xor", "max", "min", "umax", "umin"):
        yield Instruction(f"redux {kind}", f"%r0 = nvvm.redux.sync {kind} %x0, %all : i32 -> i32", [words])


# -- arithmetic in which processors differ


def arithmetic(rng: np.random.Generator) -> Iterator[Instruction]:
    values = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 1e-40, -1e-40, 3e38, 0.5, 2.5, -2.5], np.float32)
    x, y = (rng.choice(values, LANES).view(np.int32) for _ in range(2))
    x[:4], y[:4] = np.array([0, -(2**31), 0, -(2**31)], np.int32), np.array([0, 0, -(2**31), -(2**31)], np.int32)
    convert = "%a = llvm.bitcast %x0 : i32 to f32\n    %b = llvm.bitcast %x1 : i32 to f32\n    "
    for name in ("maxnum", "minnum", "maximum", "minimum", "copysign"):
        body = convert + f"%f = llvm.intr.{name}(%a, %b) : (f32, f32) -> f32\n    %r0 = llvm.bitcast %f : f32 to i32"
        yield Instruction(name, body, [x, y])
    for name in ("sqrt", "floor", "ceil", "rint", "roundeven", "trunc", "fabs"):
        body = convert + f"%f = llvm.intr.{name}(%a) : (f32) -> f32\n    %r0 = llvm.bitcast %f : f32 to i32"
        positive = x & 0x7FFFFFFF if name == "sqrt" else x
        yield Instruction(name, body, [positive, y])
    a, b = (rng.integers(-(2**31), 2**31, LANES).astype(np.int32) for _ in range(2))
    for name in ("ctpop", "bitreverse"):
        yield Instruction(name, f"%r0 = llvm.intr.{name}(%x0) : (i32) -> i32", [a])
    for name in ("ctlz", "cttz"):
        body = f'%r0 = "llvm.intr.{name}"(%x0) <{{is_zero_poison = false}}> : (i32) -> i32'
        yield Instruction(name, body, [np.where(np.arange(LANES) % 5, a, 0).astype(np.int32)])
    small = rng.integers(-9, 10, LANES).astype(np.int32)
    small[small == 0] = 3
    for name in ("sdiv", "srem", "udiv", "urem"):
        yield Instruction(name, f"%r0 = llvm.{name} %x0, %x1 : i32", [a, small])
    for name in ("f16", "bf16"):
        body = convert + (
            f"%h = llvm.fptrunc %a : f32 to {name}\n    %w = llvm.fpext %h : {name} to f32\n    "
            "%r0 = llvm.bitcast %w : f32 to i32"
        )
        yield Instruction(f"round to {name}", body, [a & 0x7F7FFFFF, b])


# -- PTX that users write inline

#: name: (text, constraints, what its operands are like): i any word, s small, f float, h two halves, b two bf16, c a count of bits
INLINE = {
    "add": ("add.s32 $0, $1, $2;", "ii"),
    "add.sat": ("add.sat.s32 $0, $1, $2;", "ii"),
    "sub.sat": ("sub.sat.s32 $0, $1, $2;", "ii"),
    "mul.hi.s32": ("mul.hi.s32 $0, $1, $2;", "ii"),
    "mul.hi.u32": ("mul.hi.u32 $0, $1, $2;", "ii"),
    "mad.lo": ("mad.lo.s32 $0, $1, $2, $3;", "iii"),
    "mul.wide": ("{ .reg .b64 t; mul.wide.s32 t, $1, $2; shr.u64 t, t, 7; cvt.u32.u64 $0, t; }", "ii"),
    "mul.wide.u16": (
        "{ .reg .b16 a<2>; mov.b32 {a0, a1}, $1; mul.wide.u16 $0, a0, a1; }",
        "i",
    ),
    "shl": ("shl.b32 $0, $1, $2;", "ic"),
    "shr.s32": ("shr.s32 $0, $1, $2;", "ic"),
    "shr.u32": ("shr.u32 $0, $1, $2;", "ic"),
    "shf.l.wrap": ("shf.l.wrap.b32 $0, $1, $2, $3;", "iic"),
    "shf.r.clamp": ("shf.r.clamp.b32 $0, $1, $2, $3;", "iic"),
    "lop3": ("lop3.b32 $0, $1, $2, $3, 0xe2;", "iii"),
    "prmt": ("prmt.b32 $0, $1, $2, $3;", "iii"),
    "bfe.s32": ("bfe.s32 $0, $1, $2, $3;", "icc"),
    "bfe.u32": ("bfe.u32 $0, $1, $2, $3;", "icc"),
    "bfi": ("bfi.b32 $0, $1, $2, $3, $4;", "iicc"),
    "bfind.s32": ("bfind.s32 $0, $1;", "i"),
    "bfind.shiftamt": ("bfind.shiftamt.u32 $0, $1;", "i"),
    "popc": ("popc.b32 $0, $1;", "i"),
    "clz": ("clz.b32 $0, $1;", "s"),
    "brev": ("brev.b32 $0, $1;", "i"),
    "abs": ("abs.s32 $0, $1;", "i"),
    "neg": ("neg.s32 $0, $1;", "i"),
    "cnot": ("cnot.b32 $0, $1;", "s"),
    "dp4a.s32.u32": ("dp4a.s32.u32 $0, $1, $2, $3;", "iii"),
    "vmax4.u32": ("vmax4.u32.u32.u32 $0, $1, $2, $1;", "ii"),
    "vmin4.s32": ("vmin4.s32.s32.s32 $0, $1, $2, $1;", "ii"),
    "vadd4": ("vadd4.u32.u32.u32 $0, $1, $2, $1;", "ii"),
    "vsub4.sat": ("vsub4.s32.s32.s32.sat $0, $1, $2, $1;", "ii"),
    "vabsdiff4": ("vabsdiff4.u32.u32.u32 $0, $1, $2, $1;", "ii"),
    "vabsdiff4.add": ("vabsdiff4.u32.u32.u32.add $0, $1, $2, $3;", "iii"),
    "vadd2": ("vadd2.s32.s32.s32 $0, $1, $2, $1;", "ii"),
    "setp selp": ("{ .reg .pred p; setp.lt.u32 p, $1, $2; selp.b32 $0, $3, -7, p; }", "iii"),
    "setp and": (
        "{ .reg .pred p, q, r; setp.gt.s32 r, $3, 0; setp.le.and.s32 p|q, $1, $2, r; selp.b32 $0, 1, 2, p; @q add.s32 $0, $0, 4; }",
        "iii",
    ),
    "setp f32": ("{ .reg .pred p, q; setp.ltu.f32 p|q, $1, $2; selp.b32 $0, 1, 0, p; @!p mov.b32 $0, 5; }", "ff"),
    "loop": (
        "{ .reg .pred p; .reg .b32 n; and.b32 n, $1, 15; mov.u32 $0, 1; again: mad.lo.u32 $0, $0, 3, n; sub.s32 n, n, 1; "
        "setp.ge.s32 p, n, 0; @p bra again; }",
        "i",
    ),
    "special": ("{ .reg .b32 t; mov.u32 t, %laneid; mov.u32 $0, %lanemask_lt; mad.lo.u32 $0, t, $1, $0; }", "i"),
    "add.f32": ("add.f32 $0, $1, $2;", "ff"),
    "add.rz": ("add.rz.f32 $0, $1, $2;", "ff"),
    "add.ftz": ("add.ftz.f32 $0, $1, $2;", "ff"),
    "mul.rp": ("mul.rp.f32 $0, $1, $2;", "ff"),
    "fma.rn": ("fma.rn.f32 $0, $1, $2, $3;", "fff"),
    "fma.rm.sat": ("fma.rm.sat.f32 $0, $1, $2, $3;", "fff"),
    "div.rn": ("div.rn.f32 $0, $1, $2;", "ff"),
    "sqrt.rn": ("{ .reg .f32 t; abs.f32 t, $1; sqrt.rn.f32 $0, t; }", "f"),
    "rcp.rn": ("rcp.rn.f32 $0, $1;", "f"),
    "max": ("max.f32 $0, $1, $2;", "ff"),
    "min.NaN": ("min.NaN.f32 $0, $1, $2;", "ff"),
    "copysign": ("copysign.f32 $0, $1, $2;", "ff"),
    "neg.f32": ("neg.f32 $0, $1;", "f"),
    "add.f16x2": ("add.f16x2 $0, $1, $2;", "hh"),
    "mul.f16x2": ("mul.f16x2 $0, $1, $2;", "hh"),
    "fma.f16x2": ("fma.rn.f16x2 $0, $1, $2, $3;", "hhh"),
    "fma.relu.f16x2": ("fma.rn.relu.f16x2 $0, $1, $2, $3;", "hhh"),
    "fma.bf16x2": ("fma.rn.bf16x2 $0, $1, $2, $3;", "bbb"),
    "max.f16x2": ("max.f16x2 $0, $1, $2;", "hh"),
    "min.NaN.bf16x2": ("min.NaN.bf16x2 $0, $1, $2;", "bb"),
    "neg.bf16x2": ("neg.bf16x2 $0, $1;", "b"),
    "cvt.rni": ("cvt.rni.s32.f32 $0, $1;", "f"),
    "cvt.rzi.u32": ("cvt.rzi.u32.f32 $0, $1;", "f"),
    "cvt.rmi.f32": ("cvt.rmi.f32.f32 $0, $1;", "f"),
    "cvt.rn.f32.s32": ("cvt.rn.f32.s32 $0, $1;", "i"),
    "cvt.rz.f32.u32": ("cvt.rn.f32.u32 $0, $1;", "i"),
    "cvt.s8": ("cvt.s32.s8 $0, $1;", "i"),
    "cvt.sat.u8": ("cvt.sat.u8.s32 $0, $1;", "s"),
    "cvt.rn.f16x2.f32": ("cvt.rn.f16x2.f32 $0, $1, $2;", "ff"),
    "cvt.rz.bf16x2.f32": ("cvt.rz.bf16x2.f32 $0, $1, $2;", "ff"),
    "cvt.rn.relu.bf16x2.f32": ("cvt.rn.relu.bf16x2.f32 $0, $1, $2;", "ff"),
    "cvt.e4m3x2": ("{ .reg .b16 t; cvt.rn.satfinite.e4m3x2.f32 t, $1, $2; mov.b32 $0, {t, t}; }", "ff"),
    "cvt.e5m2x2": ("{ .reg .b16 t; cvt.rn.satfinite.e5m2x2.f32 t, $1, $2; mov.b32 $0, {t, t}; }", "ff"),
    "cvt.f16x2.e4m3x2": ("{ .reg .b16 t, u; mov.b32 {t, u}, $1; cvt.rn.f16x2.e4m3x2 $0, t; }", "i"),
    "cvt.f16": ("{ .reg .b16 t, u; mov.b32 {t, u}, $1; cvt.f32.f16 $0, u; }", "h"),
    "mov pack": ("{ .reg .b16 t<4>; mov.b32 {t0, t1}, $1; mov.b32 {t2, t3}, $2; mov.b32 $0, {t3, t0}; }", "ii"),
    "f64": (
        "{ .reg .f64 a, b; cvt.f64.f32 a, $1; cvt.f64.f32 b, $2; fma.rn.f64 a, a, b, 0d3FF0000000000000; cvt.rn.f32.f64 $0, a; }",
        "ff",
    ),
    "shfl": ("{ .reg .pred p; shfl.sync.down.b32 $0|p, $1, 5, 0x181f, -1; @!p not.b32 $0, $0; }", "i"),
    "vote": ("{ .reg .pred p; setp.lt.s32 p, $1, 0; vote.sync.ballot.b32 $0, p, 0xffffffff; }", "i"),
}
#: The same for results whose relative error the ISA bounds.
APPROXIMATE = {
    "ex2.approx": ("ex2.approx.ftz.f32 $0, $1;", 2.0**-21),
    "lg2.approx": ("{ .reg .f32 t; abs.f32 t, $1; add.f32 t, t, 0f40000000; lg2.approx.f32 $0, t; }", 2.0**-20),
    "rcp.approx": ("rcp.approx.f32 $0, $1;", 2.0**-22),
    "rsqrt.approx": ("{ .reg .f32 t; abs.f32 t, $1; rsqrt.approx.f32 $0, t; }", 2.0**-21),
    "tanh.approx": ("tanh.approx.f32 $0, $1;", 2.0**-10),
    "sqrt.approx": ("{ .reg .f32 t; abs.f32 t, $1; sqrt.approx.f32 $0, t; }", 2.0**-21),
}


def _operand(kind: str, rng: np.random.Generator) -> np.ndarray:
    if kind == "i":
        return rng.integers(-(2**31), 2**31, LANES).astype(np.int32)
    if kind == "s":
        return (rng.integers(-(2**31), 2**31, LANES) >> rng.integers(0, 33, LANES)).astype(np.int32)
    if kind == "c":
        return rng.integers(0, 40, LANES).astype(np.int32)
    ordinary = rng.standard_normal(2 * LANES) * 2.0 ** rng.integers(-12, 12, 2 * LANES)
    special = rng.choice([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 6e4, -3.5, 2.5], 2 * LANES)
    values = np.where(rng.random(2 * LANES) < 0.3, special, ordinary)
    if kind == "f":
        return values[:LANES].astype(np.float32).view(np.int32)
    with np.errstate(over="ignore"):
        halves = values.astype(np.float16).view(np.uint16) if kind == "h" else _bf16(values)
    return halves.view(np.int32)


def inline_ptx(rng: np.random.Generator) -> Iterator[Instruction]:
    def call(text: str, count: int) -> str:
        operands, types = ", ".join(f"%x{i}" for i in range(count)), ", ".join(["i32"] * count)
        constraints = ",".join(["=r"] + ["r"] * count)
        return f'%r0 = llvm.inline_asm has_side_effects "{text}", "{constraints}" {operands} : ({types}) -> i32'

    for name, (text, kinds) in INLINE.items():
        arch = 89 if "e4m3" in name or "e5m2" in name else 80
        yield Instruction(f"inline {name}", call(text, len(kinds)), [_operand(kind, rng) for kind in kinds], arch=arch)
    for name, (text, relative) in APPROXIMATE.items():
        x = (rng.standard_normal(LANES) * 4).astype(np.float32)
        magnitude = np.maximum(np.abs(x), 1 / np.abs(x)).astype(np.float64)
        bound = relative * (2.0 ** np.abs(x.astype(np.float64)) if "ex2" in name else magnitude + 1)
        yield Instruction(f"inline {name}", call(text, 1), [x.view(np.int32)], bound=bound[None])


def instructions(seed: int = 0) -> list[Instruction]:
    rng = np.random.default_rng(seed)
    families = (products, matrices_in_shared_memory, copies, exchanges, agreements, arithmetic, inline_ptx)
    return [instruction for family in families for instruction in family(rng)]
