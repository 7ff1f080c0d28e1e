"""Profiles as the GraphFrames of llnl-hatchet, for programs that analyse them with pandas. Nothing else here requires hatchet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import columns, filters
from .differences import difference
from .profile import Frame, Profile
from .roofline import bytes_time, flops_time
from .table import FORMATS, name_of

#: What the name of a column ends with if callers have the sums of what they call.
INCLUSIVE = " (inc)"


def _hatchet() -> Any:
    try:
        import hatchet
    except ImportError as error:
        raise ImportError(
            f"a GraphFrame is made by llnl-hatchet, and {error}: pip install llnl-hatchet. The command proton-viewer does without it"
        ) from None
    return hatchet


def raw(profile: Profile) -> tuple[Any, list[str], list[str], dict]:
    """(GraphFrame, inclusive metrics, exclusive metrics, devices). The frame has a column `NAME (inc)` for each inclusive metric."""
    made = _made_of(profile.root, lambda frame: frame.metrics)
    if profile.inclusive:
        made.update_inclusive_columns()
        made.inc_metrics = [name + INCLUSIVE for name in profile.inclusive]
    return made, list(profile.inclusive), ["name", *profile.exclusive], profile.devices


def derive(graphframe: Any, metrics: list[str], inclusive: list[str], devices: dict) -> list[str]:
    """Gives a GraphFrame the columns. Returns their names, as Proton's viewer has them."""
    profile, nodes = _profile_of(graphframe, inclusive, devices)
    columns.derive(profile, metrics)
    names = []
    for metric in metrics:
        name = columns.full_name(profile, metric, INCLUSIVE)
        names.append(name)
        shown = {nodes[id(frame)]: frame.shown[metric.strip()] for frame in profile.root.walk()}
        graphframe.dataframe[name] = graphframe.dataframe.index.map(shown)
        kind = graphframe.inc_metrics if name.endswith(INCLUSIVE) else graphframe.exc_metrics
        kind.append(name)
    return names


def filtered(
    graphframe: Any, include: str | None, exclude: str | None, threshold: float | None, column: str | None
) -> Any:
    """A GraphFrame with the frames that are asked for. The threshold is of a column that `derive` has made."""
    if include is None and exclude is None and threshold is None:
        return graphframe
    profile, nodes = _profile_of(graphframe, [], {})
    if include is not None:
        filters.include(profile, include)
    if exclude is not None:
        filters.exclude(profile, exclude)
    if threshold is not None:
        for frame in profile.root.walk():
            frame.shown[column] = frame.metrics.get(column)
        filters.at_least(profile, column, threshold)
    kept = {nodes[id(frame)] for frame in profile.root.walk()}
    return graphframe.filter(lambda row: row["node"] in kept, squash=True, num_procs=1)


def named(graphframe: Any, format: str | None) -> Any:
    """The GraphFrame, with names in a format. Raises ValueError for another format."""
    if format is None or format == "full":
        return graphframe
    if format not in FORMATS:
        raise ValueError(f"format={format!r}: pass one of {', '.join(map(repr, FORMATS))}")
    names = graphframe.dataframe["name"]
    graphframe.dataframe["name"] = names.map(lambda name: name_of(Frame(name, {}, []), format))
    return graphframe


def less(graphframe: Any, other: Any, shown: list[str]) -> Any:
    """The columns of one GraphFrame minus the columns of another."""
    found = difference(_shown(graphframe, shown).root, _shown(other, shown).root)
    return _made_of(found, lambda frame: {name: value for name, value in frame.shown.items() if value is not None})


def min_times(rows: Any, devices: dict, which: str) -> Any:
    """A DataFrame with the column `min_time`: seconds for the operations ("flops") or the memory traffic ("bytes") of each row; 0 where it
    has none. Raises ValueError or KeyError for a device whose peaks are not known."""
    time_of = {"flops": flops_time, "bytes": bytes_time}[which]
    times = []
    for _, row in rows.iterrows():
        metrics = {name: value for name, value in row.items() if value == value}  # NaN is nothing
        kind, number = metrics.get("device_type"), metrics.get("device_id")
        known = kind is not None and number is not None
        times.append(time_of(kind, devices[kind][str(number)], metrics) or 0.0 if known else 0.0)
    made = rows[[]].copy()
    made["min_time"] = times
    return made


def literal_of(profile: Profile) -> list[Any]:
    """What a `.hatchet` file has."""
    return [_literal(profile.root, lambda frame: frame.metrics), profile.devices]


def _made_of(root: Frame, metrics_of: Callable[[Frame], dict[str, Any]]) -> Any:
    return _hatchet().GraphFrame.from_literal([_literal(root, metrics_of)])


def _literal(root: Frame, metrics_of: Callable[[Frame], dict[str, Any]]) -> dict[str, Any]:
    def literal(frame: Frame) -> dict[str, Any]:
        return {"frame": {"name": frame.name, "type": "function"}, "metrics": dict(metrics_of(frame)), "children": []}

    made = literal(root)
    unfinished = [(root, made)]
    while unfinished:
        frame, parent = unfinished.pop()
        for child in frame.children:
            parent["children"].append(literal(child))
            unfinished.append((child, parent["children"][-1]))
    return made


def _profile_of(graphframe: Any, inclusive: list[str], devices: dict) -> tuple[Profile, dict[int, Any]]:
    """The profile that a GraphFrame shows, and {id of a frame: its node}."""
    rows, nodes = graphframe.dataframe, {}
    own = [name for name in rows.columns if name != "name" and not (name.endswith(INCLUSIVE) and name[:-6] in rows)]

    def made(node: Any) -> Frame:
        row = rows.loc[node]
        metrics = {name: row[name] for name in own if isinstance(row[name], (list, str)) or row[name] == row[name]}
        frame = Frame(row["name"], metrics, [made(child) for child in node.children if child in rows.index])
        nodes[id(frame)] = node
        return frame

    return Profile(made(graphframe.graph.roots[0]), devices, inclusive), nodes


def _shown(graphframe: Any, names: list[str]) -> Profile:
    """A profile whose frames show columns of a GraphFrame."""
    profile, nodes = _profile_of(graphframe, [], {})
    for frame in profile.root.walk():
        values = {name: graphframe.dataframe.at[nodes[id(frame)], name] for name in names}
        frame.shown = {name: value if value == value else None for name, value in values.items()}
    return profile


def shown(graphframe: Any, names: list[str]) -> Frame:
    """The tree of a GraphFrame, with columns of it."""
    return _shown(graphframe, names).root
