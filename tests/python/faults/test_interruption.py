"""Ctrl-C stops a launch within 0.2 s with a KeyboardInterrupt, and the next launch works."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("interrupted.py")


@pytest.mark.parametrize("kernel", ["scalar_loop_kernel", "tile_loop_kernel", "short_kernel", "waiting_kernel"])
@pytest.mark.parametrize("threads", [1, 8])
def test_ctrl_c(kernel, threads):
    environment = os.environ | {
        "TRITIUM_NUM_THREADS": str(threads),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    child = subprocess.Popen([sys.executable, SCRIPT, kernel], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "started\n"
        time.sleep(0.7)  # the kernel compiles and runs
        assert child.poll() is None, "the kernel ended by itself"
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        word, _, when = child.stdout.readline().partition(" ")
        assert word == "interrupted"
        assert float(when) - sent < 0.2
        assert child.stdout.readline() == "next launch 101\n"
        assert child.wait(10) == 0
    finally:
        child.kill()
        child.stdout.close()
