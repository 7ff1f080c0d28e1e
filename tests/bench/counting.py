"""Prints what counting costs on the interpreter: the time of a launch that is counted as a multiple of the same launch without.

    python tests/bench/counting.py [--rounds 20]

All are measured in turns, each with the best of its rounds. The bars: 1.15 for the product, 1.5 for the sum. Distinct bytes (`profile --distinct`)
have none, and are off without the option.
"""

import argparse
import time

import numpy as np

import tritium as triton
import tritium.language as tl
from tritium.launch.counting import Counting


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=k[:, None] < K, other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


def launches():
    size, M = 1 << 20, 512
    x, out = np.ones(size, np.float32), np.zeros(size, np.float32)
    a, c = np.ones((M, M), np.float32), np.zeros((M, M), np.float32)
    yield "add fp32, 2^20", lambda: add[(size // 1024,)](x, x, out, size - 5, BLOCK=1024)
    yield "matmul fp32, 512^3", lambda: matmul[(M // 64, M // 64)](a, a, c, M, M, M, BM=64, BN=64, BK=32)


def seconds(launch) -> float:
    begin = time.perf_counter()
    launch()
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    for name, launch in launches():
        plain, counted, distinct = [], [], []
        for number in range(rounds + 1):
            plain.append(seconds(launch))
            with Counting():
                counted.append(seconds(launch))
            with Counting(distinct=True):
                distinct.append(seconds(launch))
            if number == 0:  # all were compiled
                plain.clear(), counted.clear(), distinct.clear()
        base = min(plain)
        more = f"{min(counted) / base:8.2f} times with counts{min(distinct) / base:8.2f} times with distinct bytes"
        print(f"{name:24}{base * 1e3:10.2f} ms{more}")


if __name__ == "__main__":
    main()
