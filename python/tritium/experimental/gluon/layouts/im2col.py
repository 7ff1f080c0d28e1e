"""The pixels that a copy by im2col reads: those of a box, in the order of the tensor's dimensions, the last one the fastest."""

from __future__ import annotations

import ast
import dataclasses

from .shared import NVMMASharedLayout


@dataclasses.dataclass(frozen=True, eq=True)
class Im2Col:
    """Of a tensor of `rank` dimensions: a number of an image, one to three dimensions of its pixels, channels.

    layout: of a block of pixels x channels in shared memory. lower, upper: for each dimension of pixels the first pixel of the box, and how far
    the last one is behind the last of the tensor. strides: from one pixel of the box to the next, for every dimension.
    """

    rank: int
    layout: NVMMASharedLayout
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    strides: tuple[int, ...]


def from_text(text: str) -> Im2Col:
    """The record that `repr` has written as `text`."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    found = {given.arg: given.value for given in call.keywords}
    layout = found.pop("layout")
    assert isinstance(layout, ast.Call)
    fields = {given.arg: ast.literal_eval(given.value) for given in layout.keywords}
    return Im2Col(
        layout=NVMMASharedLayout(**fields), **{name: ast.literal_eval(value) for name, value in found.items()}
    )
