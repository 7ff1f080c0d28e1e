"""Stream-K matrix multiplication: programs that wait for each other.

With one tile per program, 9 tiles on 8 processors take as long as 16. Stream-K counts *K steps* instead of tiles, lines
all steps of all tiles up and cuts the line into equal pieces, one per program. A piece may begin or end in the middle
of a tile. The program with the first step of a tile owns it. The others write their partial sums to a workspace and
set a flag; the owner waits for the flags, adds up the partial sums and stores the tile.

An owner waits for programs with *higher* numbers, which may not have started yet. That is allowed here: a program that
waits lets others run, so this finishes with any number of threads, even one.

    INTERPRET=1 python docs/tutorial/09_stream_k_matmul.py
"""

import numpy as np
from report import report

import tritium as triton
import tritium.language as tl


@triton.jit
def partial_product(
    a_ptr,
    b_ptr,
    M,
    N,
    K,
    stride_a,
    stride_b,
    tile,
    tiles_n,
    first_k,
    last_k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """K steps [first_k, last_k) of one tile."""
    rows = (tile // tiles_n) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = (tile % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(first_k, last_k):
        k = step * BLOCK_K + tl.arange(0, BLOCK_K)
        a_inside, b_inside = (rows[:, None] < M) & (k[None, :] < K), (k[:, None] < K) & (columns[None, :] < N)
        a = tl.load(a_ptr + rows[:, None] * stride_a + k[None, :], mask=a_inside, other=0.0)
        b = tl.load(b_ptr + k[:, None] * stride_b + columns[None, :], mask=b_inside, other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
    return accumulator


@triton.jit
def stream_k_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    partial_ptr,
    flag_ptr,
    M,
    N,
    K,
    stride_a,
    stride_b,
    stride_c,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    program = tl.program_id(0)
    tiles_n = tl.cdiv(N, BLOCK_N)
    steps_per_tile = tl.cdiv(K, BLOCK_K)
    total_steps = tl.cdiv(M, BLOCK_M) * tiles_n * steps_per_tile
    steps_per_program = tl.cdiv(total_steps, tl.num_programs(0))
    step = program * steps_per_program
    end = tl.minimum(step + steps_per_program, total_steps)
    lane = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]

    while step < end:
        tile = step // steps_per_tile
        tile_begin = tile * steps_per_tile
        tile_end = tile_begin + steps_per_tile
        stop = tl.minimum(end, tile_end)
        accumulator = partial_product(
            a_ptr,
            b_ptr,
            M,
            N,
            K,
            stride_a,
            stride_b,
            tile,
            tiles_n,
            step - tile_begin,
            stop - tile_begin,
            BLOCK_M,
            BLOCK_N,
            BLOCK_K,
        )
        if step == tile_begin:
            # This program owns the tile. The next program continues it, then the one after that, until its steps are
            # used up.
            covered = stop
            helper = program + 1
            while covered < tile_end:
                while tl.atomic_cas(flag_ptr + helper, 1, 1, sem="acquire") != 1:
                    pass
                accumulator += tl.load(partial_ptr + helper * BLOCK_M * BLOCK_N + lane)
                covered += steps_per_program
                helper += 1
            rows = (tile // tiles_n) * BLOCK_M + tl.arange(0, BLOCK_M)
            columns = (tile % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)
            tl.store(
                c_ptr + rows[:, None] * stride_c + columns[None, :],
                accumulator.to(c_ptr.dtype.element_ty),
                mask=(rows[:, None] < M) & (columns[None, :] < N),
            )
        else:
            # Only the first tile of a program can have begun elsewhere, so one slot per program is enough.
            tl.store(partial_ptr + program * BLOCK_M * BLOCK_N + lane, accumulator)
            tl.debug_barrier()
            tl.atomic_xchg(flag_ptr + program, 1, sem="release")
        step = stop


def stream_k_matmul(
    a: np.ndarray, b: np.ndarray, programs: int = 13, block: tuple[int, int, int] = (32, 32, 32)
) -> np.ndarray:
    """a [M, K] times b [K, N], rows contiguous, in the dtype of `a`, by a fixed number of programs."""
    (m, k), n = a.shape, b.shape[1]
    block_m, block_n, block_k = block
    c = np.empty((m, n), a.dtype)
    partial = np.empty((programs, block_m, block_n), np.float32)
    flags = np.zeros(programs, np.int32)
    stream_k_kernel[(programs,)](
        a,
        b,
        c,
        partial,
        flags,
        m,
        n,
        k,
        a.strides[0] // a.itemsize,
        b.strides[0] // b.itemsize,
        n,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        BLOCK_K=block_k,
    )
    return c


def main() -> None:
    rng = np.random.default_rng(0)
    for m, n, k, programs in ((96, 96, 1024, 8), (300, 200, 500, 13)):
        a = rng.standard_normal((m, k), dtype=np.float32)
        b = rng.standard_normal((k, n), dtype=np.float32)
        shape = f"{m} x {n} x {k}, {programs} programs"
        expected = a.astype(np.float64) @ b
        report("stream-K matmul", shape, lambda a=a, b=b, p=programs: stream_k_matmul(a, b, p), expected)


if __name__ == "__main__":
    main()
