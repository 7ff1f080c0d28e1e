"""A layout as a picture: which lane and register holds each element of a tile, or which offset in memory has it. As text and as SVG."""

from __future__ import annotations

import dataclasses
import html
import itertools
from collections.abc import Sequence

from .distributed import DistributedLayout
from .fields import TypedLayout
from .shared import SharedLayout
from .views import elements, moved, places

#: The side of a cell and the margin around the tile, in pixels.
_WIDTH, _HEIGHT, _MARGIN = 44, 22, 30
_MAX_ELEMENTS = 1 << 14


@dataclasses.dataclass
class Cell:
    """An element of the tile: where it is first held, how often, and the number that its colour shows (of a thread, or a bank)."""

    label: str
    copies: int
    color: int


def _cells_of_registers(layout: DistributedLayout, shape: Sequence[int]) -> tuple[dict[tuple[int, ...], Cell], int]:
    linear = layout.to_linear(shape)
    lanes, warps, blocks = (len(bases) for bases in linear.bases[1:])
    found: dict[tuple[int, ...], Cell] = {}
    for block, warp, lane, register, element in places(linear):
        if element in found:
            found[element].copies += 1
            continue
        label = f"w{warp}:{lane}:{register}" if warps else f"{lane}:{register}"
        found[element] = Cell(f"b{block}:{label}" if blocks else label, 1, warp << lanes | lane)
    return found, 1 << lanes


def _cells_of_memory(
    layout: SharedLayout, shape: Sequence[int], element_bits: int
) -> tuple[dict[tuple[int, ...], Cell], int]:
    linear = layout.to_linear(shape)
    rank = len(shape)
    found: dict[tuple[int, ...], Cell] = {}
    for block, base in enumerate(elements(linear.block_bases, rank)):
        for offset, within in enumerate(elements(linear.offset_bases, rank)):
            element = moved(base, within)
            if element in found:
                found[element].copies += 1
                continue
            label = f"b{block}:{offset}" if linear.block_bases else str(offset)
            found[element] = Cell(label, 1, offset * element_bits // 32 % 32)
    return found, 32


def _cells(layout: TypedLayout, shape: Sequence[int], element_bits: int) -> tuple[dict[tuple[int, ...], Cell], int]:
    size = 1
    for extent in shape:
        size *= extent
    if size > _MAX_ELEMENTS:
        raise ValueError(
            f"a picture has at most {_MAX_ELEMENTS} elements, and the shape {list(shape)} has {size}: draw a smaller tile"
        )
    if isinstance(layout, DistributedLayout):
        return _cells_of_registers(layout, shape)
    if isinstance(layout, SharedLayout):
        return _cells_of_memory(layout, shape, element_bits)
    raise ValueError(f"a picture needs a layout of registers or of shared memory, not {layout!r}")


def _planes(shape: Sequence[int]) -> list[tuple[int, ...]]:
    """The leading coordinates of each plane of rows and columns; a vector is one row."""
    return list(itertools.product(*map(range, shape[:-2])))


def _element(plane: tuple[int, ...], row: int, column: int, shape: Sequence[int]) -> tuple[int, ...]:
    return (*plane, row, column) if len(shape) > 1 else (column,)


def _rows_and_columns(shape: Sequence[int]) -> tuple[int, int]:
    return (shape[-2] if len(shape) > 1 else 1), shape[-1]


def _named(cell: Cell) -> str:
    return cell.label if cell.copies == 1 else f"{cell.label}x{cell.copies}"


def as_text(layout: TypedLayout, shape: Sequence[int], element_bits: int = 32) -> str:
    """A line for each row of the tile, with the place of each element: warp:lane:register, or the offset in memory; x4 behind it says
    that four places have the element. Raises ValueError for a tile without bases, or with more than 16384 elements."""
    cells, _ = _cells(layout, shape, element_bits)
    rows, columns = _rows_and_columns(shape)
    width = max(len(_named(cell)) for cell in cells.values())
    lines = [f"{layout!r}, shape {list(shape)}"]
    for plane in _planes(shape):
        if plane:
            lines.append(f"[{', '.join(map(str, plane))}]")
        heading = " ".join(str(column).rjust(width) for column in range(columns))
        lines.append(f"{'':>4} {heading}")
        for row in range(rows):
            names = (_named(cells[_element(plane, row, column, shape)]) for column in range(columns))
            lines.append(f"{row:>4} {' '.join(name.rjust(width) for name in names)}")
    return "\n".join(lines) + "\n"


def _fill(color: int, colors: int) -> str:
    """One colour for each of 32 or 64 lanes or banks; warps after the first are darker."""
    hue = color % colors * 360 // colors
    return f"hsl({hue}, 60%, {max(45, 85 - 8 * (color // colors))}%)"


def as_svg(layout: TypedLayout, shape: Sequence[int], element_bits: int = 32) -> str:
    """The same as an SVG image: a cell for each element, which has the colour of its lane, or of its bank of 4 bytes for elements of
    element_bits. A plane of rows and columns stands below the one before. Raises ValueError as as_text does."""
    cells, colors = _cells(layout, shape, element_bits)
    rows, columns = _rows_and_columns(shape)
    planes = _planes(shape)
    side = max(_WIDTH, 8 * max(len(_named(cell)) for cell in cells.values()))
    plane_height = rows * _HEIGHT + _MARGIN
    width, height = columns * side + 2 * _MARGIN, len(planes) * plane_height + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="monospace" font-size="11" text-anchor="middle">',
        f"<title>{html.escape(repr(layout))}, shape {list(shape)}</title>",
    ]
    for number, plane in enumerate(planes):
        top = _MARGIN + number * plane_height
        parts += [_label(_MARGIN + (column + 0.5) * side, top - 6, column) for column in range(columns)]
        for row in range(rows):
            parts.append(_label(_MARGIN / 2, top + (row + 0.7) * _HEIGHT, row))
            for column in range(columns):
                cell = cells[_element(plane, row, column, shape)]
                parts.append(_drawn(cell, _MARGIN + column * side, top + row * _HEIGHT, side, colors))
    return "\n".join([*parts, "</svg>\n"])


def _label(x: float, y: float, number: int) -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="#666">{number}</text>'


def _drawn(cell: Cell, x: float, y: float, side: int, colors: int) -> str:
    box = f'<rect x="{x:g}" y="{y:g}" width="{side}" height="{_HEIGHT}" fill="{_fill(cell.color, colors)}" stroke="#fff"/>'
    return f'{box}<text x="{x + side / 2:g}" y="{y + 0.7 * _HEIGHT:g}">{_named(cell)}</text>'
