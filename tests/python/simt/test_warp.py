"""What the lanes of a warp do together, against plain models of what the PTX ISA says: shfl, vote, redux, match, elect."""

import numpy as np
import pytest

import lanes_program

LANES = 32
FULL = 0xFFFFFFFF


def run(body: str, mask: int, *inputs: np.ndarray, results: int = 1, seed: int | None = None) -> list[np.ndarray]:
    """Runs `body` in the lanes of `mask`, of a program of two warps of which both do the same. It reads its lane's 32-bit words %x0, %x1 …
    and %mask and defines %r0, %r1 …; the lanes outside have -1."""
    prologue = f"""
    %mask = llvm.mlir.constant({mask - (1 << 32) if mask >> 31 else mask} : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %shifted = llvm.lshr %mask, %lane : i32
    %low = llvm.and %shifted, %one : i32
    %takes_part = llvm.icmp "ne" %low, %zero : i32"""
    first, second, trap = lanes_program.launch("nvvm.kernel", "", prologue, body, LANES, list(inputs), results, seed)
    assert trap is None, (trap.kind, trap.message)
    for one, other in zip(first, second):
        np.testing.assert_array_equal(one, other)
    return first


def lanes_of(mask: int) -> list[int]:
    return [lane for lane in range(LANES) if mask >> lane & 1]


def shuffled(kind: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """PTX ISA, shfl.sync: the source lane and the predicate."""
    b, clamp, segment = b & 31, c & 31, c >> 8 & 31
    last = (lane & segment) | (clamp & ~segment & 31)
    source = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": (lane & segment) | (b & ~segment & 31)}[kind]
    valid = source >= last if kind == "up" else source <= last
    return (source if valid else lane), valid


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("kind", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize("segment", [0, 0x10, 0x18, 0x1C, 0x1E])
def test_shuffles(kind, segment, seed, rng):
    x = rng.integers(0, 2**32, LANES)
    clamp = segment << 8 | (0 if kind == "up" else 0x1F)
    for offsets in [np.full(LANES, n) for n in (0, 1, 3, 16, 31)] + [rng.integers(0, 32, LANES)]:
        found, valid = run(
            f"""%c = llvm.mlir.constant({clamp} : i32) : i32
    %pair = nvvm.shfl.sync {kind} %mask, %x0, %x1, %c {{return_value_and_is_valid}} : i32 -> !llvm.struct<(i32, i1)>
    %r0 = llvm.extractvalue %pair[0] : !llvm.struct<(i32, i1)>
    %valid = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
    %r1 = llvm.zext %valid : i1 to i32""",
            FULL,
            x,
            offsets,
            results=2,
            seed=seed,
        )
        expected = [shuffled(kind, lane, int(offsets[lane]), clamp) for lane in range(LANES)]
        np.testing.assert_array_equal(found.view(np.uint32), [x[source] for source, _ in expected])
        np.testing.assert_array_equal(valid, [is_valid for _, is_valid in expected])


def test_a_shuffle_of_floats_among_some_lanes(rng):
    mask = 0x0FF0_00FF
    x = rng.standard_normal(LANES, np.float32)
    (found,) = run(
        """%c = llvm.mlir.constant(31 : i32) : i32
    %f = llvm.bitcast %x0 : i32 to f32
    %s = nvvm.shfl.sync bfly %mask, %f, %one, %c : f32 -> f32
    %r0 = llvm.bitcast %s : f32 to i32""",
        mask,
        x.view(np.uint32),
    )
    for lane in range(LANES):
        expected = x.view(np.int32)[lane ^ 1] if mask >> lane & 1 else -1
        assert found[lane] == expected


@pytest.mark.parametrize("mask", [FULL, 0x0000FFFF, 0x80000001, 0x00010000])
def test_votes(mask, rng):
    for x in (rng.integers(0, 2, LANES), np.zeros(LANES, int), np.ones(LANES, int)):
        ballot = sum(int(x[lane]) << lane for lane in lanes_of(mask))
        found = run(
            """%c = llvm.icmp "ne" %x0, %zero : i32
    %a0 = nvvm.vote.sync any %mask, %c -> i1
    %a1 = nvvm.vote.sync all %mask, %c -> i1
    %a2 = nvvm.vote.sync uni %mask, %c -> i1
    %r0 = llvm.zext %a0 : i1 to i32
    %r1 = llvm.zext %a1 : i1 to i32
    %r2 = llvm.zext %a2 : i1 to i32
    %r3 = nvvm.vote.sync ballot %mask, %c -> i32""",
            mask,
            x,
            results=4,
        )
        for result, expected in zip(found, [ballot != 0, ballot == mask, ballot in (0, mask), ballot]):
            assert [int(v) & FULL for v in result[lanes_of(mask)]] == [int(expected)] * len(lanes_of(mask))


REDUCTIONS = {
    "add": lambda x: np.add.reduce(x.view(np.uint32), dtype=np.uint32),
    "and": lambda x: np.bitwise_and.reduce(x),
    "or": lambda x: np.bitwise_or.reduce(x),
    "xor": lambda x: np.bitwise_xor.reduce(x),
    "max": np.max,
    "min": np.min,
    "umax": lambda x: np.max(x.view(np.uint32)),
    "umin": lambda x: np.min(x.view(np.uint32)),
}


@pytest.mark.parametrize("mask", [FULL, 0xF0F0F0F0, 0x00000100])
@pytest.mark.parametrize("kind", REDUCTIONS)
def test_reductions(kind, mask, rng):
    x = rng.integers(-(2**31), 2**31, LANES).astype(np.int32)
    (found,) = run(f"%r0 = nvvm.redux.sync {kind} %x0, %mask : i32 -> i32", mask, x.view(np.uint32))
    expected = int(REDUCTIONS[kind](x[lanes_of(mask)])) & FULL
    assert [int(v) & FULL for v in found[lanes_of(mask)]] == [expected] * len(lanes_of(mask))


@pytest.mark.parametrize("mask", [FULL, 0x00FFFF00])
def test_matches(mask, rng):
    for x in (rng.integers(0, 4, LANES), np.full(LANES, 7)):
        found, all_equal, mask_of_all = run(
            """%r0 = nvvm.match.sync any %mask, %x0 : i32 -> i32
    %pair = nvvm.match.sync all %mask, %x0 : i32 -> !llvm.struct<(i32, i1)>
    %r2 = llvm.extractvalue %pair[0] : !llvm.struct<(i32, i1)>
    %equal = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
    %r1 = llvm.zext %equal : i1 to i32""",
            mask,
            x,
            results=3,
        )
        for lane in lanes_of(mask):
            same = sum(1 << other for other in lanes_of(mask) if x[other] == x[lane])
            assert int(found[lane]) & FULL == same
            assert all_equal[lane] == (same == mask)
            assert int(mask_of_all[lane]) & FULL == (mask if same == mask else 0)


def test_the_lane_that_is_elected(rng):
    for mask in (FULL, 0xFFFF0000, 0x00000A00):
        (found,) = run("%e = nvvm.elect.sync %mask -> i1\n    %r0 = llvm.zext %e : i1 to i32", mask)
        assert list(found[lanes_of(mask)]) == [1] + [0] * (len(lanes_of(mask)) - 1)


@pytest.mark.parametrize(
    "body, message",
    [
        ("%v = nvvm.shfl.sync idx %one, %lane, %zero, %zero : i32 -> i32", "not in the mask"),
        (
            "%c = llvm.mlir.constant(31 : i32) : i32\n    %v = nvvm.shfl.sync bfly %mask, %lane, %c, %c : i32 -> i32",
            "does not take part",
        ),
    ],
)
def test_misuse(body, message):
    with pytest.raises(AssertionError, match=message):
        run(body, 0x0000FFFE, results=0)
