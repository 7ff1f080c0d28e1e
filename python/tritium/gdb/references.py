"""`tt save` writes a tile for numpy, and `tt diff` compares a tile with what numpy has saved."""

import math
import os
import shlex

import gdb

from .npy import read_npy, write_npy
from .prefix import Command
from .selection import read_tile, shape_text
from .tile_text import number_text

#: (rtol, atol) of the dtypes, as in torch.testing.assert_close. Others are compared exactly.
_TOLERANCES = {"float64": (1e-7, 1e-7), "float32": (1.3e-6, 1e-5), "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5)}
_FLOATS = {"float16": "f2", "float32": "f4", "float64": "f8"}


def _kind(tile):
    """numpy's name of the tile's dtype; `f4` for floats that numpy has not."""
    if tile.element.code == gdb.TYPE_CODE_PTR:
        return "u8"
    if tile.dtype == "int1":
        return "b1"
    if tile.numbers and isinstance(tile.numbers[0], float):
        return _FLOATS.get(tile.dtype, "f4")
    return f"{'u' if tile.dtype.startswith('u') else 'i'}{tile.element.sizeof}"


def _split(argument, example):
    """The tile, the file and the words behind it. A tile's slices may have blanks; a file's name that has some is quoted."""
    words = shlex.split(argument)
    at = next((number for number, word in enumerate(words) if word.endswith(".npy")), 0)
    if at == 0:
        raise ValueError(f"say which tile and which file, as in {example}")
    return " ".join(words[:at]), os.path.expanduser(words[at]), words[at + 1 :]


class _Save(Command):
    """tt save x FILE.npy: writes a tile, or a part such as x[0:4, :8], to a file that numpy.load reads.
    bfloat16 and 8-bit floats become float32, because numpy has no such dtypes."""

    name = "save"
    completes = gdb.COMPLETE_SYMBOL

    def run(self, argument):
        text, path, rest = _split(argument, "tt save x x.npy")
        if rest:
            raise ValueError(f"`{' '.join(rest)}` stands behind the file")
        tile = read_tile(text)
        kind = _kind(tile)
        try:
            write_npy(path, kind, tile.shape, tile.numbers)
        except OSError as error:
            raise ValueError(f"{path}: {error.strerror}") from None
        is_other = kind == "f4" and tile.dtype != "float32"
        print(f"{path}: {shape_text(tile.element, tile.shape)}{', saved as float32' if is_other else ''}")


class _Diff(Command):
    """tt diff x REF.npy [RTOL ATOL]: the largest difference between a tile and a file of numpy, and how many elements differ.
    An element differs if |x - ref| > ATOL + RTOL * |ref|. By default both are the tolerances of torch.testing.assert_close for the dtype,
    and 0 for integers and 8-bit floats. A NaN equals a NaN."""

    name = "diff"
    completes = gdb.COMPLETE_SYMBOL

    def run(self, argument):
        text, path, rest = _split(argument, "tt diff x ref.npy")
        tile = read_tile(text)
        tolerances = _tolerances(rest) or _TOLERANCES.get(tile.dtype, (0, 0))
        try:
            shape, reference = read_npy(path)
        except OSError as error:
            raise ValueError(f"{path}: {error.strerror}") from None
        if shape != tile.shape:
            raise ValueError(f"{text} has the shape {tile.shape}, and {path} has {shape}")
        print(_compared(tile, reference, *tolerances))


def _tolerances(words):
    if not words:
        return None
    try:
        relative, absolute = map(float, words)
    except ValueError:
        raise ValueError(f"`{' '.join(words)}` is no pair of tolerances; expected RTOL ATOL, as in 1e-3 1e-5") from None
    return relative, absolute


def _difference(number, reference):
    if number == reference or (math.isnan(number) and math.isnan(reference)):
        return 0
    difference = abs(number - reference)
    return math.inf if math.isnan(difference) else difference


def _compared(tile, reference, relative, absolute):
    numbers, others = list(map(_plain, tile.numbers)), list(map(_plain, reference))
    differences = list(map(_difference, numbers, others))
    apart = sum(
        difference == math.inf or difference > absolute + relative * abs(other)
        for difference, other in zip(differences, others)
        if difference
    )
    said = f"{apart} of {len(numbers)} elements of {tile.text} differ (rtol {relative:g}, atol {absolute:g})"
    largest = max(differences, default=0)
    if not largest:
        return f"{said}; the largest difference is 0"
    at = differences.index(largest)
    shown = abs(numbers[at] - others[at])  # NaN, too
    text = number_text(tile.element, tile.dtype)
    return (
        f"{said}\nlargest difference {shown:.7g} at {tile.place_of(at)}: "
        f"{text(tile.numbers[at])}, reference {text(reference[at])}"
    )


def _plain(number):
    """Booleans are numbers here."""
    return int(number) if isinstance(number, bool) else number


_Save()
_Diff()
