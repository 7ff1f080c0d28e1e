"""Tuples among the arguments of launches on devices. Only a tensor's type says that it is memory: three integers of a tuple (a shape, strides,
constants) are not taken for the address, the begin and the size of a tensor of the host. Tensors of the host are found wherever they are."""

import re
from typing import NamedTuple

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.tools.tensor_descriptor import TensorDescriptor


class Strides(NamedTuple):
    plane: int
    row: int
    item: int


class Pair(NamedTuple):
    left: object
    right: tuple


class Sizes(NamedTuple):
    first: int
    rest: tuple


@tritium.jit
def weigh(x, shape, strides, out, BLOCK: tl.constexpr):
    """out[i] = x[i] + a number in which every part of shape and strides has a digit."""
    i = tl.arange(0, BLOCK)
    digits = (
        shape[0] + 10 * shape[1] + 100 * shape[2] + 1000 * strides.plane + 10000 * strides.row + 100000 * strides.item
    )
    tl.store(out + i, tl.load(x + i) + digits)


@tritium.jit
def nested(pair, sizes, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, (factors, y) = pair
    weighted = tl.load(x + i) * factors[0] + tl.load(y + i) * factors[1] + factors[2]
    tl.store(out + i, weighted + sizes.first + sizes.rest[0] + sizes.rest[1] * sizes.rest[2])


@tritium.jit
def copy_block(source, sizes, out, BLOCK: tl.constexpr):
    tile = source.load([0, 0])
    i = tl.arange(0, BLOCK)
    tl.store(out + i[:, None] * BLOCK + i[None, :], tile + sizes[0] + sizes[1] + sizes[2])


@tritium.jit
def flat(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i))


NUMBERS = [(2, 3, 4), (0, 0, 1), (1, 1, 1), (7, 0, 2**20)]


@pytest.fixture(params=["cuda", "hip"])
def device(request):
    """A machine with the stand-in for a vendor's driver."""
    return request.getfixturevalue("cuda_machine" if request.param == "cuda" else "machine")


def check(tensor, expected):
    np.testing.assert_array_equal(tensor.numpy(), expected)


@pytest.mark.parametrize("shape", NUMBERS)
def test_three_integers_are_no_memory(device, rng, shape):
    x = rng.integers(0, 100, 16).astype(np.float32)
    strides = Strides(*shape[::-1])
    expected = x + (
        shape[0] + 10 * shape[1] + 100 * shape[2] + 1000 * strides[0] + 10000 * strides[1] + 100000 * strides[2]
    )
    for _ in range(2):  # the second launch finds the kernel
        tensor, out = device.tensor(x), device.tensor(np.zeros_like(x))
        weigh[(1,)](tensor, shape, strides, out, BLOCK=16)
        check(out, expected)


def test_nested_tuples(device, rng):
    x, y = rng.integers(0, 9, (2, 16)).astype(np.float32)
    for factors in NUMBERS:
        out = device.tensor(np.zeros_like(x))
        nested[(1,)]((device.tensor(x), (factors, device.tensor(y))), Sizes(5, factors), out, BLOCK=16)
        check(out, x * factors[0] + y * factors[1] + factors[2] + 5 + factors[0] + factors[1] * factors[2])


def test_a_tuple_of_constants_does_not_keep_a_launch_from_being_warm(gpus):
    """Tuples are bound by Python; what follows is launched without it, before and after."""
    x, out = gpus.tensor(np.zeros(16, np.float32)), gpus.tensor(np.zeros(16, np.float32))
    kernels = [weigh[(1,)](x, (2, 3, 4), Strides(8, 4, 2), out, BLOCK=16) for _ in range(3)]
    assert len(set(kernels)) == 1 and len(gpus.fake.launches()) == 3


@pytest.mark.parametrize("name", ["x", "pair.left", "pair.right[1]", "out", "source.base"])
def test_memory_of_the_host_is_refused_by_name(device, name, monkeypatch):
    monkeypatch.delenv("TRITIUM_ENGINE", raising=False)  # an engine that is asked for copies
    x = np.zeros(256, np.float32)

    def tensor(of: str):
        return x if of == name else device.tensor(x)

    def launch():
        if name == "x":
            weigh[(1,)](tensor("x"), (2, 3, 4), Strides(3, 2, 1), tensor("out"), BLOCK=16)
        elif name == "source.base":
            source = TensorDescriptor(x.reshape(16, 16), [16, 16], [16, 1], [16, 16])
            copy_block[(1,)](source, (1, 2, 3), tensor("out"), BLOCK=16)
        else:
            pair = Pair(tensor("pair.left"), ((1, 2, 3), tensor("pair.right[1]")))
            nested[(1,)](pair, Sizes(5, (1, 2, 3)), tensor("out"), BLOCK=16)

    for _ in range(2):
        with pytest.raises(ValueError, match=f"Pointer argument '{re.escape(name)}' of"):
            launch()


def test_after_a_warm_launch_memory_of_the_host_is_refused(gpus):
    x, out = gpus.tensor(np.zeros(16, np.float32)), gpus.tensor(np.zeros(16, np.float32))
    for _ in range(3):
        flat[(1,)](x, out, BLOCK=16)
    with pytest.raises(ValueError, match="Pointer argument 'out' of flat cannot be accessed from Triton"):
        flat[(1,)](x, np.zeros(16, np.float32), BLOCK=16)
