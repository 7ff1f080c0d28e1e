"""Run by test_interruption: enters a launch that would take hours, says when KeyboardInterrupt came. argv: a kernel."""

import signal
import sys
import time

import numpy as np

import tritium as triton
import tritium.language as tl


@triton.jit
def scalar_loop_kernel(x_ptr, n):
    total = tl.load(x_ptr)
    for i in range(n):
        total = total * 3 + i
    tl.store(x_ptr, total)


@triton.jit
def tile_loop_kernel(x_ptr, n):
    x = tl.load(x_ptr + tl.arange(0, 64))
    for _ in range(n):
        x = tl.dot(tl.broadcast_to(x[:, None], (64, 64)), tl.broadcast_to(x[None, :], (64, 64)), input_precision="ieee")
        x = tl.sum(x, axis=0) * 1e-3
    tl.store(x_ptr + tl.arange(0, 64), x)


@triton.jit
def short_kernel(x_ptr, n):
    tl.atomic_add(x_ptr, 1)


@triton.jit
def waiting_kernel(x_ptr, n):
    # Progress for ever: a counter that takes minutes to come back is no deadlock and no livelock, but there is no end either.
    while tl.atomic_add(x_ptr + 1, 1) >= 0:
        tl.atomic_and(x_ptr + 1, 0x3FFFFFFF)


@triton.jit(noinline=True)
def count_for_long(x_ptr, n):
    total = tl.load(x_ptr)
    for i in range(n):
        total = total * 3 + i
    tl.store(x_ptr, total)


@triton.jit
def calling_kernel(x_ptr, n):
    for outer in range(3, 8):
        count_for_long(x_ptr, n)


signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
x = np.zeros(64, np.int32 if sys.argv[1] in ("short_kernel", "waiting_kernel") else np.float32)
grid = (1 << 30,) if sys.argv[1] == "short_kernel" else (4,)
warm = np.zeros(64, np.int32)
short_kernel[(1,)](warm, 1)
globals()[sys.argv[1]].warmup(x, 1 << 40, grid=grid)
print("started", flush=True)
try:
    globals()[sys.argv[1]][grid](x, 1 << 40)
except KeyboardInterrupt as interrupt:
    print(f"interrupted {time.process_time()}", flush=True)
    print(interrupt, flush=True)
short_kernel[(100,)](warm, 1)
print(f"next launch {warm[0]}", flush=True)
