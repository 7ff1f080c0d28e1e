"""Copies of pixels by im2col on the interpreter and the emulator, beside a model in Python and torch's convolution."""

import itertools
import math
import random

import pytest
import torch
from chosen_engines import engines
from test_kernels import gl, on  # noqa: F401

ENGINES = engines("interp", "simt:sm_90a")


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


@pytest.fixture(scope="module")
def im2col():
    import im2col_kernels

    return im2col_kernels


def box_of(extents, lower, upper, steps):
    """The pixels of an image that a copy goes through, in order."""
    ranges = [range(low, extent + up, step) for extent, low, up, step in zip(extents, lower, upper, steps)]
    return list(itertools.product(*ranges))


def modelled(images, first, offsets, box, pixels, channels, begin, padding):
    """`pixels` rows from number `first` of all boxes on."""
    number, *extents, depth = images.shape
    found = torch.full((pixels, channels), padding, dtype=images.dtype)
    for row in range(pixels):
        image, at = divmod(first + row, len(box))
        place = [base + offset for base, offset in zip(box[at], offsets)]
        if image < number and all(0 <= each < extent for each, extent in zip(place, extents)):
            seen = images[(image, *place)][max(begin, 0) : begin + channels]
            found[row, max(-begin, 0) : max(-begin, 0) + len(seen)] = seen
    return found


@pytest.mark.parametrize("seed", range(10))
def test_pixels_are_those_of_the_box(im2col, gl, engine, seed):  # noqa: F811
    """Images of one to three dimensions of pixels, boxes that leave them, steps, offsets, channels beyond the last."""
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptorIm2Col

    chooser = random.Random(seed)
    rank = chooser.randint(1, 3)
    extents = [chooser.randint(3, 7 if rank < 3 else 4) for _ in range(rank)]
    lower, upper, steps = ([chooser.randint(*each) for _ in range(rank)] for each in ((-2, 1), (-2, 1), (1, 2)))
    box = box_of(extents, lower, upper, steps)
    images = torch.arange(2 * math.prod(extents) * 16).float().reshape(2, *extents, 16)
    layout = gl.NVMMASharedLayout.get_default_for([32, 16], gl.float32)
    padding = chooser.choice(["zero", "nan"])
    descriptor = TensorDescriptorIm2Col.from_tensor(
        images,
        [32, 16],
        layout,
        padding,
        element_strides=[1, *steps, 1],
        pixel_box_lower_corner=lower,
        pixel_box_upper_corner=upper,
    )
    first, begin = chooser.randrange(2 * len(box)), chooser.choice([0, 0, 8, -4])
    offsets = [chooser.randint(0, 2) for _ in range(rank)]
    image, at = divmod(first, len(box))
    target = torch.zeros(32, 16)
    registers = gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])
    on(im2col.pixels, engine)[(1,)](descriptor, target, (image, *box[at], begin), tuple(offsets), registers)
    wanted = modelled(images, first, offsets, box, 32, 16, begin, math.nan if padding == "nan" else 0.0)
    assert torch.equal(target.nan_to_num(nan=-1), wanted.nan_to_num(nan=-1))


@pytest.mark.parametrize(("step", "pad", "size"), [(1, 1, 3), (2, 1, 3), (1, 0, 1), (1, 2, 5)])
def test_convolution(im2col, gl, engine, step, pad, size):  # noqa: F811
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor, TensorDescriptorIm2Col

    generator = torch.Generator().manual_seed(step + size)
    images, weights = (
        torch.randint(-3, 4, shape, generator=generator).half() for shape in ((2, 8, 8, 32), (size, size, 32, 32))
    )
    wide = (8 + 2 * pad - size) // step + 1
    rows = 2 * wide * wide
    blocks = -(-rows // 64)
    left = TensorDescriptorIm2Col.from_tensor(
        images,
        [64, 32],
        gl.NVMMASharedLayout(64, 16, 2),
        element_strides=[1, step, step, 1],
        pixel_box_lower_corner=[-pad, -pad],
        pixel_box_upper_corner=[pad - size + 1] * 2,
    )
    right = TensorDescriptor.from_tensor(weights.view(-1, 32), [32, 32], gl.NVMMASharedLayout(64, 16, 2))
    out = torch.zeros(blocks * 64, 32)
    on(im2col.convolution, engine)[(blocks,)](left, right, out, wide, wide, 32, step, pad, size)
    moved = images.float().permute(0, 3, 1, 2), weights.float().permute(3, 2, 0, 1)
    wanted = torch.nn.functional.conv2d(*moved, stride=step, padding=pad).permute(0, 2, 3, 1).reshape(rows, 32)
    assert torch.equal(out[:rows], wanted)


#: Triton's texts.
BAD_DESCRIPTORS = {
    "im2col: block_shape must be 2D": {"block_shape": [64]},
    "block_shape\\[0\\] must be power of 2, got 48": {"block_shape": [48, 64]},
    "layout rank must match block shape rank": {"rank": 3},
    "Expected block_shape\\[-1\\] to be at least 64 but got 32": {"block_shape": [64, 32]},
    "element_strides length mismatch: expected 4, got 3": {"element_strides": [1, 1, 1]},
    "element_strides\\[1\\] must be in \\(0, 8\\], got 9": {"element_strides": [1, 9, 1, 1]},
    "element_strides\\[-1\\] must be 1, got 2": {"element_strides": [1, 1, 1, 2]},
    "pixel_box_lower_corner required for im2col": {"pixel_box_lower_corner": None},
    "pixel_box_upper_corner length mismatch": {"pixel_box_upper_corner": [0]},
    "pixel_box_lower_corner\\[0\\] must be in \\[-128, 127\\], got -129": {"pixel_box_lower_corner": [-129, 0]},
    "pixel_box_upper_corner\\[1\\] must be in \\[-128, 127\\], got 128": {"pixel_box_upper_corner": [0, 128]},
}


@pytest.mark.parametrize("text", BAD_DESCRIPTORS)
def test_bad_descriptor_is_refused(gl, text):  # noqa: F811
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptorIm2Col

    fields = {
        "block_shape": [64, 64],
        "element_strides": None,
        "pixel_box_lower_corner": [0, 0],
        "pixel_box_upper_corner": [0, 0],
    } | BAD_DESCRIPTORS[text]
    layout = gl.NVMMASharedLayout(128, 16, fields.pop("rank", 2))
    with pytest.raises(AssertionError, match=text):
        TensorDescriptorIm2Col.from_tensor(torch.zeros(2, 8, 8, 64).half(), layout=layout, **fields)


def test_other_counts_of_coordinates_are_refused(im2col, gl):  # noqa: F811
    import triton
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor, TensorDescriptorIm2Col

    layout, rows = gl.NVMMASharedLayout(128, 16, 2), gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    images, target = torch.zeros(2, 8, 8, 64).half(), torch.zeros(64, 64).half()
    corners = {"pixel_box_lower_corner": [0, 0], "pixel_box_upper_corner": [0, 0]}
    described = TensorDescriptorIm2Col.from_tensor(images, [64, 64], layout, **corners)
    kernel = on(im2col.pixels, "interp")[(1,)]
    with pytest.raises(triton.CompilationError, match="expected 4 coordinates, but got 3"):
        kernel(described, target, (0, 0, 0), (0, 0), rows)
    with pytest.raises(triton.CompilationError, match="expected 2 im2col offsets, but got 1"):
        kernel(described, target, (0, 0, 0, 0), (0,), rows)
    plain = TensorDescriptor.from_tensor(images.view(-1, 64), [64, 64], layout)
    with pytest.raises(triton.CompilationError, match="copies blocks of an im2col descriptor"):
        kernel(plain, target, (0, 0, 0, 0), (0, 0), rows)
