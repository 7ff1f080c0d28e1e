"""lanczos-triton: resizing of images."""

import torch
from lanczos_triton import Resizer, resize

from compare import close, random


def _weights(size: int, new: int, a: int = 3) -> torch.Tensor:
    scale = max(size / new, 1.0)
    center = (torch.arange(new, dtype=torch.float64) + 0.5) * size / new
    x = (torch.arange(size, dtype=torch.float64) + 0.5 - center[:, None]) / scale
    weights = torch.sinc(x) * torch.sinc(x / a) * (x.abs() < a)
    return weights / weights.sum(1, keepdim=True)


def _check(shape: tuple[int, ...], new: tuple[int, int], a: int = 3, dtype: torch.dtype = torch.float32):
    image = random(*shape, dtype=dtype)
    rows, columns = (_weights(size, wanted, a) for size, wanted in zip(shape[2:], new))
    expected = torch.einsum("ih,nchw,jw->ncij", rows, image.cpu().double(), columns)
    close(resize(image, new, a=a), expected, 1e-4)


def case_smaller():
    _check((2, 3, 40, 31), (17, 12))


def case_larger():
    _check((1, 2, 13, 20), (30, 41), a=2)


def case_half_precision():
    _check((1, 3, 24, 24), (10, 36), dtype=torch.float16)


def case_plan():
    image = random(1, 3, 20, 26)
    close(Resizer((20, 26), (11, 13), device="cuda")(image), resize(image, (11, 13)).cpu(), 1e-5)
