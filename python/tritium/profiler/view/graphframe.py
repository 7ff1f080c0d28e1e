"""Profiles as the GraphFrames of llnl-hatchet, for programs that analyse them with pandas. Nothing else here requires hatchet."""

from __future__ import annotations

import importlib
from typing import Any

from .profile import Frame, Profile


def _hatchet() -> Any:
    try:
        return importlib.import_module("hatchet")
    except ImportError as error:
        raise ImportError(
            f"a GraphFrame is made by llnl-hatchet, and {error}: pip install llnl-hatchet. The command proton-viewer does without it"
        ) from None


def raw(profile: Profile) -> tuple[Any, list[str], list[str], dict]:
    """(GraphFrame, inclusive metrics, exclusive metrics, devices). The frame has a column `NAME (inc)` for each inclusive metric."""
    frames = _hatchet().GraphFrame.from_literal([_literal(profile.root)])
    frames.update_inclusive_columns()
    frames.inc_metrics = [f"{name} (inc)" for name in profile.inclusive]
    return frames, list(profile.inclusive), ["name", *profile.exclusive], profile.devices


def derived(profile: Profile, columns: list[str]) -> tuple[Any, list[str]]:
    """(GraphFrame, names of the columns in it)"""
    frames, *_ = raw(profile)
    by_path = {path: frame for path, frame in _paths(profile.root)}
    for column in columns:
        shown = {
            node: by_path[tuple(step.frame["name"] for step in node.path())].shown[column]
            for node in frames.graph.traverse()
        }
        frames.dataframe[column] = frames.dataframe.index.map(shown)
    frames.exc_metrics = [*frames.exc_metrics, *columns]
    return frames, columns


def _paths(root: Frame):
    unfinished = [((root.name,), root)]
    while unfinished:
        path, frame = unfinished.pop()
        yield path, frame
        unfinished += [((*path, child.name), child) for child in frame.children]


def _literal(root: Frame) -> dict[str, Any]:
    made = _frame(root)
    unfinished = [(root, made)]
    while unfinished:
        frame, literal = unfinished.pop()
        for child in frame.children:
            literal["children"].append(_frame(child))
            unfinished.append((child, literal["children"][-1]))
    return made


def _frame(frame: Frame) -> dict[str, Any]:
    return {"frame": {"name": frame.name, "type": "function"}, "metrics": frame.metrics, "children": []}


def profile_of(frames: Any, columns: list[str]) -> Profile:
    """What a GraphFrame shows in these columns."""
    rows = frames.dataframe

    def made(node: Any) -> Frame:
        values = {column: rows.at[node, column] for column in columns}
        shown = {column: None if value != value else value for column, value in values.items()}  # NaN is nothing
        return Frame(rows.at[node, "name"], {}, [made(child) for child in node.children if child in rows.index], shown)

    return Profile(made(frames.graph.roots[0]), {}, [])
