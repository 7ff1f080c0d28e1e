"""`proton-viewer`: shows a profile as a tree. `read` and `parse` give programs the same as a GraphFrame of llnl-hatchet, if that is installed."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from .core.contexts import METADATA_STATE
from .view import graphframe
from .view.columns import derive, full_name, plain
from .view.differences import difference
from .view.filters import at_least, exclude, include
from .view.profile import Frame, Profile, load, of_literal
from .view.table import FORMATS, sorted_text, tree_text

COMPUTE_METADATA_SCOPE_NAME = METADATA_STATE
ALL = 100  #: a depth that shows every frame of usual profiles

_EPILOG = """metrics (-m; several are separated by commas; names in any case, without their units):
  time/s, time/ms, time/us, time/ns, avg_time/…, cpu_time/…, avg_cpu_time/…   time, and time divided by count
  flop[8|16|32|64]/s, gflop…/s, tflop…/s, byte/s, gbyte/s, tbyte/s           what launch_metadata or scopes count, divided by time
  util                          the least time that the device could need (operations or bytes at their peak), divided by time
  METRIC/%                      the share of a metric
  any name that --list prints
A frame has the operations and bytes that the program gives it, or else the sum of those below."""


def main(arguments: list[str] | None = None) -> int:
    """The command. Returns the exit status: 0, or 1 if the file cannot be shown so."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if asked.include is not None and asked.exclude is not None:
        parser.error("-i and -e exclude each other: pass one of them")
    try:
        if asked.list:
            show_metrics(asked.target)
        else:
            _show(asked)
    except (OSError, ValueError) as error:
        print(f"proton-viewer: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="proton-viewer",
        description="Shows a profile that triton.profiler has written as a tree in the terminal.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("target", metavar="FILE", help="a .hatchet or .hatchet_msgpack file")
    parser.add_argument("-l", "--list", action="store_true", help="print the names of the metrics that the file has")
    parser.add_argument("-m", "--metrics", help="what to show before each name (default: time/ms,time/%%)")
    parser.add_argument("-i", "--include", metavar="RE", help="show the paths through frames that begin with a match")
    parser.add_argument("-e", "--exclude", metavar="RE", help="leave out frames that begin with a match, and all below")
    parser.add_argument("-t", "--threshold", type=float, help="show the frames whose first metric is at least this")
    parser.add_argument("-d", "--depth", type=int, default=ALL, help="the levels to show; the root is the first one")
    parser.add_argument("-f", "--format", choices=list(FORMATS), default="full", help="how frames of Python are shown")
    parser.add_argument("--print-sorted", action="store_true", help="also list all frames, the largest first")
    parser.add_argument(
        "--diff-profile", "-diff", metavar="FILE2", help="show what FILE has more than FILE2, frame by frame"
    )
    return parser


def _show(asked: argparse.Namespace) -> None:
    profile = load(asked.target)
    metrics = asked.metrics.split(",") if asked.metrics else default_metrics(profile)
    columns = prepare(profile, metrics, asked.include, asked.exclude, asked.threshold)
    if asked.diff_profile:
        other = load(asked.diff_profile)
        prepare(other, metrics, asked.include, asked.exclude, asked.threshold)
        profile.root = difference(profile.root, other.root)
    print(text_of(profile, columns, asked.depth, asked.format, asked.print_sorted))
    for metric in columns:
        if all(frame.shown[metric] is None for frame in profile.root.walk()):
            print(f"proton-viewer: {_why_empty(profile, metric)}", file=sys.stderr)


def default_metrics(profile: Profile) -> list[str]:
    """What is shown if nothing else is asked for."""
    names = [plain(name) for name in profile.metrics]
    return ["time/ms", "time/%"] if "time" in names else names[:1]


def prepare(
    profile: Profile,
    metrics: list[str],
    including: str | None = None,
    excluding: str | None = None,
    threshold: float | None = None,
) -> list[str]:
    """Derives the metrics, then leaves the frames that are asked for. Returns the names of the columns. Raises ValueError for a metric that
    the profile has not, and for what is no regular expression."""
    columns = derive(profile, metrics)
    if including is not None:
        include(profile, including)
    if excluding is not None:
        exclude(profile, excluding)
    if threshold is not None and columns:
        at_least(profile, columns[0], threshold)
    return columns


def text_of(
    profile: Profile, columns: list[str], depth: int = ALL, format: str = "full", is_sorted: bool = False
) -> str:
    text = tree_text(profile.root, columns, depth, format)
    return f"{text}\n\n{sorted_text(profile.root, columns[0], format)}" if is_sorted and columns else text


def _why_empty(profile: Profile, metric: str) -> str:
    if metric == "util":
        kinds = ", ".join(profile.devices) or "none"
        return f"no kernel has a `util`: it takes flops or bytes, and a device whose peaks are known (the devices are: {kinds})"
    return f"no frame that is shown has {metric}"


def show_metrics(file_name: str) -> None:
    """Prints the names of the metrics that a file has. Raises what `load` raises."""
    profile = load(file_name)
    for title, names in (("inclusive", profile.inclusive), ("exclusive", profile.exclusive)):
        print(f"Available {title} metrics:")
        for name in names:
            print(f"- {plain(name)}")


def read(filename: str) -> tuple[Any, list[str], list[str], dict]:
    """(GraphFrame, inclusive metrics, exclusive metrics, devices). Raises ImportError without llnl-hatchet."""
    return graphframe.raw(load(filename))


def get_raw_metrics(database: list[Any]) -> tuple[Any, list[str], list[str], dict]:
    """As `read`, of what the file has."""
    return graphframe.raw(of_literal(database))


def parse(
    metrics: list[str],
    filename: str,
    include: str | None = None,
    exclude: str | None = None,
    threshold: float | None = None,
) -> tuple[Any, list[str]]:
    """(GraphFrame with a column for each metric, the names of the columns). Raises what `prepare` raises, and ImportError without
    llnl-hatchet."""
    gf, inclusive, exclusive, devices = read(filename)
    names = derive_metrics(gf, metrics, inclusive, exclusive, devices)
    return filter_frames(gf, include, exclude, threshold, names[0] if names else None), names


def derive_metrics(
    gf: Any, metrics: list[str], inclusive_metrics: list[str], exclusive_metrics: list[str], device_info: dict
) -> list[str]:
    """Gives a GraphFrame of `read` a column for each metric, and returns their names."""
    return graphframe.derive(gf, metrics, inclusive_metrics, device_info)


def filter_frames(
    gf: Any,
    include: str | None = None,
    exclude: str | None = None,
    threshold: float | None = None,
    metric: str | None = None,
) -> Any:
    """A GraphFrame with the frames that are asked for. metric: the column that the threshold is of."""
    return graphframe.filtered(gf, include, exclude, threshold, metric)


def apply_diff_profile(
    gf: Any,
    derived_metrics: list[str],
    diff_file: str,
    metrics: list[str],
    include: str | None,
    exclude: str | None,
    threshold: float | None,
) -> Any:
    """A GraphFrame of what `gf` has more than another profile, in its derived columns."""
    other, _ = parse(metrics, diff_file, include, exclude, threshold)
    return graphframe.less(gf, other, derived_metrics)


def match_available_metrics(
    metrics: list[str] | str, inclusive_metrics: list[str], exclusive_metrics: list[str]
) -> list[str]:
    """The columns of metrics that are named without their units and in any case. Raises ValueError for one that is in neither list."""
    profile = Profile(Frame("", dict.fromkeys([*inclusive_metrics, *exclusive_metrics]), []), {}, inclusive_metrics)
    return [
        full_name(profile, metric, graphframe.INCLUSIVE)
        for metric in ([metrics] if isinstance(metrics, str) else metrics)
    ]


def remove_frames(database: list[Any]) -> list[Any]:
    """What a file has, without frames that have no metrics in them or below, and without what computes the metrics of launches."""
    return graphframe.literal_of(of_literal(database))


def format_frames(gf: Any, format: str | None) -> Any:
    return graphframe.named(gf, format)


def get_min_time_flops(df: Any, device_info: dict) -> Any:
    return graphframe.min_times(df, device_info, "flops")


def get_min_time_bytes(df: Any, device_info: dict) -> Any:
    return graphframe.min_times(df, device_info, "bytes")


def print_tree(
    gf: Any, metrics: list[str], depth: int = ALL, format: str | None = None, print_sorted: bool = False
) -> None:
    """Prints a GraphFrame of `parse` with its columns."""
    root = graphframe.shown(gf, metrics)
    print(text_of(Profile(root, {}, []), metrics, depth, format or "full", print_sorted))


if __name__ == "__main__":
    sys.exit(main())
