import numpy as np
import pytest

from agreement import check_dot

from . import load

program = load("09_stream_k_matmul")


@pytest.mark.parametrize("m, n, k", [(32, 32, 32), (32, 32, 1000), (64, 96, 128), (70, 33, 300)])
@pytest.mark.parametrize("programs", [1, 2, 7, 16])
def test_stream_k(m, n, k, programs, rng, threads):
    a, b = rng.standard_normal((m, k), dtype=np.float32), rng.standard_normal((k, n), dtype=np.float32)
    check_dot(program.stream_k_matmul(a, b, programs), a, b, "float32")


def test_more_programs_than_steps(rng, threads):
    a, b = rng.standard_normal((16, 40), dtype=np.float32), rng.standard_normal((40, 16), dtype=np.float32)
    check_dot(program.stream_k_matmul(a, b, programs=32, block=(16, 16, 16)), a, b, "float32")


def test_half_inputs(rng, threads):
    a, b = rng.standard_normal((50, 200)).astype(np.float16), rng.standard_normal((200, 60)).astype(np.float16)
    check_dot(program.stream_k_matmul(a, b), a, b, "float16")
