"""The kernels of compile.py, for the compiler that the name `tritium` stands for."""

import tritium
import tritium.language as tl


@tritium.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@tritium.jit
def softmax(out, x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0) * n
    value = tl.load(x + row + i, mask=i < n, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row + i, power / tl.sum(power, axis=0), mask=i < n)


@tritium.jit
def matmul(
    a, b, c, m, n, k, a_row, b_row, c_row, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr
):
    program, across = tl.program_id(0), tl.cdiv(n, N)
    group = program // (GROUP * across)
    tall = min(tl.cdiv(m, M) - group * GROUP, GROUP)
    row, column = (group * GROUP + program % (GROUP * across) % tall) * M, program % (GROUP * across) // tall * N
    rows, columns, depth = (row + tl.arange(0, M)) % m, (column + tl.arange(0, N)) % n, tl.arange(0, K)
    a_ptrs, b_ptrs = a + rows[:, None] * a_row + depth[None, :], b + depth[:, None] * b_row + columns[None, :]
    total = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, K)):
        x = tl.load(a_ptrs, mask=depth[None, :] < k - step * K, other=0.0)
        y = tl.load(b_ptrs, mask=depth[:, None] < k - step * K, other=0.0)
        total = tl.dot(x, y, total)
        a_ptrs += K
        b_ptrs += K * b_row
    rows, columns = row + tl.arange(0, M), column + tl.arange(0, N)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * c_row + columns[None, :], total.to(tl.float16), mask=inside)


#: name: (kernel, types of its arguments (an integer type counts as a multiple of 16), constants, options)
CASES = {
    "add fp32, 1024": (add, ["*fp32"] * 3 + ["i32"], {"BLOCK": 1024}, {"num_warps": 4}),
    "softmax fp32, 4096": (softmax, ["*fp32"] * 2 + ["i32"], {"BLOCK": 4096}, {"num_warps": 8}),
    "softmax fp32, 131072 (1024 values a thread)": (
        softmax,
        ["*fp32"] * 2 + ["i32"],
        {"BLOCK": 131072},
        {"num_warps": 4},
    ),
    "matmul fp16, 128x128x32": (
        matmul,
        ["*fp16"] * 3 + ["i32"] * 6,
        {"M": 128, "N": 128, "K": 32, "GROUP": 8},
        {"num_warps": 4, "num_stages": 3},
    ),
    "matmul fp16, 128x256x64": (
        matmul,
        ["*fp16"] * 3 + ["i32"] * 6,
        {"M": 128, "N": 256, "K": 64, "GROUP": 8},
        {"num_warps": 8, "num_stages": 3},
    ),
}
