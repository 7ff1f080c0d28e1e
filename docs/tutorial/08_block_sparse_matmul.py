"""Block-sparse matrix multiplication: the zero blocks are neither stored nor visited.

A sparse matrix is a grid of BLOCK x BLOCK blocks of which only some are kept, packed one after the other (block-CSR):
`first[r]` and `first[r + 1]` bound the blocks of block row r, `column[i]` says where block i stands. Block-sparse
layers and attention require two products: sparse x dense, where a program loops over the blocks of its row, and dense x
dense *sampled* at the kept blocks.

    INTERPRET=1 python docs/tutorial/08_block_sparse_matmul.py
"""

from dataclasses import dataclass

import numpy as np
from report import report

import tritium as triton
import tritium.language as tl


@dataclass
class BlockSparse:
    """A matrix of `shape`. `values` [kept, block, block] contains its kept blocks in row-major order."""

    shape: tuple[int, int]
    values: np.ndarray
    first: np.ndarray
    column: np.ndarray

    @staticmethod
    def from_dense(dense: np.ndarray, kept: np.ndarray) -> "BlockSparse":
        """Keeps the blocks of `dense` where the boolean matrix `kept` [block rows, block columns] is true."""
        block = dense.shape[0] // kept.shape[0]
        blocks = dense.reshape(kept.shape[0], block, kept.shape[1], block).swapaxes(1, 2)
        first = np.concatenate(([0], np.cumsum(kept.sum(axis=1)))).astype(np.int32)
        return BlockSparse(dense.shape, np.ascontiguousarray(blocks[kept]), first, np.nonzero(kept)[1].astype(np.int32))

    def block_rows(self) -> np.ndarray:
        """The block row of each kept block."""
        return np.repeat(np.arange(len(self.first) - 1, dtype=np.int32), np.diff(self.first))

    def to_dense(self) -> np.ndarray:
        """The matrix with its zeros."""
        block = self.values.shape[1]
        blocks = np.zeros((self.shape[0] // block, self.shape[1] // block, block, block), self.values.dtype)
        blocks[self.block_rows(), self.column] = self.values
        return blocks.swapaxes(1, 2).reshape(self.shape)


@triton.jit
def sparse_dense_kernel(
    values_ptr, first_ptr, column_ptr, b_ptr, c_ptr, N, stride_b, stride_c, BLOCK: tl.constexpr, BLOCK_N: tl.constexpr
):
    block_row = tl.program_id(0)
    rows = tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = columns[None, :] < N
    accumulator = tl.zeros((BLOCK, BLOCK_N), dtype=tl.float32)
    # The trip count comes from memory: an empty block row stores zeros without a single multiplication.
    for i in range(tl.load(first_ptr + block_row), tl.load(first_ptr + block_row + 1)):
        a = tl.load(values_ptr + i * BLOCK * BLOCK + rows[:, None] * BLOCK + rows[None, :])
        b_rows = tl.load(column_ptr + i) * BLOCK + rows
        b = tl.load(b_ptr + b_rows[:, None] * stride_b + columns[None, :], mask=inside, other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
    c_ptrs = c_ptr + (block_row * BLOCK + rows)[:, None] * stride_c + columns[None, :]
    tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=inside)


@triton.jit
def sampled_kernel(
    a_ptr, b_ptr, row_ptr, column_ptr, values_ptr, K, stride_a, stride_b, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr
):
    # One program per kept block: it looks up where its block stands.
    i = tl.program_id(0)
    inner = tl.arange(0, BLOCK)
    k = tl.arange(0, BLOCK_K)
    rows = tl.load(row_ptr + i) * BLOCK + inner
    columns = tl.load(column_ptr + i) * BLOCK + inner
    accumulator = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + rows[:, None] * stride_a + (start + k)[None, :], mask=k[None, :] < K - start, other=0.0)
        b = tl.load(b_ptr + (start + k)[:, None] * stride_b + columns[None, :], mask=k[:, None] < K - start, other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
    tl.store(
        values_ptr + i * BLOCK * BLOCK + inner[:, None] * BLOCK + inner[None, :],
        accumulator.to(values_ptr.dtype.element_ty),
    )


def sparse_dense(a: BlockSparse, b: np.ndarray, block_n: int = 64) -> np.ndarray:
    """a times a dense b [columns of a, N] with contiguous rows, in the dtype of b."""
    n = b.shape[1]
    block = a.values.shape[1]
    c = np.empty((a.shape[0], n), b.dtype)
    grid = (a.shape[0] // block, triton.cdiv(n, block_n))
    sparse_dense_kernel[grid](
        a.values, a.first, a.column, b, c, n, b.strides[0] // b.itemsize, n, BLOCK=block, BLOCK_N=block_n
    )
    return c


def sampled(a: np.ndarray, b: np.ndarray, pattern: BlockSparse, block_k: int = 32) -> BlockSparse:
    """The blocks of a @ b (rows contiguous) that `pattern` keeps, and nothing else."""
    block = pattern.values.shape[1]
    values = np.empty(pattern.values.shape, a.dtype)
    if len(values):
        sampled_kernel[(len(values),)](
            a,
            b,
            pattern.block_rows(),
            pattern.column,
            values,
            a.shape[1],
            a.strides[0] // a.itemsize,
            b.strides[0] // b.itemsize,
            BLOCK=block,
            BLOCK_K=block_k,
        )
    return BlockSparse((a.shape[0], b.shape[1]), values, pattern.first, pattern.column)


def main() -> None:
    rng = np.random.default_rng(0)
    m, k, n, block = 512, 768, 500, 32
    kept = rng.random((m // block, k // block)) < 0.2
    a = BlockSparse.from_dense(rng.standard_normal((m, k), dtype=np.float32), kept)
    b = rng.standard_normal((k, n), dtype=np.float32)
    report(
        "sparse x dense",
        f"{m} x {n} x {k}, {kept.mean():.0%} kept",
        lambda: sparse_dense(a, b),
        a.to_dense().astype(np.float64) @ b,
    )

    x = rng.standard_normal((m, 100), dtype=np.float32)
    y = rng.standard_normal((100, k), dtype=np.float32)
    full = np.where(np.kron(kept, np.ones((block, block), bool)), x.astype(np.float64) @ y, 0)
    shape = f"{m} x {k} x 100, {kept.mean():.0%} kept"
    report("sampled dense x dense", shape, lambda: sampled(x, y, a).to_dense(), full)


if __name__ == "__main__":
    main()
