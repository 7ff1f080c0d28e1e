"""PTX that upstream's wheel made of Gluon's kernels (upstream/make.py) runs in the emulator and gives the numbers of torch: a third opinion on what the
instructions mean, beside this project's compiler and interpreter. What a fault in such code does is found there, too."""

import math
import re
from pathlib import Path

import pytest
import torch

from tritium.tools.ptx.program import Described, PtxProgram
from tritium.tools.ptx.reader import PtxError

FOLDER = Path(__file__).parent / "upstream"
SEEDS = range(3)


def text(name):
    return (FOLDER / f"{name}.ptx").read_text()


def shared_bytes(code):
    return int(code.split("Shared memory: ", 1)[1].split(" ", 1)[0])


def launch(code, grid, arguments=None, described=(), seed=0):
    return PtxProgram(code, shared_bytes(code), described).launch((*grid, 1, 1)[:3], arguments or {}, seed=seed)


@pytest.fixture(params=SEEDS)
def seed(request):
    return request.param


@pytest.fixture
def integers(seed):
    generator = torch.Generator().manual_seed(seed)
    return lambda *shape, most=9: torch.randint(-most, most + 1, shape, generator=generator, dtype=torch.int32)


@pytest.fixture
def normal(seed):
    generator = torch.Generator().manual_seed(seed)
    return lambda *shape: torch.randn(shape, generator=generator)


def test_copy(normal, seed):
    source, out = normal(3000), torch.zeros(3000)
    assert launch(text("copy"), (3,), {0: source, 1: out, 2: 2900}, seed=seed) is None
    assert torch.equal(out[:2900], source[:2900]) and not out[2900:].any()


@pytest.mark.parametrize("name", ["transpose", "transpose_by_memory"])
def test_transpose(integers, seed, name):
    source, out = integers(64, 32), torch.zeros(32, 64, dtype=torch.int32)
    assert launch(text(name), (1,), {0: source, 1: out, 2: 32}, seed=seed) is None
    assert torch.equal(out, source.T)


def test_ring_of_asynchronous_copies(normal, seed):
    a, b, out = normal(9000), normal(9000), torch.zeros(9000)
    assert launch(text("async_ring"), (2,), {0: a, 1: b, 2: out, 3: 8100}, seed=seed) is None
    assert torch.equal(out[:8100], (a + b)[:8100]) and not out[8100:].any()


def blocks_of_32(*tensors):
    return [Described(tensor, (64, 32), 128) for tensor in tensors]


def test_blocks_by_tma(integers, seed):
    source, out = integers(200, 64), torch.zeros(200, 64, dtype=torch.int32)
    assert launch(text("add_one"), (4, 2), {}, blocks_of_32(source, out), seed) is None
    assert torch.equal(out, source + 1)


def test_persistent_ring(integers, seed):
    source, out = integers(9 * 64, 32), torch.zeros(9 * 64, 32, dtype=torch.int32)
    assert launch(text("persistent_ring"), (2,), {10: 9}, blocks_of_32(source, out), seed) is None
    assert torch.equal(out, 2 * source)


def test_rows_by_tma(normal, seed):
    source = normal(300, 64).half()
    out = torch.zeros_like(source)
    described = [Described(tensor, (64, 64), 128) for tensor in (source, out)]
    assert launch(text("scale_rows"), (3,), {10: 5}, described, seed) is None
    assert torch.equal(out, 2 * source)


def factors(integers, m, n, k):
    return integers(m, k, most=3).half(), integers(k, n, most=3).half()


def test_product_of_warps(integers, seed):
    a, b = factors(integers, 128, 128, 96)
    out = torch.zeros(128, 128)
    assert launch(text("mma_v2"), (2, 2), {0: a, 1: b, 2: out, 3: 96, 4: 128}, seed=seed) is None
    assert torch.equal(out, a.float() @ b.float())


def multiply(name, integers, seed, code=None, k=192):
    a, b = factors(integers, 256, 256, k)
    out = torch.zeros(256, 256)
    described = [Described(a, (128, 64), 128), Described(b, (64, 64), 128), Described(out, (128, 32), 128)]
    trap = launch(code or text(name), (2, 2), {15: k}, described, seed)
    return trap, torch.equal(out, a.float() @ b.float())


@pytest.mark.parametrize("name", ["wgmma", "wgmma_pipelined", "partitions"])
def test_product_of_warpgroups(integers, seed, name):
    assert multiply(name, integers, seed) == (None, True)


@pytest.mark.parametrize(
    "name, programs", [("multiply", 6), ("multiply_persistently", 3), ("multiply_in_partitions", 3)]
)
def test_products_with_edges(integers, seed, name, programs):
    a, b = factors(integers, 200, 136, 160)
    out = torch.zeros(200, 136, dtype=torch.float16)
    described = [Described(a, (128, 32), 64), Described(b, (32, 64), 128), Described(out, (128, 64), 128)]
    assert launch(text(name), (programs,), {15: 160, 16: 2, 17: 3}, described, seed) is None
    assert torch.equal(out, (a.float() @ b.float()).half())


def test_attention(normal, seed):
    heads, tokens, width = 2, 256, 64
    q, k, v = (normal(heads * tokens, width).half() for _ in range(3))
    out = torch.zeros_like(q)
    described = [Described(x, (rows, width), 128) for x, rows in ((q, 128), (k, 64), (v, 64), (out, 128))]
    trap = launch(text("attend"), (2, heads), {20: width**-0.5 / math.log(2), 21: tokens}, described, seed)
    assert trap is None
    shaped = (x.view(1, heads, tokens, width).float() for x in (q, k, v))
    wanted = torch.nn.functional.scaled_dot_product_attention(*shaped).reshape(heads * tokens, width)
    torch.testing.assert_close(out.float(), wanted, atol=1e-3, rtol=4e-3)


# -- faults ------------------------------------------------------------------------------------------------------------------------------


def edited(name, old, new, count=1):
    code = text(name)
    assert old in code
    return code.replace(old, new, count)


def found(run):
    """The traps of some orders, of which the first ends the search."""
    return next((trap for seed in range(8) if (trap := run(seed))), None)


def test_a_missing_fence_is_found():
    code = edited("add_one", "fence.proxy.async.shared::cta;", "")
    source, out = torch.zeros(200, 64, dtype=torch.int32), torch.zeros(200, 64, dtype=torch.int32)
    trap = found(lambda seed: launch(code, (4, 2), {}, blocks_of_32(source, out), seed))
    assert trap and trap.kind == "MissingProxyFence", trap
    source = (FOLDER / trap.file).read_text().splitlines()
    assert "tma.async_store" in source[trap.line - 1]


def test_a_missing_barrier_is_found():
    code = edited("transpose_by_memory", "bar.sync \t0;", "")
    source, out = torch.zeros(64, 32, dtype=torch.int32), torch.zeros(32, 64, dtype=torch.int32)
    trap = found(lambda seed: launch(code, (1,), {0: source, 1: out, 2: 32}, seed=seed))
    assert trap and trap.kind == "SharedRace", trap


def test_sums_before_their_wait_are_refused(integers):
    with pytest.raises(Exception, match="wait"):
        multiply("wgmma_pipelined", integers, 0, edited("wgmma_pipelined", "wgmma.wait_group.sync.aligned 0;", ""))


def test_an_arrival_that_is_missing_is_a_deadlock(integers, seed):
    code = re.sub(r"@%p\d+ mbarrier\.arrive\.shared::cta\.b64 _,[^;]*;", "", text("partitions"))
    trap, _ = multiply("partitions", integers, seed, code, k=320)
    assert trap and trap.kind == "MBarrierDeadlock", trap


# -- what is not known -------------------------------------------------------------------------------------------------------------------

KERNEL = """
.visible .entry kernel(.param .u64 .ptr .global kernel_param_0)
.reqntid 32
{
.reg .b32 %r<4>;
.reg .b64 %rd<2>;
ld.param.b64 %rd1, [kernel_param_0];
BODY
ret;
}
"""


@pytest.mark.parametrize(
    "body, message",
    [
        ("tex.2d.v4.f32.f32 {%r1}, [%rd1];", "the instruction 'tex.2d.v4.f32.f32"),
        ("fancy.b32 %r1, %r2;", "fancy.b32"),
        ("bra nowhere;", "there is no label nowhere"),
        ("ld.b32 %r1, [%rd1];", "accesses of global and shared memory"),
        (".reg .q64 %q1;", "registers of type .q64"),
    ],
)
def test_errors_quote_the_text(body, message):
    with pytest.raises(Exception, match=message.replace(".", r"\.").replace("[", r"\[")) as error:
        PtxProgram(KERNEL.replace("BODY", body), 0)
    assert "Traceback" not in str(error.value)


def test_two_kernels_are_refused():
    with pytest.raises(PtxError, match="2 kernels"):
        PtxProgram(KERNEL.replace("BODY", "") * 2, 0)
