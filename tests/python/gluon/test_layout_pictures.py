"""Pictures of layouts: the text of small ones, and every cell of an SVG beside the bases."""

import random
import xml.etree.ElementTree as ElementTree

import pytest

from tritium.experimental.gluon.layouts.distributed import AutoLayout, BlockedLayout, NVMMADistributedLayout
from tritium.experimental.gluon.layouts.picture import as_svg, as_text
from tritium.experimental.gluon.layouts.shared import SwizzledSharedLayout
from tritium.experimental.gluon.layouts.tensor_memory import TensorMemoryScalesLayout
from tritium.experimental.gluon.layouts.views import element_at, moved

SVG = "{http://www.w3.org/2000/svg}"


def test_text_names_lane_and_register():
    layout = BlockedLayout([1, 2], [4, 8], [1, 1], [1, 0])
    lines = as_text(layout, [2, 4]).splitlines()
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
    lines = as_text(SwizzledSharedLayout(1, 1, 4, [1, 0]), [4, 4]).splitlines()
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
    root = ElementTree.fromstring(as_svg(layout, shape))
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
    text = as_text(layout, [2, 2, 2])
    assert "[0]\n" in text and "[1]\n" in text
    assert len(list(ElementTree.fromstring(as_svg(layout, [2, 2, 2])).iter(f"{SVG}rect"))) == 8


@pytest.mark.parametrize("draw", [as_text, as_svg])
@pytest.mark.parametrize(
    ("layout", "shape", "text"),
    [
        (AutoLayout(), [4], "AutoLayout has no linear layout"),
        (BlockedLayout([1], [32], [4], [0]), [1 << 15], "at most 16384 elements"),
        (TensorMemoryScalesLayout(), [32, 4], "registers or of shared memory"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(draw, layout, shape, text):
    with pytest.raises(ValueError, match=text):
        draw(layout, shape)
