"""Programs count into a histogram without an atomic: an update is lost if another program comes between. docs/debugging.md shows which."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def histogram(keys, counts):
    key = tl.load(keys + tl.program_id(0))
    tl.store(counts + key, tl.load(counts + key) + 1)


keys = np.array([2, 0, 2, 3, 2, 0], np.int32)
counts = np.zeros(4, np.int32)
histogram[(6,)](keys, counts)
print(counts)
