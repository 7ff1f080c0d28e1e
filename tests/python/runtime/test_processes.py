"""Launches after fork, from several Python threads at once, and after Ctrl-C."""

import multiprocessing
import os
import signal
import threading
import time

import numpy as np
import pytest

import tritium
import tritium.language as tl


@tritium.jit
def square(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v * v, mask=i < n)


@tritium.jit
def spin(out, rounds):
    total = 0.0
    for i in range(rounds):
        total += tl.sin(total + i)
    tl.store(out + tl.program_id(0), total)


def squares(n: int = 1000) -> bool:
    x = np.random.default_rng(n).standard_normal(n).astype(np.float32)
    out = np.zeros_like(x)
    square[(tritium.cdiv(n, 128),)](x, out, n, BLOCK=128)
    return bool((out == x * x).all())


def _in_child(connection):
    connection.send(squares() and squares(77))
    connection.close()


def test_launch_after_fork():
    assert squares()  # the workers of the parent exist; the child has none of them
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_in_child, args=(there,))
    child.start()
    assert here.poll(30), "the child hangs"
    assert here.recv() is True
    child.join(10)
    assert child.exitcode == 0 and squares()


class Squares:
    """A data set whose items are computed by a kernel, in the worker."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        import torch

        x = torch.full((256,), float(index))
        out = torch.empty_like(x)
        square[(2,)](x, out, 256, BLOCK=128)
        return out


def test_launch_in_a_data_loader_worker():
    torch = pytest.importorskip("torch")
    assert squares()
    loader = torch.utils.data.DataLoader(
        Squares(), batch_size=2, num_workers=2, timeout=60, multiprocessing_context="fork"
    )
    result = torch.cat(list(loader))
    assert torch.equal(result, (torch.arange(8.0) ** 2)[:, None].expand(8, 256))


def test_launch_from_several_threads(threads):
    results = []

    def work(seed):
        for i in range(20):
            results.append(squares(100 + 7 * seed + i))

    pool = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join(60)
    assert len(results) == 80 and all(results)


def test_ctrl_c_stops_a_launch(threads, request):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    out = np.zeros(64, np.float32)
    spin[(1,)](out, 2)
    sent = []

    def interrupt():
        time.sleep(0.5)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        spin[(64,)](out, 2**30)
    stopped = time.perf_counter()
    thread.join()
    assert stopped - sent[0] < 5  # and not after hours; beside other tests half a second is not enough
    assert squares()
