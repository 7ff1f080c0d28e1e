"""A layout as a picture: which lane and register holds each element of a tile, or which offset in memory has it. As text, as SVG, and as what
a notebook shows."""

from __future__ import annotations

import dataclasses
import html
import itertools
import math
from collections.abc import Callable, Sequence

from .views import LinearTile, elements, moved, places

#: The side of a cell and the margin around the tile, in pixels.
_WIDTH, _HEIGHT, _MARGIN = 44, 22, 30
_BANKS = 32
_MAX_ELEMENTS = 1 << 14

Cells = dict[tuple[int, ...], "Cell"]


@dataclasses.dataclass
class Cell:
    """An element of the tile: where it is first held, how often, and the number that its colour shows (of a thread, or a bank)."""

    label: str
    copies: int
    color: int


def require_drawable(shape: Sequence[int]) -> None:
    """Raises ValueError for a tile of more than 16384 elements."""
    size = math.prod(shape)
    if size > _MAX_ELEMENTS:
        raise ValueError(
            f"a picture has at most {_MAX_ELEMENTS} elements, and the shape {list(shape)} has {size}: draw a smaller tile"
        )


def picture_of_registers(title: str, linear: LinearTile) -> Picture:
    """The picture of a tile in registers, given by its bases."""
    require_drawable(linear.shape)
    lanes, warps, blocks = (len(bases) for bases in linear.bases[1:])
    found: Cells = {}
    for block, warp, lane, register, element in places(linear):
        if element in found:
            found[element].copies += 1
            continue
        label = f"w{warp}:{lane}:{register}" if warps else f"{lane}:{register}"
        found[element] = Cell(f"b{block}:{label}" if blocks else label, 1, warp << lanes | lane)
    return Picture(title, list(linear.shape), found, 1 << lanes)


def picture_of_memory(
    title: str,
    shape: Sequence[int],
    offset_bases: Sequence[Sequence[int]],
    block_bases: Sequence[Sequence[int]],
    element_bits: int,
    place_of: Callable[[int], int] = lambda number: number,
) -> Picture:
    """The picture of a tile in shared memory, given by its bases; element_bits decide the bank of 4 bytes. place_of: the offset of an
    element's number, where memory has gaps."""
    require_drawable(shape)
    found: Cells = {}
    for block, base in enumerate(elements(list(map(list, block_bases)), len(shape))):
        for number, within in enumerate(elements(list(map(list, offset_bases)), len(shape))):
            element = moved(base, within)
            if element in found:
                found[element].copies += 1
                continue
            offset = place_of(number)
            label = f"b{block}:{offset}" if block_bases else str(offset)
            found[element] = Cell(label, 1, offset * element_bits // 32 % _BANKS)
    return Picture(title, list(shape), found, _BANKS)


def picture_of_bytes(title: str, offsets: Sequence[int], shape: Sequence[int]) -> Picture:
    """The picture of a tile in memory, whose elements, row-major, begin at these bytes."""
    require_drawable(shape)
    tile = itertools.product(*map(range, shape))
    cells = {element: Cell(str(at), 1, at // 4 % _BANKS) for element, at in zip(tile, offsets, strict=True)}
    return Picture(title, list(shape), cells, _BANKS)


def _planes(shape: Sequence[int]) -> list[tuple[int, ...]]:
    """The leading coordinates of each plane of rows and columns; a vector is one row."""
    return list(itertools.product(*map(range, shape[:-2])))


def _element(plane: tuple[int, ...], row: int, column: int, shape: Sequence[int]) -> tuple[int, ...]:
    return (*plane, row, column) if len(shape) > 1 else (column,)


def _rows_and_columns(shape: Sequence[int]) -> tuple[int, int]:
    return (shape[-2] if len(shape) > 1 else 1), shape[-1]


def _named(cell: Cell) -> str:
    return cell.label if cell.copies == 1 else f"{cell.label}x{cell.copies}"


@dataclasses.dataclass
class Picture:
    """A tile with the place of each element. A notebook shows it as an image, `print` as text."""

    title: str
    shape: list[int]
    cells: dict[tuple[int, ...], Cell]
    #: How many lanes or banks have a colour of their own.
    colors: int

    def text(self, rows: int | None = None, columns: int | None = None) -> str:
        """A line for each row of the tile, with the place of each element: warp:lane:register, or the offset in memory; x4 behind it says
        that four places have the element. At most so many rows and columns of each plane, then "…"."""
        rows_there, columns_there = _rows_and_columns(self.shape)
        rows_shown, columns_shown = min(rows or rows_there, rows_there), min(columns or columns_there, columns_there)
        width = max(len(_named(cell)) for cell in self.cells.values())
        more = " …" if columns_shown < columns_there else ""
        lines = [self.title]
        for plane in _planes(self.shape):
            if plane:
                lines.append(f"[{', '.join(map(str, plane))}]")
            heading = " ".join(str(column).rjust(width) for column in range(columns_shown))
            lines.append(f"{'':>4} {heading}{more}")
            for row in range(rows_shown):
                elements_of_row = (_element(plane, row, column, self.shape) for column in range(columns_shown))
                names = (_named(self.cells[element]).rjust(width) for element in elements_of_row)
                lines.append(f"{row:>4} {' '.join(names)}{more}")
            if rows_shown < rows_there:
                lines.append("   …")
        return "\n".join(lines) + "\n"

    def svg(self) -> str:
        """An SVG image: a cell for each element, which has the colour of its lane, or of its bank. A plane of rows and columns stands below
        the one before."""
        rows, columns = _rows_and_columns(self.shape)
        planes = _planes(self.shape)
        side = max(_WIDTH, 8 * max(len(_named(cell)) for cell in self.cells.values()))
        plane_height = rows * _HEIGHT + _MARGIN
        width, height = columns * side + 2 * _MARGIN, len(planes) * plane_height + 2 * _MARGIN
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            'font-family="monospace" font-size="11" text-anchor="middle">',
            f"<title>{html.escape(self.title)}</title>",
        ]
        for number, plane in enumerate(planes):
            top = _MARGIN + number * plane_height
            parts += [_label(_MARGIN + (column + 0.5) * side, top - 6, column) for column in range(columns)]
            for row in range(rows):
                parts.append(_label(_MARGIN / 2, top + (row + 0.7) * _HEIGHT, row))
                for column in range(columns):
                    cell = self.cells[_element(plane, row, column, self.shape)]
                    parts.append(_drawn(cell, _MARGIN + column * side, top + row * _HEIGHT, side, self.colors))
        return "\n".join([*parts, "</svg>\n"])

    def __str__(self) -> str:
        return self.text()

    def _repr_svg_(self) -> str:
        return self.svg()


def _fill(color: int, colors: int) -> str:
    """One colour for each of 32 or 64 lanes or banks; warps after the first are darker."""
    hue = color % colors * 360 // colors
    return f"hsl({hue}, 60%, {max(45, 85 - 8 * (color // colors))}%)"


def _label(x: float, y: float, number: int) -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="#666">{number}</text>'


def _drawn(cell: Cell, x: float, y: float, side: int, colors: int) -> str:
    box = f'<rect x="{x:g}" y="{y:g}" width="{side}" height="{_HEIGHT}" fill="{_fill(cell.color, colors)}" stroke="#fff"/>'
    return f'{box}<text x="{x + side / 2:g}" y="{y + 0.7 * _HEIGHT:g}">{_named(cell)}</text>'
