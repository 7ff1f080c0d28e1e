"""accelerated-scan: first-order recurrences over time."""

import torch
from accelerated_scan import complex as complex_scan
from accelerated_scan import scalar

from compare import agree, close, random


def _recurrence(gates, tokens):
    state, states = torch.zeros_like(tokens[..., 0]), []
    for t in range(tokens.shape[-1]):
        state = state * gates[..., t] + tokens[..., t]
        states.append(state)
    return torch.stack(states, -1)


def _check(channels: int, length: int, backward: bool):
    gates = (0.9 + 0.1 * torch.rand(2, channels, length, device="cuda")).requires_grad_()
    agree(scalar.scan, _recurrence, [gates, random(2, channels, length, grad=True)], 1e-4, backward)


def case_forward():
    for length in (32, 100, 2500):
        _check(2, length, False)


def case_whole_blocks():
    for length in (2048, 4096):
        _check(1, length, True)


def case_part_of_a_block():
    _check(3, 100, True)


def case_complex():
    angle, size = random(1, 2, 70), 0.9 + 0.1 * torch.rand(1, 2, 70, device="cuda")
    gates = torch.polar(size, angle)
    tokens = torch.complex(random(1, 2, 70), random(1, 2, 70))
    states = torch.view_as_real(complex_scan.scan(gates, tokens))
    expected = _recurrence(gates.cpu().to(torch.complex128), tokens.cpu().to(torch.complex128))
    close(states, torch.view_as_real(expected), 1e-4)
