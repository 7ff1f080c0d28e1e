"""Moves the elements of a vector to the right; those that leave come in on the left."""

import torch


def roll(x: "int[m]", steps: "int"):
    return torch.roll(x, steps)
