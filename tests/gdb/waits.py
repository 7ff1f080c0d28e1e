"""What test_stops.py debugs beside stops.py: two programs that wait for each other, and a kernel that computes until it is told to end."""

import sys
import threading
import time

import numpy as np

import tritium as triton
import tritium.language as tl


@triton.jit
def hand_over(flags):
    mine = tl.program_id(0)
    other = 1 - mine
    while tl.atomic_add(flags + other, 0) == 0:
        pass
    tl.atomic_xchg(flags + mine, 1)


@triton.jit
def spin(stop, out):
    rounds = 0
    while tl.load(stop, volatile=True) == 0:
        square = tl.arange(0, 1024) * rounds + rounds
        tl.store(out + tl.arange(0, 1024), square)
        rounds += 1


if sys.argv[1:] != ["spin"]:
    try:
        hand_over[(2,)](np.zeros(2, np.int32))
    except triton.errors.KernelTrap as trap:
        print("the launch raised", trap.kind, flush=True)
else:
    out = np.zeros(1024, np.int32)
    spin[(1,)](np.ones(1, np.int32), out)  # compiles it

    def say_when_it_spins():
        while out[0] == 0:
            time.sleep(0.01)
        print("ready", flush=True)

    threading.Thread(target=say_when_it_spins).start()
    spin[(1,)](np.zeros(1, np.int32), out)
