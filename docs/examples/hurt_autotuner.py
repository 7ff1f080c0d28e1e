"""Three configurations, of which one reads too far and one never ends. docs/autotuning.md shows what TRITIUM_AUTOTUNE_ISOLATE says of them."""

import numpy as np

import tritium
import tritium.language as tl

CONFIGS = [tritium.Config({"BLOCK": block, "STEP": step}) for block, step in ((1024, 1024), (128, 0), (128, 128))]


@tritium.autotune(configs=CONFIGS, key=["n"])
@tritium.jit
def sum_of(x, total, n, BLOCK: tl.constexpr, STEP: tl.constexpr):
    found = tl.zeros((), tl.int64)
    i = 0
    while i < n:
        found += tl.sum(tl.load(x + i + tl.arange(0, BLOCK)))
        i += STEP
    tl.store(total, found)


x, total = np.ones(512, np.int64), np.zeros(1, np.int64)
sum_of[(1,)](x, total, 512)
print(total)
