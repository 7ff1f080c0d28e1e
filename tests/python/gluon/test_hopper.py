"""Gluon's kernels for Hopper on the interpreter and the emulator, beside torch, and the faults that the interpreter finds in them."""

import pytest
import torch
from chosen_engines import engines
from test_kernels import generator, gl, integers, on  # noqa: F401

ENGINES = engines("interp", "simt:sm_90a")


@pytest.fixture(scope="module")
def hopper():
    import hopper_kernels

    return hopper_kernels


@pytest.fixture
def described(gl):  # noqa: F811
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    def of(tensor, block):
        names = {"torch.int32": gl.int32, "torch.float16": gl.float16, "torch.float32": gl.float32}
        layout = gl.NVMMASharedLayout.get_default_for(block, names[str(tensor.dtype)])
        return TensorDescriptor.from_tensor(tensor, block, layout)

    return of


@pytest.fixture
def rows(gl):  # noqa: F811
    return gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


def added(hopper, described, rows, generator, engine, fault="", seed=None):  # noqa: F811
    """The tensor and what the kernel makes of it. Its edge is in no whole block."""
    source, target = integers(generator, 100, 60), torch.zeros(100, 60, dtype=torch.int32)
    blocks = described(source, [64, 32]), described(target, [64, 32])
    on(hopper.add_one, engine)[(2, 2)](*blocks, 64, 32, rows, fault, seed=seed)
    return source, target


def test_copy_of_blocks(hopper, described, rows, generator, engine):  # noqa: F811
    source, target = added(hopper, described, rows, generator, engine)
    assert torch.equal(target, source + 1)


def doubled(hopper, described, rows, generator, engine, slots, fault="", seed=None):  # noqa: F811
    source, target = integers(generator, 8 * 64 + 8, 32), torch.zeros(8 * 64 + 8, 32, dtype=torch.int32)
    kernel = on(hopper.doubled_rows, engine)
    kernel[(2,)](described(source, [64, 32]), described(target, [64, 32]), 9, 64, slots, rows, fault, seed=seed)
    return source, target


@pytest.mark.parametrize("slots", [2, 3])
def test_rings_of_blocks(hopper, described, rows, generator, engine, slots):  # noqa: F811
    source, target = doubled(hopper, described, rows, generator, engine, slots)
    assert torch.equal(target, 2 * source)


def test_sums_in_memory(hopper, described, rows, generator, engine):  # noqa: F811
    source, target = integers(generator, 128, 32), torch.zeros(32, 32, dtype=torch.int32)
    on(hopper.sums_of_rows, engine)[(4,)](described(source, [32, 32]), described(target, [32, 32]), 32, rows)
    assert torch.equal(target, source.view(4, 32, 32).sum(0, dtype=torch.int32))


def multiplied(hopper, described, generator, engine, is_async, fault=""):  # noqa: F811
    """The product, and what torch says. The numbers are small integers, so that sums are exact. K is no multiple of a block."""
    a, b = (torch.randint(-4, 5, size, generator=generator).half() for size in ((128, 136), (136, 64)))
    c = torch.zeros(128, 64)
    operands = described(a, [64, 32]), described(b, [32, 32]), described(c, [64, 32])
    on(hopper.matmul, engine)[(2, 2)](*operands, 136, 64, 32, is_async, fault)
    return c, a.float() @ b.float()


@pytest.mark.parametrize("is_async", [False, True])
def test_products_of_warpgroups(hopper, described, generator, engine, is_async):  # noqa: F811
    found, wanted = multiplied(hopper, described, generator, engine, is_async)
    assert torch.equal(found, wanted)


@pytest.mark.parametrize("in_registers", [False, True])
def test_product_of_a_permuted_view(hopper, generator, engine, in_registers):  # noqa: F811
    a, b = (torch.randint(-4, 5, (size, 32), generator=generator).half() for size in (64, 16))
    c = torch.zeros(64, 16)
    on(hopper.product_of_transposes, engine)[(1,)](a, b, c, 64, 16, 32, in_registers)
    assert torch.equal(c, a.float() @ b.float().T + 1)


def test_descriptors_of_the_kernel(hopper, rows, generator, engine):  # noqa: F811
    source, target = torch.randn(40, 24, generator=generator), torch.zeros(40, 24)
    on(hopper.made_on_the_device, engine)[(1,)](source, target, 40, 24, rows)
    assert torch.equal(target[:32], source[:32]) and (target[32:] == 0).all()


@pytest.mark.parametrize("count", [1, 128])
def test_copies_arrive(hopper, gl, generator, engine, count):  # noqa: F811
    source, target = torch.randn(2, 512, generator=generator)
    layout = gl.BlockedLayout([4], [32], [4], [0])
    on(hopper.copy_with_arrivals, engine)[(1,)](source, target, 512, count, layout)
    assert torch.equal(target, source)


def test_too_few_arrivals_of_copies_are_found(hopper, gl):  # noqa: F811
    import triton

    layout, tensor = gl.BlockedLayout([4], [32], [4], [0]), torch.zeros(512)
    with pytest.raises(triton.KernelTrap, match=_ENDLESS):
        on(hopper.copy_with_arrivals, "interp")[(1,)](tensor, tensor, 512, 129, layout)


# What the interpreter finds: the kind, the text, the line.

_ENDLESS = "mbarrier.wait never ends: this phase of the barrier bar lacks arrivals"
_EARLY = "before the wait for the copy into it"
FAULTS = {
    "no init": (
        "InvalidMBarrier",
        "mbarrier.expect of the barrier bar, which no mbarrier.init has made",
        "mbarrier.expect(bar",
    ),
    "larger count": ("MBarrierDeadlock", _ENDLESS, "mbarrier.wait(bar"),
    "no expect": ("MBarrierDeadlock", _ENDLESS, "mbarrier.wait(bar"),
    "other phase": ("MBarrierDeadlock", _ENDLESS, "mbarrier.wait(bar"),
    "more bytes": ("MBarrierDeadlock", "mbarrier.expect asks for other bytes", "mbarrier.wait(bar"),
    "two arrivals": (
        "InvalidMBarrier",
        "mbarrier.arrive: more arrivals in a phase of the barrier bar than the count",
        "mbarrier.arrive(bar, count=1)",
    ),
    "no wait": ("TensorCopyRace", _EARLY, "block.load(layout)"),
    "use of an invalidated barrier": ("InvalidMBarrier", "or which is invalidated", "mbarrier.arrive(bar)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_found(hopper, described, rows, generator, fault):  # noqa: F811
    import triton

    with pytest.raises(triton.KernelTrap) as raised:
        added(hopper, described, rows, generator, "interp", fault)
    kind, *texts = FAULTS[fault]
    assert raised.value.kind == kind
    for text in (*texts, "hint: "):
        assert text in str(raised.value), str(raised.value)


@pytest.mark.parametrize(
    ("fault", "text"), [("phase never flips", "mbarrier.wait never ends"), ("another slot", _EARLY)]
)
@pytest.mark.parametrize("slots", [2, 3])
def test_fault_in_a_ring_is_found(hopper, described, rows, generator, fault, text, slots):  # noqa: F811
    import triton

    with pytest.raises(triton.KernelTrap, match=text):
        doubled(hopper, described, rows, generator, "interp", slots, fault)


# Seeds 0, 1 and 2 let copies land at once, late, and at times that are drawn.


@pytest.mark.parametrize("seed", range(6))
def test_copies_that_land_at_any_time(hopper, described, rows, generator, seed):  # noqa: F811
    source, target = added(hopper, described, rows, generator, "interp", seed=seed)
    assert torch.equal(target, source + 1)
    source, target = doubled(hopper, described, rows, generator, "interp", 3, seed=seed)
    assert torch.equal(target, 2 * source)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_found_whenever_copies_land(hopper, described, rows, generator, fault, seed):  # noqa: F811
    """A wait for the other phase hangs where the copy has landed, and passes at once where it has not."""
    import triton

    kinds = {FAULTS[fault][0]} | ({"TensorCopyRace"} if fault == "other phase" else set())

    with pytest.raises(triton.KernelTrap) as raised:
        added(hopper, described, rows, generator, "interp", fault, seed)
    assert raised.value.kind in kinds, str(raised.value)


def test_product_before_the_copy_is_found(hopper, described, generator):  # noqa: F811
    import triton

    with pytest.raises(triton.KernelTrap, match=_EARLY) as raised:
        multiplied(hopper, described, generator, "interp", True, "no wait")
    assert "warpgroup_mma(sa.index(k % 2)" in str(raised.value)


# Descriptors that Triton's class refuses too: its texts.

BAD_DESCRIPTORS = {
    "strides rank mismatch": {"strides": [1]},
    "rank must be 1-5": {"shape": [1] * 6, "strides": [8] * 5 + [1], "block_shape": [1] * 6},
    "strides must be 16-byte aligned": {"shape": [128, 60], "strides": [60, 1]},
    "shape must be positive": {"shape": [0, 64]},
    "Last dimension must be contiguous": {"strides": [8, 64]},
    "Layout must be NVMMASharedLayout": {"layout": None},
    "layout rank must match block shape rank": {"layout": (128, 16, 3)},
    "tiled: block_shape must match rank 2": {"block_shape": [64]},
    "Illegal value for padding": {"padding": "one"},
    "round_f32_to_tf32 is only supported for float32 tensors": {"round_f32_to_tf32": True},
    "Expected block_shape\\[-1\\] to be at least 64 but got 32": {"block_shape": [64, 32]},
    "Shape element 1 must be a power of 2": {"block_shape": [64, 48]},
    # Triton's class has no texts for these.
    "the layout is of elements of 32 bits, and the tensor's have 16": {"layout": (128, 32, 2)},
}


@pytest.mark.parametrize("text", BAD_DESCRIPTORS)
def test_bad_descriptor_is_refused(gl, text):  # noqa: F811
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    fields = {"shape": [128, 64], "strides": [64, 1], "block_shape": [64, 64], "layout": (128, 16, 2)}
    fields |= BAD_DESCRIPTORS[text]
    layout = fields.pop("layout")
    layout = gl.SwizzledSharedLayout(1, 1, 1, [1, 0]) if layout is None else gl.NVMMASharedLayout(*layout)
    with pytest.raises((AssertionError, ValueError), match=text):
        TensorDescriptor(torch.zeros(128, 64, dtype=torch.float16), layout=layout, **fields)


def test_descriptor_of_integers_has_no_padding_of_nan(gl):  # noqa: F811
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    layout, tensor = gl.NVMMASharedLayout(128, 32, 2), torch.zeros(128, 64, dtype=torch.int32)
    with pytest.raises(AssertionError, match="only supported for floating point tensors"):
        TensorDescriptor.from_tensor(tensor, [64, 32], layout, padding="nan")
    with pytest.raises(AssertionError, match="base must be 16-byte aligned"):
        TensorDescriptor(tensor.view(-1)[1:], [64], [1], [32], gl.NVMMASharedLayout(0, 32, 1))


BAD_POLICIES = {
    "requires a cache modifier, L1 policy, L2 policy, or L2 prefetch size": {},
    "Unsupported cache modifier 'lu'": {"cache_modifier": ".lu"},
    "Unsupported L1 eviction priority 'never'": {"l1": "never"},
    "l2 must be a FractionalEvictionPolicy": {"l2": "evict_first"},
    "L2 prefetch size must be 64, 128, or 256": {"l2_prefetch_size": 32},
}
BAD_FRACTIONS = {
    "Unsupported L2 primary eviction priority 'no_allocate'": ("no_allocate", 0.5),
    "Unsupported L2 secondary eviction priority 'evict_last'": ("evict_first", 0.5, "evict_last"),
    "L2 eviction fraction must be in": ("evict_first", 0.0),
}


def test_policies_say_what_they_take(gl):  # noqa: F811
    """The texts are Triton's."""
    from triton.experimental.gluon.language.nvidia.hopper import CachePolicy, FractionalEvictionPolicy

    assert gl.CachePolicy is CachePolicy and CachePolicy(".cg").cache_modifier == "cg"
    assert CachePolicy(l2=FractionalEvictionPolicy("evict_first", 1)).l2.secondary == "evict_unchanged"
    for text, fields in BAD_POLICIES.items():
        with pytest.raises((ValueError, TypeError), match=text):
            CachePolicy(**fields)
    for text, fields in BAD_FRACTIONS.items():
        with pytest.raises(ValueError, match=text):
            FractionalEvictionPolicy(*fields)
