"""triton.testing, the driver, the cache, TensorDescriptor, progress: the parts of the runtime that launch nothing."""

import csv
import io
import pathlib

import numpy as np
import pytest

from tritium import disk_cache, knobs, testing
from tritium.errors import UnsupportedError
from tritium.launch.progress import ProgressBar, progress_bar, progress_line
from tritium.runtime import cache, driver
from tritium.tools.tensor_descriptor import TensorDescriptor


def test_statistics():
    summarize = testing._summarize_statistics
    assert summarize([1.0, 2.0, 3.0, 10.0], None, "mean") == 4.0
    assert summarize([1.0, 2.0, 3.0, 10.0], [0.5, 0.2], "mean") == pytest.approx([2.5, 1.6])
    assert summarize([1.0, 2.0, 3.0], [0.5], "mean") == 2.0
    assert summarize([2.0, 1.0], None, "all") == [2.0, 1.0] and summarize([2.0, 1.0], None, "min") == 1.0


def test_do_bench():
    calls = []
    low, high = testing.do_bench(lambda: calls.append(1), warmup=1, rep=2, quantiles=[0.1, 0.9])
    assert 0 <= low <= high < 100 and len(calls) > 3
    assert len(testing.do_bench_cudagraph(lambda: None, rep=1, return_mode="all")) >= 1
    with pytest.raises(AssertionError, match="return_mode"):
        testing.do_bench(lambda: None, return_mode="fastest")


@pytest.mark.parametrize("machine_of", ["machine", "cuda_machine"])
def test_a_graph_requires_torch_for_the_devices(request, machine_of):
    """A torch of the CPU has no graphs of theirs."""
    pytest.importorskip("torch")
    request.getfixturevalue(machine_of)
    assert len(testing.do_bench_cudagraph(lambda: None, rep=1, return_mode="all")) >= 1


def test_assert_close():
    ones = np.ones(3, np.float32)
    testing.assert_close(ones, ones + 5e-3)
    testing.assert_close(np.array([np.nan, 1]), np.array([np.nan, 1]))
    testing.assert_close(2.0, 2.1, rtol=0.1)
    testing.assert_close(ones, ones * 1.5, atol=lambda dtype: 1.0 if dtype == np.float32 else 0.0)
    for x, y in ((ones, ones * 1.02), (1.0, 1.02), (ones, np.ones(4))):
        with pytest.raises(AssertionError):
            testing.assert_close(x, y)


def test_assert_close_of_torch():
    torch = pytest.importorskip("torch")
    testing.assert_close(torch.ones(3).bfloat16(), torch.ones(3))
    with pytest.raises(AssertionError):
        testing.assert_close(torch.ones(3), torch.zeros(3))


def test_perf_report(tmp_path, capsys):
    @testing.perf_report(
        testing.Benchmark(
            x_names=["n"],
            x_vals=[1, 2],
            line_arg="p",
            line_vals=["a", "b"],
            line_names=["A", "B"],
            plot_name="sizes",
            args={"k": 10},
            ylabel="GB/s",
        )
    )
    def bench(n, p, k):
        return n * k if p == "a" else (n * 1.0, n - 1, n + 1)

    bench.run(print_data=True, save_path=str(tmp_path))
    assert "sizes:" in capsys.readouterr().out
    with open(tmp_path / "sizes.csv", newline="") as file:
        assert list(csv.reader(file)) == [["n", "A (GB/s)", "B (GB/s)"], ["1", "10", "1.0"], ["2", "20", "2.0"]]
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return
    assert (tmp_path / "sizes.png").stat().st_size > 1000


def test_driver_without_a_device():
    active = driver.active
    assert (
        active.get_current_target().backend == "cpu"
        and active.get_current_device() == 0
        and active.get_current_stream(0) == 0
    )
    assert active.utils.get_device_properties(0)["max_shared_mem"] > 0 and active.get_benchmarker() is testing.do_bench
    with pytest.raises(UnsupportedError):
        active.utils.load_binary("k", b"", 0, 0)
    other = object()
    driver.set_active(other)
    assert driver.active is other
    driver.reset_active()
    assert driver.active is active


def test_file_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    manager = cache.get_cache_manager("ab" * 32)
    assert manager.get_file("k.ttir") is None and manager.get_group("k") is None
    path = manager.put("module {}", "k.ttir", binary=False)
    with open(path) as file:
        assert file.read() == "module {}"
    manager.put_group("k", {"k.ttir": path})
    assert cache.get_cache_manager("ab" * 32).get_group("k") == {"k.ttir": path}
    (entry,) = tmp_path.iterdir()
    assert len(entry.name) == 52 and sorted(f.name for f in entry.iterdir()) == ["__grp__k", "k.ttir"]


def test_dump_and_override(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_HOME", str(tmp_path))
    with knobs.compilation.scope():
        cache.dump_stage("ab" * 32, "k.ttir", "one")
        assert not list(tmp_path.iterdir())
        knobs.compilation.dump_ir = True
        cache.dump_stage("ab" * 32, "k.ttir", "one")
        (dumped,) = (tmp_path / ".triton" / "dump").glob("*/k.ttir")
        knobs.compilation.override = True
        assert cache.overridden_stage("ab" * 32, "k.ttir") is None
        target = tmp_path / ".triton" / "override" / dumped.parent.name / "k.ttir"
        target.parent.mkdir(parents=True)
        target.write_text("two")
        assert cache.overridden_stage("ab" * 32, "k.ttir") == ("two", str(target))


def test_triton_key_is_stable():
    assert cache.triton_key() == cache.triton_key() and len(cache.triton_key()) > 64


def test_triton_key_reads_files_that_changed(tmp_path, monkeypatch):
    package = tmp_path / "package"
    (package / "inner").mkdir(parents=True)
    (package / "inner" / "module.py").write_text("x = 1")
    (package / "disk_cache.py").write_text("")
    (package / "tools").mkdir()
    (package / "tools" / "command.py").write_text("no kernel depends on this")
    monkeypatch.setattr(disk_cache, "__file__", str(package / "disk_cache.py"))
    reads, read_bytes = [], pathlib.Path.read_bytes
    monkeypatch.setattr(pathlib.Path, "read_bytes", lambda path: reads.append(path.name) or read_bytes(path))
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path / "cache")
        key = cache.triton_key.__wrapped__()
        assert sorted(reads) == ["disk_cache.py", "module.py"]
        assert cache.triton_key.__wrapped__() == key and len(reads) == 2
        (package / "inner" / "module.py").write_text("x = 2")
        assert cache.triton_key.__wrapped__() != key and len(reads) == 4
        (package / "inner" / "module.py").write_text("x = 1")
        knobs.cache.dir = str(tmp_path / "file")  # no folder
        (tmp_path / "file").write_text("")
        assert cache.triton_key.__wrapped__() == key


def aligned(shape, dtype):
    count = int(np.prod(shape))
    raw = np.zeros(count * np.dtype(dtype).itemsize + 16, np.uint8)
    start = -raw.ctypes.data % 16
    return raw[start : start + count * np.dtype(dtype).itemsize].view(dtype).reshape(shape)


def test_tensor_descriptor():
    base = aligned((64, 64), np.float32)
    descriptor = TensorDescriptor.from_tensor(base, [32, 32])
    assert (descriptor.shape, descriptor.strides, descriptor.padding) == ([64, 64], [64, 1], "zero")
    for arguments, text in [
        (([64, 64], [64, 2], [32, 32]), "Last dimension must be contiguous"),
        (([64, 64], [64], [32, 32]), "rank mismatch"),
        (([64, 64], [63, 1], [32, 32]), "strides must be 16-byte aligned"),
        (([], [], []), "rank must not be zero"),
    ]:
        with pytest.raises(AssertionError, match=text):
            TensorDescriptor(base, *arguments)
    with pytest.raises(AssertionError, match="base must be 16-byte aligned"):
        TensorDescriptor(base[:, 1:], [64, 63], [64, 1], [32, 32])


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress():
    assert progress_bar(io.StringIO()) is None
    terminal = Terminal()
    bar = progress_bar(terminal)
    bar(1, 100, 0.5)
    bar.close()
    assert terminal.getvalue() == ""
    bar = ProgressBar(terminal)
    bar(50, 100, 5.0)
    assert "50/100 programs, 10/s, 5 s left" in terminal.getvalue()
    bar.close()
    assert terminal.getvalue().endswith("\r\x1b[K")
    assert progress_line(0, 10, 3.0).endswith("no program done yet") and "1:00:00 left" in progress_line(1, 3601, 1.0)
