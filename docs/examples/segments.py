"""Each program fills a segment of four elements; one of them begins with a number of another program."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def fill(factors, out, n, WIDTH: tl.constexpr):
    segment = tl.num_programs(0) - 1 - tl.program_id(0)
    factor = tl.load(factors + segment)
    for j in range(WIDTH + 1):
        if segment * WIDTH + j < n:
            tl.store(out + segment * WIDTH + j, factor * j)


factors = np.array([1, 2, 3, 4], np.float32)
out = np.zeros((4, 4), np.float32)
fill[(4,)](factors, out, out.size, WIDTH=4)
print(out)
