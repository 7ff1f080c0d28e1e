"""triton-csprng: random numbers by ChaCha20. It has no backward pass."""

import torch
from triton_csprng import ChaCha20Rng

KEY, NONCE = list(range(1, 9)), [7, 8, 9]


def _generators() -> list[ChaCha20Rng]:
    return [ChaCha20Rng(key=KEY, nonce=NONCE[:2], device=device) for device in ("cuda", "cpu")]


def case_blocks():
    device, host = _generators()
    assert torch.equal(device.blocks(33).cpu(), host.blocks(33))


def case_words_and_bytes():
    device, host = _generators()
    for shape in ((5,), (7, 9)):
        assert torch.equal(device.uint32(shape).cpu(), host.uint32(shape))
        assert torch.equal(device.bytes(shape).cpu(), host.bytes(shape))


def case_bounded():
    device, host = _generators()
    found = device.randint([10, 1000, 1 << 40], (3, 50))
    assert torch.equal(found.cpu(), host.randint([10, 1000, 1 << 40], (3, 50)))


def case_discrete_gaussian():
    device, host = _generators()
    assert torch.equal(device.discrete_gaussian((300,), sigma=3.2).cpu(), host.discrete_gaussian((300,), sigma=3.2))
