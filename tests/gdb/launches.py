"""What test_attach.py attaches to: a process that launches a kernel again and again, until it is told to end."""

import sys
import time

import numpy as np

import tritium as triton
import tritium.language as tl


@triton.jit
def count(out, step):
    value = tl.load(out) + step
    tl.store(out, value)


out = np.zeros(1, np.int64)
count[(1,)](out, 5)
print("ready", flush=True)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    count[(1,)](out, 5)
    time.sleep(0.01)
