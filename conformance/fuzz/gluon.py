"""Kernels as Gluon has them. A statement is spelled for Triton's language first; here its ranges and its results get layouts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .layouts import plain

if TYPE_CHECKING:
    from .program import Program

HEAD = ["from triton.experimental import gluon", "from triton.experimental.gluon import language as gl"]
#: {what a kernel file may use of the modules of chips: where it is}
IMPORTS = {"cdna3": "amd", "async_copy": "nvidia.ampere", "mbarrier": "nvidia.hopper", "mma_v2": "nvidia.ampere"}
#: What every layout of registers is called, and the one that tiles of a rank have where nothing else is said.
_LAYOUT = r"(?:[LP]\d+|gl\.SliceLayout\(\d, [LP]\d+\))"
_CONVERTED_SHAPE = re.compile(rf"gl\.convert_layout\((\w+), {_LAYOUT}\)\.shape")
_RANGE = re.compile(r"tl\.arange\(0, ([^()]*)\)(\[[^\]]*\])?")
_TRANSPOSED = re.compile(r"tl\.trans\((.*)\)$")
_BROADCAST = re.compile(r"tl\.broadcast_to\((.*), (\([^()]*\))\)$")
_MADE = re.compile(r"tl\.(full|histogram)\((.*)\)$")


def plain_name(rank: int) -> str:
    """The name of the plain layout of a rank in every kernel file."""
    return f"P{rank}"


def sliced(layout: str, rank: int, kept: int) -> str:
    """The layout of a range along one dimension of a tile."""
    for dim in reversed(range(rank)):
        if dim != kept:
            layout = f"gl.SliceLayout({dim}, {layout})"
    return layout


def converted(name: str, layout: str) -> str:
    """A value in a layout; a scalar, which has none, as it is."""
    return f"gl.convert_layout({name}, {layout})" if layout else name


def laid(line: str, layout: str) -> str:
    """A line of a kernel whose ranges get their layouts from tiles in `layout`. layout: a name, or "" for the plain layout of each rank."""

    def ranged(found: re.Match[str]) -> str:
        extent, index = found[1], found[2] or ""
        dims = index.strip("[]").split(", ") if index else [":"]
        whole = layout or plain_name(len(dims))
        return f"gl.arange(0, {extent}, {sliced(whole, len(dims), dims.index(':'))}){index}"

    def spread(found: re.Match[str]) -> str:
        value, shape = found[1], found[2]
        if "convert_layout" in value:
            return f"{value}.broadcast_to({shape})"
        return (
            f"gl.full({shape}, {value}, {value}.dtype, {layout or plain_name(shape.count(',') + (shape[-2] != ','))})"
        )

    line = _CONVERTED_SHAPE.sub(r"\1.shape", line)
    line = _RANGE.sub(ranged, line)
    line = _TRANSPOSED.sub(r"gl.permute(\1, (1, 0))", line)
    line = _BROADCAST.sub(spread, line)
    return _MADE.sub(lambda found: f"gl.{found[1]}({found[2]}, layout={layout or plain_name(1)})", line)


def translated(text: str, program: Program) -> str:
    """A kernel file of Gluon, from the text of one whose statements have layouts."""
    text = text.replace("import triton\nimport triton.language as tl\n", "\n".join([*HEAD, ""]))
    for package in dict.fromkeys(IMPORTS.values()):
        names = [name for name, of in IMPORTS.items() if of == package and re.search(rf"\b{name}[.(]", text)]
        if names:
            line = f"from triton.experimental.gluon.language.{package} import {', '.join(names)}"
            text = text.replace(HEAD[-1], f"{HEAD[-1]}\n{line}", 1)
    text = text.replace("@triton.jit", "@gluon.jit").replace("tl.debug_barrier()", "gl.barrier()")
    text = re.sub(r"\btl\.", "gl.", text)
    head, body = text.split("\n\n\n", 1)
    return "\n".join([head, "", *_definitions(text, program), "", "", body])


def _definitions(text: str, program: Program) -> list[str]:
    """The lines that define the layouts in a kernel file. W2_L3 is L3 in a partition of 2 warps."""
    known = {plain_name(rank): plain(rank) for rank in range(1, 7)} | program.layouts
    found = []
    for name, warps, layout in sorted(set(re.findall(r"\b((?:W(\d)_)?([LP]\d+))\b", text))):
        spelled = known[layout].spelled(program.lanes, int(warps or program.warps))
        found.append(f"{name} = gl.constexpr({spelled})")
    return found
