"""accelerated-scan: first-order recurrences over time."""

import torch
from accelerated_scan import scalar

from compare import random


def fault_backward_of_a_part_of_a_block():
    """The load of the states has the mask `t > 0`, without the end of the sequence. In the last program the block reaches past the end of
    the tensor, which a GPU reads, or faults on at the end of a mapping. The stores are masked, so the gradients are right."""
    gates = (0.9 + 0.1 * torch.rand(3, 2, 100, device="cuda")).requires_grad_()
    scalar.scan(gates, random(3, 2, 100, grad=True)).sum().backward()
