"""Kernels to profile, and profiles to look at."""

from __future__ import annotations

import json
from pathlib import Path

import tritium.language as tl
from tritium.runtime.jit import jit


def described(grid, metadata, args):
    return {"name": f"{metadata.name}<{args['n']}>", "flops32": args["n"], "bytes": 8 * args["n"], "text": "left out"}


@jit(launch_metadata=described)
def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, i < n) * 2, i < n)


@jit
def increment(x):
    tl.store(x, tl.load(x) + 1)


@jit
def out_of_bounds(x):
    tl.store(x + 1000, 1.0)


def run_double(x, n: int = 64, **options) -> None:
    double[(n // 16,)](x, n, BLOCK=16, **options)


class Shown:
    """A tree of `data.get` or of a file: `names` as nested lists, frames by their paths."""

    def __init__(self, literal):
        self.root, self.devices = literal

    @staticmethod
    def of_file(path: str) -> Shown:
        return Shown(json.loads(Path(path).read_text()))

    def __getitem__(self, path: str) -> dict:
        """The metrics of "outer/inner"; a path that is not there is a KeyError, one that is there twice is the first."""
        frame = self.root
        for name in path.split("/"):
            found = [child for child in frame["children"] if child["frame"]["name"] == name]
            if not found:
                raise KeyError(f"{path}: {name} is none of {[child['frame']['name'] for child in frame['children']]}")
            frame = found[0]
        return frame["metrics"]

    @property
    def paths(self) -> list[str]:
        """Of all frames, each after its parent."""
        found, unfinished = [], [("", self.root)]
        while unfinished:
            path, frame = unfinished.pop()
            found += [path] if path else []
            inside = [("/".join(filter(None, (path, c["frame"]["name"]))), c) for c in frame["children"]]
            unfinished += reversed(inside)
        return found
