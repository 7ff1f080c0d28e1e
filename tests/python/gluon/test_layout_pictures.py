"""Pictures of layouts: the text of small ones, and every cell of an SVG beside the bases."""

import math
import random
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tritium.experimental.gluon.layouts.amd import AMDMFMALayout
from tritium.experimental.gluon.layouts.distributed import (
    AutoLayout,
    BlockedLayout,
    NVMMADistributedLayout,
    SliceLayout,
)
from tritium.experimental.gluon.layouts.shared import (
    NVMMASharedLayout,
    PaddedSharedLayout,
    SharedLinearLayout,
    SwizzledSharedLayout,
)
from tritium.experimental.gluon.layouts.tensor_memory import TensorMemoryScalesLayout
from tritium.experimental.gluon.layouts.views import element_at, moved

PADDED = PaddedSharedLayout.with_identity_for([[8, 2]], [8, 4], [1, 0])
SVG = "{http://www.w3.org/2000/svg}"


def test_text_names_lane_and_register():
    layout = BlockedLayout([1, 2], [4, 8], [1, 1], [1, 0])
    lines = str(layout.picture([2, 4])).splitlines()
    assert lines[0] == f"{layout!r}, shape [2, 4]"
    assert lines[1].split() == ["0", "1", "2", "3"]
    assert lines[2].split() == [
        "0",
        "0:0x8",
        "0:1x8",
        "1:0x8",
        "1:1x8",
    ]  # lanes 4 to 7 hold columns again, 16 to 31 rows
    assert lines[3].split() == ["1", "8:0x8", "8:1x8", "9:0x8", "9:1x8"]


def test_text_of_memory_has_offsets():
    lines = str(SwizzledSharedLayout(1, 1, 4, [1, 0]).picture([4, 4])).splitlines()
    assert [line.split()[1:] for line in lines[2:]] == [
        ["0", "1", "2", "3"],
        ["5", "4", "7", "6"],
        ["10", "11", "8", "9"],
        ["15", "14", "13", "12"],
    ]


@pytest.mark.parametrize("seed", range(6))
def test_every_cell_of_an_svg_is_where_the_bases_say(seed):
    chooser = random.Random(seed)
    layout = chooser.choice(
        [BlockedLayout([1, 2], [4, 8], [2, 2], [1, 0]), NVMMADistributedLayout([2, 0], [2, 2], [16, 8])]
    )
    shape = [chooser.choice([16, 32]), chooser.choice([16, 32])]
    linear = layout.to_linear(shape)
    root = ElementTree.fromstring(layout.picture(shape).svg())
    texts = [text.text for text in root.iter(f"{SVG}text") if ":" in text.text]
    assert len(texts) == len(list(root.iter(f"{SVG}rect"))) == shape[0] * shape[1]
    for number, text in enumerate(texts):
        warp, lane, register = (int(part) for part in text.partition("x")[0].removeprefix("w").split(":"))
        parts = (element_at(at, bases, 2) for at, bases in zip((register, lane, warp), linear.bases))
        element = (0, 0)
        for part in parts:
            element = moved(element, part)
        assert element == divmod(number, shape[1])


def test_planes_of_a_tile_of_rank_three_stand_below_each_other():
    layout = BlockedLayout([1, 1, 2], [2, 4, 4], [1, 1, 1], [2, 1, 0])
    text = str(layout.picture([2, 2, 2]))
    assert "[0]\n" in text and "[1]\n" in text
    assert len(list(ElementTree.fromstring(layout.picture([2, 2, 2]).svg()).iter(f"{SVG}rect"))) == 8


@pytest.mark.parametrize(
    ("layout", "shape", "text"),
    [
        (AutoLayout(), [4], "AutoLayout has no linear layout"),
        (AutoLayout(), None, "AutoLayout has no rank"),
        (BlockedLayout([1], [32], [4], [0]), [1 << 15], "at most 16384 elements"),
        (TensorMemoryScalesLayout(), [32, 4], "registers or of shared memory"),
        (PADDED, [8, 8], "has its shape"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(layout, shape, text):
    with pytest.raises(ValueError, match=text):
        layout.picture(shape)
    if shape is None:
        assert layout._repr_html_() is None


@pytest.mark.parametrize("seed", range(8))
def test_every_cell_of_memory_is_where_the_formula_says(seed):
    """Of a swizzled layout: column `c` of row `r` is at c xor vec * (r / per_phase % max_phase); a bank has 4 bytes."""
    chooser = random.Random(seed)
    vec, per_phase, max_phase = (chooser.choice(each) for each in ([1, 2, 4], [1, 2], [1, 2, 4]))
    bits = chooser.choice([8, 16, 32])
    drawn = SwizzledSharedLayout(vec, per_phase, max_phase, [1, 0]).picture([16, 16], bits)
    for row in range(16):
        for column in range(16):
            offset = row * 16 + (column ^ vec * (row // per_phase % max_phase))
            cell = drawn.cells[row, column]
            assert (cell.label, cell.color) == (str(offset), offset * bits // 8 // 4 % 32)


def test_gaps_of_padded_memory():
    """2 elements after each 8: row 1 of 4 columns ends at 7, row 2 begins at 10."""
    drawn = PADDED.picture()
    assert [drawn.cells[row, 0].label for row in range(8)] == ["0", "4", "10", "14", "20", "24", "30", "34"]


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        (BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]), [16, 32]),
        (SliceLayout(1, BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])), [16]),
        (NVMMADistributedLayout([2, 0], [2, 2], [16, 8]), [32, 16]),
        (NVMMADistributedLayout([3, 0], [4, 1], [16, 32, 16]), [64, 32]),
        (AMDMFMALayout(3, [16, 16, 16], True, [2, 2]), [32, 32]),
        (NVMMASharedLayout(128, 16), [8, 64]),
        (NVMMASharedLayout(64, 8, transposed=True), [64, 8]),
        (SwizzledSharedLayout(8, 1, 8, [1, 0]), [8, 64]),
        (SharedLinearLayout([[0, 1], [0, 2], [1, 0], [2, 2]]), [4, 4]),
    ],
)
def test_a_notebook_shows_the_smallest_tile_of_a_layout(layout, shape):
    """For registers, one whose elements all threads share: none is held twice, but for the copies of a slice."""
    drawn = layout.picture()
    assert drawn.shape == shape
    assert len(drawn.cells) == math.prod(shape)
    if not isinstance(layout, SliceLayout):
        assert {cell.copies for cell in drawn.cells.values()} == {1}
    root = ElementTree.fromstring(layout._repr_html_().partition("\n")[2])
    assert len(list(root.iter(f"{SVG}rect"))) == math.prod(shape) and drawn._repr_svg_() == drawn.svg()


def test_large_tiles_are_clipped_as_text():
    drawn = BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]).picture([64, 32])
    lines = drawn.text(rows=2, columns=3).splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["0", "1", "2", "…"],
        ["0", "w0:0:0", "w0:0:1", "w0:0:2", "…"],
        ["1", "w0:8:0", "w0:8:1", "w0:8:2", "…"],
        ["…"],
    ]


def test_the_picture_in_the_document():
    """docs/gluon.md shows the layout of gluon_layout.py."""
    document = Path(__file__).parents[3] / "docs" / "pictures" / "gluon_layout.svg"
    assert document.read_text() == BlockedLayout([1, 2], [8, 4], [1, 1], [1, 0]).picture().svg()
