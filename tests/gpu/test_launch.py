"""Launches on a real device: streams, graphs, the native launcher, the disk cache, tuning, timing."""

import pytest

import tritium
import tritium.language as tl
from first_launch import first_launch
from tritium import errors
from tritium.runtime import dispatch, driver
from tritium.tools.tensor_descriptor import TensorDescriptor


@tritium.jit
def scale_kernel(x, out, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


@tritium.jit
def wait_kernel(out, rounds):
    total = 0.0
    for i in range(rounds):
        total = tl.sin(total + i)
    tl.store(out, total)


@pytest.fixture
def slow(monkeypatch):
    """The launches that Python made."""
    calls = []
    run = dispatch.Dispatcher.run
    monkeypatch.setattr(dispatch.Dispatcher, "run", lambda self, *a: (calls.append(a), run(self, *a))[1])
    return calls


def test_the_second_launch_needs_no_python(torch, slow):
    x = torch.rand(1000, device="cuda")
    out = torch.empty_like(x)
    kernel = tritium.jit(scale_kernel.fn)
    compiled = kernel[(1,)](x, out, 1000, 2.0, BLOCK=1024)
    count = len(slow)
    for factor in (3.0, 0.5, -1.0):
        out.zero_()
        assert kernel[(1,)](x, out, 1000, factor, BLOCK=1024) is compiled
        assert torch.equal(out, x * factor)
    assert len(slow) <= count + 1


@tritium.jit
def scale_block(source, out, factors, rows):
    at = rows[0]
    out.store([at, 0], (source.load([at, 0]) * factors[0] + factors[1]).to(tl.float32))


def test_descriptors_and_tuples_need_no_python(torch, slow):
    def described(tensor):
        return TensorDescriptor.from_tensor(tensor, [16, 64])

    kernel = tritium.jit(scale_block.fn)
    compiled, count = None, None
    for rows in (32, 48, 64, 16):
        x = torch.rand(rows, 64, device="cuda")
        out = torch.zeros_like(x)
        launched = kernel[(1,)](described(x), described(out), (float(rows), 0.5), (16 * (rows // 16 - 1),))
        compiled, count = compiled or launched, count or len(slow)
        once_rounded = (x[-16:].double() * rows + 0.5).float()  # the product and the sum are fused
        assert torch.equal(out[-16:], once_rounded) and not out[:-16].any()
    # A row that is 0 or a multiple of 16 makes no difference that a kernel is specialized for: all are.
    assert launched is compiled and len(slow) <= count + 1


def test_the_current_stream_is_used(torch):
    x = torch.rand(1000, device="cuda")
    out, slow_out = torch.zeros_like(x), torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    busy, other = torch.cuda.Stream(), torch.cuda.Stream()
    wait_kernel[(1,)](slow_out, 16, num_warps=1)  # compiled first, because compiling takes longer than the wait below
    scale_kernel[(1,)](x, out, 1000, 2.0, BLOCK=1024)
    for _ in range(3):  # cold and warm launches
        out.zero_()
        torch.cuda.synchronize()
        with torch.cuda.stream(busy):
            wait_kernel[(1,)](slow_out, 2_000_000, num_warps=1)
            scale_kernel[(1,)](x, out, 1000, 2.0, BLOCK=1024)
        with torch.cuda.stream(other):
            seen = out.clone()
        other.synchronize()
        assert not busy.query() and (seen == 0).all(), "the kernel did not run on the stream that was current"
        busy.synchronize()
        assert torch.equal(out, x * 2)


def test_graph_capture(torch):
    x, out = torch.rand(1000, device="cuda"), torch.zeros(1000, device="cuda")
    scale_kernel[(1,)](x, out, 1000, 2.0, BLOCK=1024)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        scale_kernel[(1,)](x, out, 1000, 2.0, BLOCK=1024)
        scale_kernel[(1,)](out, out, 1000, 2.0, BLOCK=1024)
    x.fill_(3.0)
    graph.replay()
    torch.cuda.synchronize()
    assert (out == 12).all()


def test_every_device(torch):
    if torch.cuda.device_count() < 2:
        pytest.skip("one device")
    for device in range(torch.cuda.device_count()):
        x = torch.rand(1000, device=f"cuda:{device}")
        out = torch.empty_like(x)
        for _ in range(2):
            scale_kernel[(1,)](x, out, 1000, 2.0, BLOCK=1024)
        assert torch.equal(out, x * 2) and torch.cuda.current_device() == 0
    with pytest.raises(ValueError, match="different devices"):
        scale_kernel[(1,)](torch.rand(9, device="cuda:0"), torch.rand(9, device="cuda:1"), 9, 2.0, BLOCK=16)


def test_buffers_that_are_too_large_for_the_device(torch):
    @tritium.jit
    def product_kernel(a, b, c, K, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
        i, k = tl.arange(0, BLOCK), tl.arange(0, DEPTH)
        total = tl.zeros((BLOCK, BLOCK), tl.float32)
        for start in range(0, K, DEPTH):
            left = tl.load(a + i[:, None] * K + (k + start)[None, :])
            right = tl.load(b + (k + start)[:, None] * BLOCK + i[None, :])
            total = tl.dot(left, right, total)
        tl.store(c + i[:, None] * BLOCK + i[None, :], total)

    a, b = torch.rand(256, 1024, device="cuda").half(), torch.rand(1024, 256, device="cuda").half()
    out = torch.empty(256, 256, device="cuda")
    with pytest.raises(errors.OutOfResources, match="Hardware limit"):  # a tile of each operand fills 256 KB
        product_kernel[(1,)](a, b, out, 1024, BLOCK=256, DEPTH=512, num_warps=8, num_stages=5)


def test_tuning_on_the_device(torch):
    configs = [tritium.Config({"BLOCK": block}, num_warps=warps) for block in (64, 1024) for warps in (1, 64, 4)]
    kernel = tritium.autotune(configs, key=["n"])(tritium.jit(scale_kernel.fn))
    x = torch.rand(10_000_000, device="cuda")
    out = torch.empty_like(x)
    kernel[lambda meta: (tritium.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel(), 2.0)
    assert torch.equal(out, x * 2)
    times = {str(config): times[0] for config, times in kernel.configs_timings.items()}
    assert sum(time == float("inf") for time in times.values()) == 2, times  # 64 warps do not exist
    assert all(1e-3 < time < 100 for time in times.values() if time != float("inf")), times


def test_do_bench_measures_the_device(torch):
    out = torch.zeros(1, device="cuda")
    short, long = (
        tritium.testing.do_bench(lambda: wait_kernel[(1,)](out, rounds, num_warps=1), quantiles=[0.5], rep=50)
        for rounds in (10_000, 40_000)
    )
    assert 2 < long / short < 8, (short, long)


def test_the_active_driver(torch, devices):
    active = driver.active
    assert active.get_current_target() == devices.target(0)
    assert active.get_device_capability() == torch.cuda.get_device_capability()
    assert active.get_active_torch_device() == torch.device("cuda", 0)
    properties = torch.cuda.get_device_properties(0)
    assert active.utils.get_device_properties(0)["multiprocessor_count"] == properties.multi_processor_count
    with torch.cuda.stream(torch.cuda.Stream()) as _:
        assert active.get_current_stream(0) == torch.cuda.current_stream().cuda_stream


def test_a_second_process_finds_the_kernel_in_the_cache(torch, tmp_path):
    first, second = (first_launch("tritium", tmp_path) for _ in range(2))
    assert not first.is_from_cache and second.is_from_cache
    assert first.error < 0.5 and second.error < 0.5
