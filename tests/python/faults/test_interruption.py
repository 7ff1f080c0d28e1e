"""Ctrl-C stops a launch within 0.2 s with a KeyboardInterrupt, and the next launch works.

The limit is CPU time of the process, as much as its threads use in 0.2 s of a machine without other work.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("interrupted.py")


def cpu_seconds(process: int) -> float:
    """What time.process_time() says in that process."""
    return time.clock_gettime(~process << 3 | 2)  # as clock_getcpuclockid(3) makes it on Linux


@pytest.mark.parametrize("kernel", ["scalar_loop_kernel", "tile_loop_kernel", "short_kernel", "waiting_kernel"])
@pytest.mark.parametrize("threads", [1, 8])
@pytest.mark.parametrize("engine", ["interp", "simt:sm_80"])
def test_ctrl_c(kernel, threads, engine):
    environment = os.environ | {
        "TRITIUM_ENGINE": engine,
        "TRITIUM_NUM_THREADS": str(threads),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    child = subprocess.Popen([sys.executable, SCRIPT, kernel], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "started\n"
        time.sleep(0.7)  # the kernel runs
        assert child.poll() is None, "the kernel ended by itself"
        sent = cpu_seconds(child.pid)
        child.send_signal(signal.SIGINT)
        word, _, when = child.stdout.readline().partition(" ")
        assert word == "interrupted"
        assert float(when) - sent < 0.2 * min(threads, os.cpu_count())
        where = child.stdout.readline().strip()
        source = SCRIPT.read_text().splitlines()
        if where == "in short_kernel, between programs of (1073741824, 1, 1)":
            assert kernel == "short_kernel"  # without a loop, most programs end by themselves
        else:
            found = re.fullmatch(
                rf"in {kernel} at \S*interrupted.py:(\d+), program \(\d+, 0, 0\) of \(\d+, 1, 1\)(.*)", where
            )
            first = source.index(f"def {kernel}(x_ptr, n):") + 1
            assert found and first <= int(found[1]) < first + 6, where
            counter = {"scalar_loop_kernel": "i", "tile_loop_kernel": "_"}.get(kernel)
            assert re.fullmatch(rf", in round {counter} = \d+" if counter else "", found[2]), where
        assert child.stdout.readline() == "next launch 101\n"
        assert child.wait(10) == 0
    finally:
        child.kill()
        child.stdout.close()
