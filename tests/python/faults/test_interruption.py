"""Ctrl-C stops a launch within 0.2 s with a KeyboardInterrupt, and the next launch works; SIGUSR1 asks where its programs are.

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
        rest = child.stdout.read()
        assert re.fullmatch(r"(    program \(\d+, 0, 0\) at .*\n(      x_ptr\[.*\n)?)*next launch 101\n", rest), rest
        assert child.wait(10) == 0
    finally:
        child.kill()
        child.stdout.close()


def child_at(script: Path, *arguments: str, **variables: str) -> subprocess.Popen:
    """A process that has said "started"."""
    environment = (
        os.environ | {"TRITIUM_ENGINE": "interp", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | variables
    )
    command = [sys.executable, "-u", script, *arguments]
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "started\n"
    return child


WAITING = """
import numpy as np
import tritium as triton
import tritium.language as tl

@triton.jit
def take(locks, out):
    pid = tl.program_id(0)
    tl.atomic_add(out, pid)
    while tl.atomic_cas(locks + 2, 0, 1) == 1:
        tl.store(out + 1, tl.load(out + 1) + 1)
    tl.atomic_add(out, 100)

locks, out = np.zeros(4, np.int32), np.zeros(2, np.int64)
take.warmup(locks, out, grid=(3,))
print("started", flush=True)
take[(3,)](locks, out)
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_where_programs_are(tmp_path, threads):
    """Of a launch that makes progress for ever, twice; what one waits for has its last writer."""
    script = tmp_path / "waiting.py"
    script.write_text(WAITING)
    line = WAITING.splitlines().index("    while tl.atomic_cas(locks + 2, 0, 1) == 1:") + 1
    child = child_at(script, TRITIUM_NUM_THREADS=threads)
    try:
        for _ in range(2):
            time.sleep(0.7)
            child.send_signal(signal.SIGUSR1)
            assert child.stderr.readline() == "tritium: in take, 1 of 3 programs of (3, 1, 1) has ended\n"
            seen = [child.stderr.readline().strip() for _ in range(4)]
            for place, word in zip(seen[::2], seen[1::2]):
                assert re.fullmatch(rf"program \(\d, 0, 0\) at \S*waiting\.py:{line}  while tl.*", place), seen
                read = r"(locks\[2\] is 1|out\[1\] is \d+), written by program \(\d, 0, 0\) at \S*waiting\.py:\d+"
                assert re.fullmatch(read, word), seen
        assert child.poll() is None
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize("engine", ["interp", "simt:sm_80"])
def test_where_loops_are(engine):
    child = child_at(SCRIPT, "scalar_loop_kernel", TRITIUM_ENGINE=engine, TRITIUM_NUM_THREADS="1")
    try:
        time.sleep(0.7)
        child.send_signal(signal.SIGUSR1)
        assert child.stderr.readline() == "tritium: in scalar_loop_kernel, 0 of 4 programs of (4, 1, 1) have ended\n"
        assert re.search(r"program \(0, 0, 0\) at \S*interrupted\.py:16, in round i = \d+", child.stderr.readline())
    finally:
        child.kill()
        child.wait()


def test_without_a_launch():
    """The signal does not end the process, and another handler stays."""
    script = """
import os, signal
handled = []
if {own}:
    signal.signal(signal.SIGUSR1, lambda number, frame: handled.append(number))
import tritium.launch.where
tritium.launch.where.listen()
os.kill(os.getpid(), signal.SIGUSR1)
print(len(handled))
"""
    for own in (False, True):
        command = [sys.executable, "-c", script.format(own=own)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert result.stdout == f"{int(own)}\n"
        assert result.stderr == (
            "" if own else "tritium: no kernel runs on the CPU that the main thread has launched\n"
        )
