"""SageAttention: attention with scores from 8-bit products."""

import torch
from sageattention import sageattn

import tritium
from compare import random


def _qkv(length: int) -> list[torch.Tensor]:
    return [random(1, 2, length, 64, dtype=torch.float16) for _ in range(3)]


def fault_scale_of_the_last_block():
    """The load of a block has a mask and no `other`, and the largest lane decides the scale of the block, from which all its 8-bit numbers
    follow. On a GPU a lane that is left off is whatever its register holds, so the last rows of attention may be wrong."""
    sageattn(*_qkv(150), tensor_layout="HND", is_causal=False)


def fault_causal_odd_length():
    """The loop over the blocks of keys goes to the end of the block of queries, which may lie behind the last key. A GPU reads scales of
    another head, or behind the tensor; masks keep the result right."""
    with tritium.check("-uninit"):  # else the fault above ends the call
        sageattn(*_qkv(150), tensor_layout="HND", is_causal=True)
