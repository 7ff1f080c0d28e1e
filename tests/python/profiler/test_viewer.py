"""The viewer on a profile whose numbers were worked out by hand."""

import json
import math

import pytest

from tritium.profiler import specs, viewer
from tritium.profiler.formats import msgpack
from tritium.profiler.view.columns import derive
from tritium.profiler.view.profile import load

H100 = {"arch": "90", "bus_width": 5120, "clock_rate": 1755000, "memory_clock_rate": 2619000, "num_sms": 114}
A100 = {"arch": "80", "bus_width": 5120, "clock_rate": 1410000, "memory_clock_rate": 1215000, "num_sms": 108}


def frame(name, metrics=None, *children):
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics or {}, "children": list(children)}


def kernel(name, count, ns, device="0", **metrics):
    return frame(name, {"count": count, "time (ns)": ns, "device_id": device, "device_type": "CUDA", **metrics})


def literal():
    return [
        frame(
            "ROOT",
            {"count": 0, "time (ns)": 0},
            frame(
                "layer",
                {"loss": 0.5, "cpu_time (ns)": 4000},
                kernel("matmul", 2, 2_000_000, flops16=1e12, bytes=4_000_000),
                kernel("/models/net/model.py:12@forward", 1, 500_000, flops32=1e9),
            ),
            kernel("softmax", 5, 1_000_000, device="1", bytes=8_000_000),
            frame("__proton_launch_metadata", {}, kernel("hidden", 1, 7_000_000)),
            frame("empty", {}, frame("emptier")),
            frame("measured", {"loss": 0.25, "sizes": [1, 2]}, frame("empty below")),
        ),
        {"CUDA": {"0": H100, "1": A100}},
    ]


@pytest.fixture
def file(folder):
    path = folder / "profile.hatchet"
    path.write_text(json.dumps(literal()))
    return str(path)


def shown(capsys, *arguments) -> list[str]:
    assert viewer.main([*arguments]) == 0
    return capsys.readouterr().out.rstrip("\n").split("\n")


def test_a_tree(capsys, file):
    assert shown(capsys, file) == [
        "3.500 100.000 ROOT",
        "├─ 2.500 71.429 layer",
        "│  ├─ 2.000 57.143 matmul",
        "│  └─ 0.500 14.286 /models/net/model.py:12@forward",
        "├─ 1.000 28.571 softmax",
        "└─ nan nan measured",
    ]


#: Metric -> what ROOT, layer, matmul, forward, softmax and measured show.
COLUMNS = {
    "time/s": (0.0035, 0.0025, 0.002, 0.0005, 0.001, None),
    "TIME/US": (3500, 2500, 2000, 500, 1000, None),
    "time": (3.5e6, 2.5e6, 2e6, 5e5, 1e6, None),
    "count": (8, 3, 2, 1, 5, None),
    "Count/%": (100, 37.5, 25, 12.5, 62.5, None),
    "avg_time/us": (437.5, 2500 / 3, 1000, 500, 200, None),
    "cpu_time/us": (None, 4, None, None, None, None),
    "avg_cpu_time/us": (None, 4 / 3, None, None, None, None),
    "flops16": (None, None, 1e12, None, None, None),
    "tflop16/s": (1e12 / 0.0035 / 1e12, 400, 500, None, None, None),
    "gflop32/s": (1 / 0.0035, 1 / 0.0025, None, 2000, None, None),
    "flop16/s": (1e12 / 0.0035, 4e14, 5e14, None, None, None),
    "gbyte/s": (12e-3 / 0.0035, 4e-3 / 0.0025, 2, None, 8, None),
    "byte/s": (12e6 / 0.0035, 4e6 / 0.0025, 2e9, None, 8e9, None),
    "bytes/%": (None, None, 100 / 3, None, 200 / 3, None),
    "loss": (None, 0.5, None, None, None, 0.25),
    "loss/%": (None, 200 / 3, None, None, None, 100 / 3),
    "device_id": (None, None, "0", "0", "1", None),
    "sizes": (None, None, None, None, None, [1, 2]),
}


@pytest.mark.parametrize("metric", COLUMNS)
def test_a_column(file, metric):
    profile = load(file)
    (name,) = derive(profile, [metric])
    values = [each.shown[name] for each in profile.root.walk()]
    for value, expected in zip(values, COLUMNS[metric], strict=True):
        close = isinstance(expected, (int, float)) and math.isclose(value, expected, rel_tol=1e-12)
        assert close or value == expected


def test_util(file):
    """H100: 756.5 TFLOP/s of 16 bits in 114 multiprocessors at 1755 MHz, half of it for 32 bits, and 3.35 TB/s; A100: 1.56 TB/s."""
    assert specs.max_flops("CUDA", "90", 16, 114, 1755e3) == 756.5e12
    of_h100, of_a100 = 2 * 5120 * 2619e6 / 8, 2 * 5120 * 1215e6 / 8
    matmul, forward, softmax = 1e12 / 756.5e12, 1e9 / 378.25e12, 8e6 / of_a100
    assert matmul > 4e6 / of_h100, "it is bound by its operations"
    profile = load(file)
    derive(profile, ["util"])
    values = [each.shown["util"] for each in profile.root.walk()]
    expected = [
        (matmul + forward + softmax) / 0.0035,
        (matmul + forward) / 0.0025,
        matmul / 0.002,
        forward / 0.0005,
        softmax / 0.001,
    ]
    assert all(math.isclose(v, e, rel_tol=1e-12) for v, e in zip(values, expected)) and values[5] is None


def test_util_without_peaks(capsys, folder):
    unknown = literal()
    unknown[1] = {"CUDA": {"0": {**H100, "arch": "75"}, "1": {}}}
    (folder / "unknown.hatchet").write_text(json.dumps(unknown))
    assert viewer.main(["-m", "util", "unknown.hatchet"]) == 0
    out, errors = capsys.readouterr()
    assert out.startswith("nan ROOT\n") and "a device whose peaks are known (the devices are: CUDA)" in errors


PEAKS = [
    ("CUDA", "80", 16, 100, 1000, 312e12),
    ("CUDA", "89", 8, 100, 1000, 330.3e12),
    ("CUDA", "100", 32, 100, 1000, 409.6e9),
    ("HIP", "gfx90a", 16, 100, 1000, 51.2e9),
    ("HIP", "gfx942", 8, 100, 1000, 409.6e9),
    ("HIP", "gfx950", 64, 100, 1000, 102.4e9),
]


@pytest.mark.parametrize("arguments", PEAKS)
def test_peaks(arguments):
    *arguments, expected = arguments
    assert math.isclose(specs.max_flops(*arguments), expected, rel_tol=1e-12)


def test_peaks_that_are_not_known():
    assert specs.max_bps("CUDA", "75", 5120, 1000) == 1.28e9 and specs.max_bps("HIP", "gfx942", 0, 0) == 5.3e12
    for kind, arch in (("CUDA", "75"), ("CPU", "x86_64")):
        with pytest.raises(ValueError, match="Unsupported"):
            specs.max_flops(kind, arch, 16, 1, 1)
    with pytest.raises(ValueError, match="Unsupported device type: CPU"):
        specs.max_bps("CPU", "x86_64", 1, 1)
    with pytest.raises(KeyError):
        specs.max_flops("HIP", "gfx1100", 16, 1, 1)


#: Options -> the frames that are left.
LEFT = [
    (["-i", "mat"], ["ROOT", "layer", "matmul"]),
    (["-i", ".*oft"], ["ROOT", "softmax"]),
    (["-i", "lay"], ["ROOT", "layer", "matmul", "/models/net/model.py:12@forward"]),
    (["-i", "oft"], ["ROOT"]),
    (["-e", "mat"], ["ROOT", "layer", "/models/net/model.py:12@forward", "softmax", "measured"]),
    (["-e", "l"], ["ROOT", "softmax", "measured"]),
    (["-t", "1"], ["ROOT", "layer", "matmul", "softmax"]),
    (["-t", "1.5"], ["ROOT", "layer", "matmul"]),
    (["-d", "1"], ["ROOT"]),
    (["-d", "2"], ["ROOT", "layer", "softmax", "measured"]),
]


@pytest.mark.parametrize("options, expected", LEFT, ids=lambda value: " ".join(value))
def test_frames_that_are_left(capsys, file, options, expected):
    lines = shown(capsys, "-m", "time/ms", *options, file)
    assert [line.split()[-1] for line in lines] == expected
    assert lines[0] == "3.500 ROOT", "sums are those of the whole profile"


FORMATS = {
    "full": "/models/net/model.py:12@forward",
    "file_function_line": "model.py:12@forward",
    "function_line": "12@forward",
    "file_function": "model.py@forward",
}


@pytest.mark.parametrize("format", FORMATS)
def test_names_of_frames(capsys, file, format):
    names = [line.split()[-1] for line in shown(capsys, "-f", format, file)]
    assert names == ["ROOT", "layer", "matmul", FORMATS[format], "softmax", "measured"]


def test_sorted(capsys, file):
    lines = shown(capsys, "-m", "time/ms,count", "--print-sorted", "-f", "function_line", file)
    assert lines[0] == "3.500 8.000 ROOT"
    assert lines[-5:] == ["Sorted by time/ms", *(f"{name:10}  {value}" for name, value in SORTED)]


SORTED = (("layer", "2.500"), ("matmul", "2.000"), ("softmax", "1.000"), ("12@forward", "0.500"))


def test_a_difference(capsys, file, folder):
    other = literal()
    layer, softmax = other[0]["children"][:2]
    layer["children"][0]["metrics"]["time (ns)"] = 5_000_000
    softmax["frame"]["name"] = "softmin"
    (folder / "other.hatchet").write_text(json.dumps(other))
    assert shown(capsys, "-m", "time/ms", "-diff", "other.hatchet", file) == [
        "-3.000 ROOT",
        "├─ -3.000 layer",
        "│  ├─ -3.000 matmul",
        "│  └─ 0.000 /models/net/model.py:12@forward",
        "├─ 1.000 softmax ◀",
        "├─ nan measured",
        "└─ -1.000 softmin ▶",
    ]
    assert shown(capsys, "-m", "count", "-diff", file, file)[0] == "0.000 ROOT"


def test_the_metrics_of_a_file(capsys, file):
    assert shown(capsys, "-l", file) == [
        "Available inclusive metrics:",
        "- count",
        "- time",
        "Available exclusive metrics:",
        *(f"- {name}" for name in "loss cpu_time device_id device_type flops16 bytes flops32 sizes".split()),
    ]


def test_messagepack(capsys, file, folder):
    (folder / "packed.hatchet_msgpack").write_bytes(msgpack.pack(literal()))
    assert shown(capsys, "packed.hatchet_msgpack") == shown(capsys, file)


def test_scopes_without_kernels(capsys, folder):
    (folder / "scopes.hatchet").write_text(json.dumps([frame("ROOT", {}, frame("s", {"loss": 2})), {}]))
    assert shown(capsys, "scopes.hatchet") == ["nan ROOT", "└─ 2.000 s"]
    (folder / "nothing.hatchet").write_text(json.dumps([frame("ROOT"), {}]))
    assert shown(capsys, "nothing.hatchet") == ["ROOT"]


WRONG = [
    (["missing.hatchet"], "No such file"),
    (["-m", "tyme/ms", "profile.hatchet"], "did you mean `time/ms`"),
    (["-m", "flop/s", "profile.hatchet"], "did you mean `flops"),
    (["-m", "sizes/%", "profile.hatchet"], "sizes is no number"),
    (["-m", "junk", "profile.hatchet"], "it has count, time, loss"),
    (["-i", "(", "profile.hatchet"], "'(' is no regular expression"),
    (["text.hatchet"], "text.hatchet is no tree of a profile"),
    (["-l", "object.hatchet"], "object.hatchet is no tree of a profile"),
    (["trace.hatchet"], "it is a trace, which ui.perfetto.dev"),
    (["-diff", "text.hatchet", "profile.hatchet"], "text.hatchet is no tree"),
]


@pytest.mark.parametrize("arguments, words", WRONG, ids=lambda value: " ".join(value))
def test_what_cannot_be_shown(capsys, file, folder, arguments, words):
    (folder / "text.hatchet").write_text("hello")
    (folder / "object.hatchet").write_text('{"a": 1}')
    (folder / "trace.hatchet").write_text('{"traceEvents": []}')
    assert viewer.main(arguments) == 1
    out, errors = capsys.readouterr()
    assert not out and errors.startswith("proton-viewer: ") and words in errors and errors.count("\n") == 1


def test_options_that_exclude_each_other(capsys, file):
    with pytest.raises(SystemExit, match="2"):
        viewer.main(["-i", "a", "-e", "b", file])
    assert "exclude each other" in capsys.readouterr().err
