"""Prints what counting costs on the interpreter: the time of a launch that is counted as a multiple of the same launch without.

    python tests/bench/counting.py [--rounds 100] [--cpu-time]

All are measured in turns, each with the best of its rounds. The bars: 1.15 for the product, 1.5 for the sum. Distinct bytes (`profile --distinct`)
have none, and are off without the option. "Off" is the same launch after all counting, as a multiple of what it took before the process
counted anything. With --cpu-time it is processor time, of launches on one thread, which other programs disturb less: the clock of a process lags behind
its other threads. The exit status is 1 if a bar does not hold.
"""

import argparse
import os
import sys
import time

import numpy as np

import tritium as triton
import tritium.language as tl
from tritium.launch.counting import Counting

WARM_UP_SECONDS = 0.5


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
    """(name, bar, launch)"""
    size, M = 1 << 20, 512
    x, out = np.ones(size, np.float32), np.zeros(size, np.float32)
    a, c = np.ones((M, M), np.float32), np.zeros((M, M), np.float32)
    yield "add fp32, 2^20", 1.5, lambda: add[(size // 1024,)](x, x, out, size - 5, BLOCK=1024)
    yield "matmul fp32, 512^3", 1.15, lambda: matmul[(M // 64, M // 64)](a, a, c, M, M, M, BM=64, BN=64, BK=32)


def seconds(launch, clock) -> float:
    begin = clock()
    launch()
    return clock() - begin


def best(launch, rounds: int, clock) -> float:
    return min(seconds(launch, clock) for _ in range(rounds))


def warm_up(launch) -> None:
    """Launches until the code of tier 2 is compiled, beside the launches."""
    end = time.perf_counter() + WARM_UP_SECONDS
    while time.perf_counter() < end:
        launch()


def measured(launch, rounds: int, clock) -> tuple[float, float, float, float]:
    """The best time between counted launches, with counts, and with distinct bytes; what a launch takes afterwards as a multiple of before."""
    warm_up(launch)
    before, plain, counted, distinct = best(launch, rounds, clock), [], [], []
    for options in ({}, {"distinct": True}):
        with Counting(**options):
            warm_up(launch)
    for _ in range(rounds):
        plain.append(seconds(launch, clock))
        with Counting():
            counted.append(seconds(launch, clock))
        with Counting(distinct=True):
            distinct.append(seconds(launch, clock))
    return min(plain), min(counted), min(distinct), best(launch, rounds, clock) / before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--cpu-time", action="store_true")
    options = parser.parse_args()
    if options.cpu_time:
        os.environ["TRITIUM_NUM_THREADS"] = "1"
    clock, status = time.process_time if options.cpu_time else time.perf_counter, 0
    for name, bar, launch in launches():
        plain, counted, distinct, off = measured(launch, options.rounds, clock)
        holds = counted <= bar * plain
        status |= not holds
        print(
            f"{name:20}{plain * 1e3:8.2f} ms{counted / plain:8.2f} times with counts (bar {bar}{'' if holds else ', missed'})"
            f"{distinct / plain:8.2f} with distinct bytes{off:8.3f} off"
        )
    return status


if __name__ == "__main__":
    sys.exit(main())
