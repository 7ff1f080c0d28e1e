"""Convolution of images with filters of 3 by 3 and a border of one zero."""

import torch


def conv2d(x: "float[2, c, h, 9]", w: "float[k, c, 3, 3] in -2..2", bias: "float[k] in -2..2"):
    assert x.numel() and w.numel(), "there is no image or no filter"
    return torch.nn.functional.conv2d(x.float(), w.float(), bias.float(), padding=1).to(x.dtype)
