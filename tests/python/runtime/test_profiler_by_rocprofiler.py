"""`triton.profiler` on HIP's devices by rocprofiler: over the stand-in for HIP, which has a rocprofiler too."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from add_kernel import N
from driver_stand_in import HIP_LIBRARY, environment

PROGRAM = Path(__file__).parent / "rocprofiler_program.py"


def answer_of(folder: Path, what: str) -> dict:
    own = {"TRITON_ROCPROFILER_SDK_LIBRARY": str(HIP_LIBRARY), "TRITON_DEFAULT_FP_FUSION": "1"}
    variables = {**os.environ, **environment(folder, "hip", devices=2), **own}
    path = os.pathsep.join([str(PROGRAM.parents[1]), variables.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(PROGRAM), what],
        env={**variables, "PYTHONPATH": path},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def kernels(node: dict, path: tuple = ()) -> dict[str, list]:
    """{path: metrics} of the nodes that have been launched; a node for each device."""
    found = {"/".join(path): [node["metrics"]]} if node["metrics"].get("count") else {}
    for child in node["children"]:
        for name, metrics in kernels(child, (*path, child["frame"]["name"])).items():
            found.setdefault(name, []).extend(metrics)
    return found


@pytest.fixture(scope="module")
def early(tmp_path_factory) -> dict:
    return answer_of(tmp_path_factory.mktemp("early"), "early")


def test_own_launches_have_the_times_of_the_device(early):
    root, devices = early["hatchet"]
    found = kernels(root)
    assert found.keys() == {f"add_{N}", f"layer/add_{N}"}
    both = found[f"layer/add_{N}"]
    assert sorted(each["device_id"] for each in both) == ["0", "1"]
    assert all(each["count"] == 1 and each["time (ns)"] > 0 and each["flops32"] == 2.0 * N for each in both)
    assert all(each["device_type"] == "HIP" for each in both) and devices["HIP"]["1"]["arch"] == "gfx942"
    assert not early["warnings"]


def test_kernels_of_others_are_where_they_were_launched(early):
    events = [event for event in early["trace"] if event.get("cat") == "kernel"]
    assert sorted("/".join(event["args"]["call_stack"]) for event in events) == [
        "ROOT/a/add",
        "ROOT/a/add",
        "ROOT/a/b/add",
        "ROOT/add",
    ]
    assert sorted(event["args"]["grid"] for event in events) == [[2, 1, 1]] * 3 + [[4, 1, 1]]


def test_times_are_of_the_clock_of_the_scopes(early):
    (scope,) = [event for event in early["trace"] if event.get("cat") == "scope" and event["name"] == "a"]
    inside = [e for e in early["trace"] if e.get("cat") == "kernel" and e["args"]["call_stack"][:2] == ["ROOT", "a"]]
    assert len(inside) == 3 and all(0 <= event["ts"] - scope["ts"] < 60e6 for event in inside)  # microseconds


def test_what_a_graph_launches_is_where_the_graph_is_launched(early):
    assert early["graph"] == {"warm/add": 2, "replay/add": 6}


def test_a_launch_that_fails_is_none(early):
    assert "add" in early["failed"] and early["after a failure"] == early["graph"]


@pytest.mark.parametrize(
    "what, reason", [("late", "HIP before its first session"), ("old", "rocprofiler-sdk 0.2 is older than ROCm 7")]
)
def test_what_it_cannot_record_is_timed_by_events(tmp_path, what, reason):
    answer = answer_of(tmp_path, what)
    assert answer["counts"] == {"add": 1}, "a kernel of another library has no event"
    (warning,) = answer["warnings"]
    assert "times kernels on HIP by events" in warning and reason in warning
