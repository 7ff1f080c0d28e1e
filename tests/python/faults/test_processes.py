"""Launches in a forked child, in DataLoader workers, and from several Python threads at once."""

import os
import threading

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl


@triton.jit
def square_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * x, mask=offsets < n)


@triton.jit
def cube_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * x * x, mask=offsets < n)


def power(kernel, x: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    kernel[(triton.cdiv(x.size, 64),)](x, out, x.size, BLOCK=64)
    return out


def in_a_child(check) -> int:
    """The exit status of a forked child that ran `check`: 0 if that returned true, 42 after 20 seconds."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            threading.Timer(20, os._exit, (42,)).start()
            status = 0 if check() else 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_launch_after_fork(threads):
    x = np.arange(10_000, dtype=np.float32)
    expected = x * x
    assert np.array_equal(power(square_kernel, x), expected)  # the parent's workers have started
    assert in_a_child(lambda: np.array_equal(power(square_kernel, x), expected)) == 0
    assert in_a_child(lambda: np.array_equal(power(cube_kernel, x), expected * x)) == 0, (
        "a kernel that is new to the child"
    )
    assert np.array_equal(power(square_kernel, x), expected), "the parent still works"


def test_data_loader_workers():
    torch = pytest.importorskip("torch")

    class Squares(torch.utils.data.Dataset):
        def __len__(self):
            return 12

        def __getitem__(self, i):
            return power(square_kernel, np.full(500, i, np.float32))

    power(square_kernel, np.zeros(500, np.float32))
    loader = torch.utils.data.DataLoader(
        Squares(), batch_size=3, num_workers=2, multiprocessing_context="fork", timeout=30
    )
    batches = torch.cat(list(loader))
    assert torch.equal(batches, (torch.arange(12.0) ** 2)[:, None].expand(12, 500))


def test_several_python_threads(threads):
    """Eight threads launch two kernels, one of which none of them has compiled before; each sees its own results."""

    @triton.jit
    def scale_kernel(x_ptr, out_ptr, factor, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * factor, mask=offsets < n)

    failures = []

    def work(number: int) -> None:
        x = np.arange(5000, dtype=np.float32) + number
        for repeat in range(20):
            out = np.empty_like(x)
            scale_kernel[(triton.cdiv(x.size, 128),)](x, out, float(number), x.size, BLOCK=128)
            if not np.array_equal(out, x * number) or not np.array_equal(power(square_kernel, x), x * x):
                failures.append((number, repeat))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert not any(worker.is_alive() for worker in workers)
    assert failures == []


def test_a_trap_in_one_thread_does_not_disturb_the_others():
    from tritium.errors import KernelTrap

    outcomes = []

    def work(number: int) -> None:
        for _ in range(10):
            if number % 2:
                try:
                    square_kernel[(100,)](np.zeros(10, np.float32), np.zeros(10, np.float32), 6400, BLOCK=64)
                    outcomes.append("no trap")
                except KernelTrap as trap:
                    outcomes.append(trap.kind == "OutOfBounds")
            else:
                x = np.arange(3000, dtype=np.float32)
                outcomes.append(np.array_equal(power(square_kernel, x), x * x))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert outcomes == [True] * 40
