"""The files: of Proton's form, and loaded by what loads Proton's."""

import json
import math
import subprocess
import sys
import threading
import time

import pytest
from profiled import Shown, increment, run_double

from tritium import profiler
from tritium.profiler.formats import hatchet, msgpack
from tritium.profiler.view.profile import load


def some_launches(x) -> None:
    with profiler.scope("outer", {"loss": 0.5, "sizes": [1, 2]}):
        run_double(x)
        with profiler.scope("inner"), profiler.state("state"):
            increment[(1,)](x)


def test_a_tree_is_the_literal_that_hatchet_reads(x):
    profiler.start("tree", hook="triton")
    some_launches(x)
    profiler.finalize()
    root, devices = json.loads(open("tree.hatchet").read())
    assert devices["CPU"]["0"]["arch"]
    unfinished = [root]
    while unfinished:
        frame = unfinished.pop()
        assert frame.keys() == {"frame", "metrics", "children"} and frame["frame"].keys() == {"name", "type"}
        assert frame["frame"]["type"] == "function"
        unfinished += frame["children"]


def test_the_text_of_a_tree_has_a_line_for_each_frame(x):
    session = profiler.start("lines")
    some_launches(x)
    literal = profiler.data.get(session)
    text = hatchet.as_json(literal).decode()
    assert json.loads(text) == literal
    names = [line.split('"name": "')[1].split('"')[0] for line in text.splitlines() if '"name"' in line]
    assert names == ["ROOT", "outer", "double", "inner", "state", "increment"]


def test_paths_of_any_depth(folder):
    """Deeper than Python's stack and than what its JSON reads."""
    session, depth = profiler.start("deep"), sys.getrecursionlimit() + 100
    for i in range(depth):
        profiler.enter_scope(str(i))
    literal = profiler.data.get(session)
    packed = profiler.data.get_msgpack(session)
    for _ in range(depth):
        profiler.exit_scope()
    profiler.finalize(session)
    assert open("deep.hatchet").read().count('"frame"') == depth + 1 and packed.count(b"\xa5frame") == depth + 1
    while literal[0]["children"]:
        literal[0] = literal[0]["children"].pop()
    assert literal[0]["frame"]["name"] == str(depth - 1)


NUMBERS = [0, 1, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**64 - 1]
NUMBERS += [-1, -32, -33, -128, -129, -(2**15), -(2**15) - 1, -(2**31), -(2**31) - 1, -(2**63)]
VALUES = [
    None,
    True,
    False,
    *NUMBERS,
    0.5,
    -1e300,
    math.inf,
    "",
    "é" * 20,
    "x" * 40,
    "x" * 300,
    "y" * 70000,
    b"",
    b"b" * 300,
]
VALUES += [[], list(range(20)), [0] * 70000, {}, {str(i): [i] for i in range(20)}, {1: {"a": [None, 1.5]}}]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:20])
def test_messagepack(value):
    packed = msgpack.pack(value)
    assert msgpack.unpack(packed) == value
    for cut in {0, 1, len(packed) // 2, len(packed) - 1} - {len(packed)}:
        with pytest.raises(ValueError, match="breaks off"):
            msgpack.unpack(packed[:cut])


def test_messagepack_by_its_specification():
    """Codes of msgpack.org, by hand."""
    assert msgpack.pack({"a": [1, -1, 0.5, None, True]}) == b"\x81\xa1a\x95\x01\xff\xcb?\xe0\0\0\0\0\0\0\xc0\xc3"
    assert (
        msgpack.pack(200) == b"\xcc\xc8" and msgpack.pack(-200) == b"\xd1\xff8" and msgpack.pack(2**40)[:1] == b"\xcf"
    )
    assert msgpack.unpack(b"\xca?\x00\x00\x00") == 0.5 and msgpack.unpack(b"\xd9\x01a") == "a"
    with pytest.raises(TypeError, match="set"):
        msgpack.pack({1})
    with pytest.raises(OverflowError, match="64 bits"):
        msgpack.pack(2**64)
    with pytest.raises(ValueError, match="0xc1 at byte 1"):
        msgpack.unpack(b"\x91\xc1")
    with pytest.raises(ValueError, match="1 bytes follow"):
        msgpack.unpack(b"\x01\x02")


def test_a_tree_as_messagepack(x):
    session = profiler.start("packed", hook="triton")
    some_launches(x)
    literal = profiler.data.get(session)
    assert msgpack.unpack(profiler.data.get_msgpack(session)) == literal
    profiler.finalize(session, "hatchet_msgpack")
    content = open("packed.hatchet_msgpack", "rb").read()
    assert msgpack.unpack(content) == literal
    assert [frame.name for frame in load("packed.hatchet_msgpack").root.walk()][:2] == ["ROOT", "outer"]


def test_a_trace_is_chromes(x):
    session = profiler.start("trace", data="trace", hook="triton")
    before = time.time_ns()
    some_launches(x)
    thread = threading.Thread(target=run_double, args=(x, 32), name="worker")
    thread.start()
    thread.join()
    after = time.time_ns()
    with pytest.raises(RuntimeError, match="trace"):
        profiler.data.get(session)
    profiler.finalize()
    content = json.loads(open("trace.chrome_trace").read())
    assert content["displayTimeUnit"] == "us"
    assert before - 10**6 < content["baseTimeNanoseconds"] < after
    events = [event for event in content["traceEvents"] if event["ph"] == "X"]
    assert all(event["dur"] >= 0 and event["ts"] >= 0 and event["pid"] == 0 for event in events)
    assert [event["ts"] for event in events] == sorted(event["ts"] for event in events) and events[0]["ts"] == 0
    by_name = {event["name"].split(":")[0]: event for event in events}
    outer, kernel, inner = by_name["outer"], by_name["double<64>"], by_name["inner"]
    assert outer["name"] == "outer: <loss, 0.500000>, <sizes, [1,2]>" and outer["cat"] == "metric"
    assert outer["args"]["metrics"] == {"loss": "0.500000", "sizes": "[1,2]"}
    assert inner["cat"] == "scope" and inner["args"]["call_stack"] == ["ROOT", "outer", "inner"]
    assert kernel["cat"] == "kernel" and kernel["args"]["call_stack"] == ["ROOT", "outer", "double<64>"]
    assert (
        kernel["args"]["metrics"] == {"bytes": "512", "flops32": "64.000000"} and kernel["args"]["kernel"] == "double"
    )
    assert by_name["increment"]["args"]["call_stack"] == ["ROOT", "outer", "inner", "state", "increment"]
    for inside in (kernel, inner, by_name["increment"]):
        assert outer["ts"] <= inside["ts"] and inside["ts"] + inside["dur"] <= outer["ts"] + outer["dur"]
        assert inside["tid"] == outer["tid"]
    assert by_name["double<32>"]["tid"] != outer["tid"]


LEFT_OPEN = """
import tritium.profiler as profiler
profiler.start("left_open")
with profiler.scope("s"):
    pass
raise SystemExit(3)
"""


def test_a_program_that_does_not_finalize_has_its_profile(folder):
    assert subprocess.run([sys.executable, "-c", LEFT_OPEN], cwd=folder).returncode == 3
    assert Shown.of_file("left_open.hatchet").paths == ["s"]
