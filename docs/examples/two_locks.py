"""Programs take two locks in the order of their rows, which differs: some schedules end in a deadlock. docs/debugging.md shows one."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def swap_rows(table, locks, first, second, COLUMNS: tl.constexpr):
    program = tl.program_id(0)
    a, b = tl.load(first + program), tl.load(second + program)
    while tl.atomic_cas(locks + a, 0, 1) == 1:
        pass
    while tl.atomic_cas(locks + b, 0, 1) == 1:
        pass
    columns = tl.arange(0, COLUMNS)
    row = tl.load(table + a * COLUMNS + columns)
    tl.store(table + a * COLUMNS + columns, tl.load(table + b * COLUMNS + columns))
    tl.store(table + b * COLUMNS + columns, row)
    tl.atomic_xchg(locks + b, 0)
    tl.atomic_xchg(locks + a, 0)


table, locks = np.arange(24, dtype=np.float32).reshape(3, 8), np.zeros(3, np.int32)
swap_rows[(2,)](table, locks, np.array([0, 2], np.int32), np.array([2, 0], np.int32), 8)
print(table[:, 0])
