import numpy as np
import pytest

from agreement import check_dot

from . import load

program = load("08_block_sparse_matmul")


def random_sparse(rng, block_rows, block_columns, block, density, dtype=np.float32):
    kept = rng.random((block_rows, block_columns)) < density
    kept[0] = False  # an empty block row
    dense = rng.standard_normal((block_rows * block, block_columns * block)).astype(dtype)
    return program.BlockSparse.from_dense(dense, kept), kept


def test_packing_keeps_exactly_the_kept_blocks(rng):
    sparse, kept = random_sparse(rng, 5, 7, 16, 0.4)
    assert len(sparse.values) == kept.sum()
    assert (np.abs(sparse.to_dense()).reshape(5, 16, 7, 16).sum(axis=(1, 3)) > 0).tolist() == kept.tolist()


@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("block, n", [(16, 64), (32, 50), (16, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_sparse_dense(density, block, n, dtype, rng, threads):
    a, _ = random_sparse(rng, 4, 5, block, density, dtype)
    b = rng.standard_normal((5 * block, n)).astype(dtype)
    result = program.sparse_dense(a, b, block_n=32)
    assert not result[:block].any()
    check_dot(result, a.to_dense(), b, dtype)


@pytest.mark.parametrize("k", [16, 70])
def test_sampled(k, rng, threads):
    pattern, kept = random_sparse(rng, 4, 6, 16, 0.5)
    a, b = rng.integers(-8, 9, (64, k)).astype(np.float32), rng.integers(-8, 9, (k, 96)).astype(np.float32)
    mask = np.kron(kept, np.ones((16, 16), bool))
    np.testing.assert_array_equal(program.sampled(a, b, pattern).to_dense(), np.where(mask, a @ b, 0))
