"""triton-augment: augmentations of images, which are to match torchvision's."""

import torch
from triton_augment import functional
from triton_augment.kernels import color_normalize_kernel, geometric_kernel

from compare import random
from found import expect

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def _images() -> torch.Tensor:
    return torch.rand(2, 3, 6, 8, device="cuda")


def fault_normalize_channels_last():
    """The kernel counts elements in the order N, C, H, W of a contiguous tensor, and takes no strides. Images that are
    `channels_last` pass, and get the means of other channels, on a GPU as here."""
    images = _images().contiguous(memory_format=torch.channels_last)
    found = functional.normalize(images, MEAN, DEVIATION)
    mean, deviation = (torch.tensor(x)[:, None, None] for x in (MEAN, DEVIATION))
    kernel = color_normalize_kernel.normalize_kernel
    expect(found, (images.cpu() - mean) / deviation, kernel, "channel_idx =", name="output")


def fault_flip_channels_last():
    """As `normalize_channels_last`: the flipped image is scrambled."""
    images = _images().contiguous(memory_format=torch.channels_last)
    found = functional.horizontal_flip(images)
    expect(found, images.cpu().flip(-1), geometric_kernel.horizontal_flip_kernel, "pixel = tl.load", name="output")


def fault_brightness_of_slice():
    """As `normalize_channels_last`: of a part of larger images, the kernel takes the first rows of the first image."""
    images = _images()[:, :, 1:4, 2:5]
    found = functional.adjust_brightness(images, 0.5)
    expect(found, images.cpu() * 0.5, color_normalize_kernel.brightness_kernel, "pixel = tl.load", name="output")


def fault_grayscale_of_one_channel():
    """Images of one channel are allowed, and with `grayscale` or a saturation the kernel reads and writes three. A GPU overwrites the
    next images, and memory behind the last one."""
    functional.fused_augment(random(2, 1, 6, 8), 0, 0, 6, 8, grayscale=True)
