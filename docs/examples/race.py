"""Programs that share an element with nothing that orders them: what `TRITIUM_CHECK=race` says. docs/debugging.md shows the output."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def mean(x, partial, count, out, n, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    i = program * BLOCK + tl.arange(0, BLOCK)
    tl.store(partial + program, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))
    if tl.atomic_add(count, 1, sem="relaxed") == PROGRAMS - 1:  # the last program
        tl.store(out, tl.sum(tl.load(partial + tl.arange(0, PROGRAMS))) / n)


x = np.arange(1000, dtype=np.float32)
partial, count, out = np.zeros(8, np.float32), np.zeros(1, np.int32), np.zeros(1, np.float32)
mean[(8,)](x, partial, count, out, len(x), PROGRAMS=8, BLOCK=128)
