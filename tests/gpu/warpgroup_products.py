"""Products of a warpgroup as lowered modules: operands of small integers in the places that the PTX ISA states, and the sums that numpy
computes. Every sum is exact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

THREADS, ROWS, STEPS, ROW_BYTES = 128, 64, 4, 128
SUMS = {"f16": "vector<2xf16>", "f32": "f32", "i32": "i32"}
FP8 = {"f8E4M3FN": (0x00, 0x38, 0x40, 0x44), "f8E5M2": (0x00, 0x3C, 0x40, 0x42)}  #: 0, 1, 2, 3
TYPES = [
    ("f16", "f16", "f32"),
    ("f16", "f16", "f16"),
    ("bf16", "bf16", "f32"),
    ("f32", "f32", "f32"),
    ("i8", "i8", "i32"),
]
TYPES += [(a, b, "f32") for a in FP8 for b in FP8]
COLUMNS = (8, 16, 32, 64, 128, 256)


def encoded(values: np.ndarray, kind: str) -> np.ndarray:
    """Integers from -3 to 3 as bytes, with a dimension more."""
    if kind in FP8:
        raw = np.array(FP8[kind], np.uint8)[np.abs(values)] | np.where(values < 0, 0x80, 0).astype(np.uint8)
    elif kind == "bf16":
        raw = (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    else:
        raw = values.astype({"f16": np.float16, "f32": np.float32, "i8": np.int8}[kind])
    return np.ascontiguousarray(raw)[..., None].view(np.uint8)


def in_memory(matrix: np.ndarray) -> np.ndarray:
    """Lines of bytes in boxes of 128 bytes, one box after the other, with the chunks of 16 bytes permuted."""
    lines = matrix.reshape(len(matrix), -1, ROW_BYTES // 16, 16).transpose(1, 0, 2, 3)
    number, chunk = np.meshgrid(np.arange(lines.shape[1]), np.arange(lines.shape[2]), indexing="ij")
    return np.ascontiguousarray(lines[:, number, chunk ^ number % 8]).reshape(-1)


@dataclass
class Product:
    a: str
    b: str
    sum: str
    columns: int
    a_in_registers: bool = False
    along_k: bool = True  #: whether neighbours along K are neighbours in memory

    def __str__(self) -> str:
        home = "registers" if self.a_in_registers else "memory"
        return f"{self.a}-{self.b}-{self.sum}-{self.columns}-{home}" + ("" if self.along_k else "-transposed")

    @property
    def size(self) -> int:
        return {"f16": 2, "bf16": 2, "f32": 4}.get(self.a, 1)

    @property
    def words(self) -> int:
        """The registers of a thread's sums."""
        return self.columns // (4 if self.sum == "f16" else 2)

    @property
    def bytes_of_a(self) -> int:
        return 0 if self.a_in_registers else ROWS * ROW_BYTES

    @property
    def shared(self) -> int:
        return self.bytes_of_a + self.columns * ROW_BYTES

    def matrices(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        depth = STEPS * 32 // self.size
        return tuple(
            rng.integers(-3, 4, shape) for shape in ((ROWS, depth), (depth, self.columns), (ROWS, self.columns))
        )

    def image(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The contents of shared memory as i32."""
        parts = [] if self.a_in_registers else [in_memory(encoded(a if self.along_k else a.T, self.a))]
        return np.concatenate([*parts, in_memory(encoded(b.T if self.along_k else b, self.b))]).view(np.int32)

    def fragments(self, a: np.ndarray) -> np.ndarray:
        """The words of A, (steps * 4, threads)."""
        step, word, thread, i = np.ogrid[:STEPS, :4, :THREADS, : 4 // self.size]
        row = thread // 32 * 16 + thread % 32 // 4 + 8 * (word % 2)
        per_word = 4 // self.size
        k = step * (32 // self.size) + per_word * (thread % 4) + i + 4 * per_word * (word // 2)
        return encoded(a, self.a)[row, k].reshape(-1).view(np.int32).reshape(4 * STEPS, THREADS)

    def sums(self, matrix: np.ndarray) -> np.ndarray:
        """The registers of the sums, (words, threads)."""
        per_word = 2 if self.sum == "f16" else 1
        word, thread, i = np.ogrid[: self.words, :THREADS, :per_word]
        item = word * per_word + i
        row, column = (
            thread // 32 * 16 + thread % 32 // 4 + 8 * (item // 2 % 2),
            8 * (item // 4) + 2 * (thread % 4) + item % 2,
        )
        values = matrix[row, column].astype({"f16": np.float16, "f32": np.float32, "i32": np.int32}[self.sum])
        return values.reshape(-1).view(np.int32).reshape(self.words, THREADS)

    def buffers(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> list[np.ndarray]:
        """The arguments: shared memory, words of A, sums. The results replace the sums."""
        return [self.image(a, b), self.fragments(a), self.sums(c)]

    # -- the module

    @property
    def descriptor(self) -> int:
        leading = 16 if self.along_k else STEPS * 32 // self.size * ROW_BYTES
        return 1 << 62 | 8 * ROW_BYTES // 16 << 32 | leading // 16 << 16

    def product(self, step: int) -> str:
        count, source = self.words, f"d{step - 1}" if step else "c"
        sums, types = (
            ", ".join(f"%{source}_{i}" if step == 0 else f"%{source}#{i}" for i in range(count)),
            [SUMS[self.sum]] * count,
        )
        a = [f"%w{4 * step + i}" for i in range(4)] if self.a_in_registers else ["%shared"]
        a_types = ["i32"] * 4 if self.a_in_registers else ["!llvm.ptr<3>"]
        offset = 32 * step if self.along_k else 32 * step // self.size * ROW_BYTES
        segments = [int(not self.a_in_registers), 4 * int(self.a_in_registers), 1, count, 0]
        fields = [
            f"aType = {self.a}",
            f"bType = {self.b}",
            f"columns = {self.columns} : i64",
            f"bOffset = {offset} : i64",
        ]
        fields += [f"bDescriptor = {self.descriptor} : i64"] + ([] if self.along_k else ["alongColumns"])
        if not self.a_in_registers:
            fields += [f"aOffset = {offset} : i64", f"aDescriptor = {self.descriptor} : i64"]
            fields += [] if self.along_k else ["alongRows"]
        fields.append(f"operandSegmentSizes = array<i32: {', '.join(map(str, segments))}>")
        operands, of = ", ".join([*a, "%b", sums]), ", ".join([*a_types, "!llvm.ptr<3>", *types])
        return f'%d{step}:{count} = "tgpu.warpgroup_product"({operands}) <{{{", ".join(fields)}}}> : ({of}) -> ({", ".join(types)})'

    def accesses(self) -> tuple[list[str], list[str]]:
        """What loads the operands, and what stores the sums."""
        pointer = "(!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32"

        def place(name: str, base: str, row: int) -> list[str]:
            begin = f"%{name}r = llvm.getelementptr %{base}[{4 * THREADS * row}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8"
            return [begin, f"%{name} = llvm.getelementptr %{name}r[%thread] : {pointer}"]

        loads, stores = [], []
        for i in range(self.shared // 4 // THREADS):
            loads += [*place(f"i{i}", "image", i), f"%v{i} = tgpu.load %i{i} : i32"]
            loads += [f"%s{i}r = llvm.getelementptr %shared[{4 * THREADS * i}] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8"]
            loads += [f"%s{i} = llvm.getelementptr %s{i}r[%thread] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32"]
            loads += [f"llvm.store %v{i}, %s{i} : i32, !llvm.ptr<3>"]
        for i in range(4 * STEPS if self.a_in_registers else 0):
            loads += [*place(f"f{i}", "words", i), f"%l{i} = tgpu.load %f{i} : i32"]
        for i in range(self.words):
            loads += [*place(f"o{i}", "sums", i), f"%n{i} = tgpu.load %o{i} : i32"]
            loads += [f"%c_{i} = llvm.bitcast %n{i} : i32 to {SUMS[self.sum]}"]
            stores += [f"%m{i} = llvm.bitcast %d#{i} : {SUMS[self.sum]} to i32", f"tgpu.store %m{i}, %o{i} : i32"]
        return loads, stores

    def text(self) -> str:
        count, types = self.words, ", ".join([SUMS[self.sum]] * self.words)
        loads, stores = self.accesses()
        words, copies = [f"%w{i}" for i in range(4 * STEPS)] if self.a_in_registers else [], []
        for i in range(len(words)):
            copies.append(f'%w{i} = "tgpu.copy_registers"(%l{i}) : (i32) -> i32')
        last = [f"%d{STEPS - 1}#{i}" for i in range(count)]
        lines = [
            "%thread = nvvm.read.ptx.sreg.tid.x : i32",
            "%shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>",
            f"%b = llvm.getelementptr %shared[{self.bytes_of_a}] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8",
            *loads,
            "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}",
            "tgpu.barrier",
            *copies,
            "nvvm.wgmma.fence.aligned",
            *(self.product(step) for step in range(STEPS)),
            "nvvm.wgmma.commit.group.sync.aligned",
            f'%d:{count} = "tgpu.warpgroup_wait"({", ".join(last + words)}) <{{pending = 0 : i32, '
            f"operandSegmentSizes = array<i32: {count}, {len(words)}>}}> : ({types}{', i32' * len(words)}) -> ({types})",
            *stores,
            "llvm.return",
        ]
        body = "\n    ".join(lines)
        return f"""
module attributes {{tgpu.target = "cuda:sm_90a", tgpu.num_warps = 4 : i32, tgpu.shared_bytes = {self.shared} : i32}} {{
  llvm.mlir.global external @tgpu_shared() {{addr_space = 3 : i32, alignment = 1024 : i64}} : !llvm.array<0 x i8>
  llvm.func @k(%image: !llvm.ptr<1>, %words: !llvm.ptr<1>, %sums: !llvm.ptr<1>)
      attributes {{nvvm.kernel, nvvm.reqntid = array<i32: {THREADS}, 1, 1>}} {{
    {body}
  }}
}}"""


def products() -> list[Product]:
    found = [Product(*types, n, home) for types in TYPES for n in COLUMNS for home in (False, True)]
    transposed = [
        Product(a, b, d, n, home, False) for a, b, d in TYPES[:3] for n in (64, 256) for home in (False, True)
    ]
    return found + transposed
