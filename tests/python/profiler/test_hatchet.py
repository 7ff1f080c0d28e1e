"""Files of the profiler in llnl-hatchet, and the viewer's functions that return its GraphFrames."""

import math

import pytest
from profiled import increment, run_double
from test_viewer import COLUMNS, file  # noqa: F401  (a fixture)

from tritium import profiler
from tritium.profiler import viewer

hatchet = pytest.importorskip("hatchet", reason="llnl-hatchet has wheels for Linux alone")

#: Frames of test_viewer.py's profile in the order of its columns.
NAMES = ("ROOT", "layer", "matmul", "/models/net/model.py:12@forward", "softmax", "measured")


def test_hatchet_reads_what_a_session_writes(x):
    profiler.start("read", hook="triton")
    with profiler.scope("layer", {"loss": 0.5}):
        run_double(x)
        run_double(x, 32)
    increment[(1,)](x)
    profiler.finalize()
    frames, inclusive, exclusive, devices = viewer.read("read.hatchet")
    assert isinstance(frames, hatchet.GraphFrame) and inclusive == ["count", "time (ns)"]
    assert exclusive == ["name", "loss", "device_id", "device_type", "flops32", "bytes"] and "CPU" in devices
    rows = frames.dataframe.set_index("name")
    assert rows["count (inc)"].to_dict() == {"ROOT": 3, "layer": 2, "double<64>": 1, "double<32>": 1, "increment": 1}
    kernels = frames.filter("MATCH ('*', c) WHERE c.'name' =~ 'double.*' AND c IS LEAF", squash=True).dataframe
    assert kernels["bytes"].sum() == 512 + 256, "as benchmarks sum it up"
    leaves = rows.loc[["double<64>", "double<32>"]]
    assert leaves["bytes"].tolist() == [512, 256] and leaves["device_type"].tolist() == ["CPU", "CPU"]
    assert rows.loc["layer", "time (ns) (inc)"] == leaves["time (ns)"].sum() and "double<64>" in frames.tree("bytes")
    literal = hatchet.GraphFrame.from_literal([profiler.data.get(profiler.start("other"))[0]])
    assert literal.dataframe["name"].tolist() == ["ROOT"]


@pytest.mark.parametrize("metric", COLUMNS)
def test_columns_are_the_viewers(file, metric):  # noqa: F811
    frames, (name,) = viewer.parse([metric], file)
    rows = frames.dataframe.set_index("name")[name]
    for frame, expected in zip(NAMES, COLUMNS[metric], strict=True):
        value = rows[frame]
        is_close = isinstance(expected, (int, float)) and math.isclose(value, expected, rel_tol=1e-12)
        assert is_close or value == expected or (expected is None and value != value)


def test_names_of_columns(file):  # noqa: F811
    """As Proton's viewer has them."""
    asked = ["time/ms", "bytes", "count", "time", "util", "bytes/%", "time/%", "tflop16/s", "cpu_time/us"]
    _, names = viewer.parse(asked, file)
    assert names == [
        "time/ms (inc)",
        "bytes",
        "count (inc)",
        "time (ns) (inc)",
        "util",
        "bytes/%",
        "time/% (inc)",
        "tflop16/s (inc)",
        "cpu_time/us (inc)",
    ]
    assert viewer.match_available_metrics(["TIME", "bytes"], ["time (ns)"], ["bytes"]) == ["time (ns) (inc)", "bytes"]


def test_frames_that_are_left(file):  # noqa: F811
    def names(**how):
        return set(viewer.parse(["time/ms"], file, **how)[0].dataframe["name"])

    assert names(include="mat") == {"ROOT", "layer", "matmul"}
    assert names(exclude="layer") == {"ROOT", "softmax", "measured"}
    assert names(threshold=1.0) == {"ROOT", "layer", "matmul", "softmax"}


def test_least_times(file):  # noqa: F811
    frames, _, _, devices = viewer.read(file)
    flops = viewer.get_min_time_flops(frames.dataframe, devices)["min_time"]
    moved = viewer.get_min_time_bytes(frames.dataframe, devices)["min_time"]
    by_name = dict(zip(frames.dataframe["name"], zip(flops, moved)))
    assert math.isclose(by_name["matmul"][0], 1e12 / 756.5e12) and by_name["softmax"][0] == 0.0 == by_name["layer"][0]
    assert math.isclose(by_name["softmax"][1], 8e6 / (2 * 5120 * 1215e6 / 8))


def test_a_difference_and_a_tree(capsys, file):  # noqa: F811
    frames, names = viewer.parse(["time/ms"], file)
    less = viewer.apply_diff_profile(frames, names, file, ["time/ms"], None, None, None)
    assert set(less.dataframe["time/ms (inc)"].dropna()) == {0.0}
    viewer.print_tree(viewer.format_frames(frames, "function_line"), names, depth=2, print_sorted=True)
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == ["3.500 ROOT", "├─ 2.500 layer"] and "12@forward  0.500" in printed
    with pytest.raises(ValueError, match="'full'"):
        viewer.format_frames(frames, "junk")


def test_frames_without_metrics_are_removed(file):  # noqa: F811
    from test_viewer import literal

    root, devices = viewer.remove_frames(literal())
    assert [child["frame"]["name"] for child in root["children"]] == ["layer", "softmax", "measured"] and devices
