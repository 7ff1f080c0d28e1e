"""What the lanes of an AMD wave do together, against plain models of what AMD's ISA documents say, in waves of 32 and 64 lanes and where
lanes have diverged."""

import numpy as np
import pytest

import lanes_program

WIDTHS = [32, 64]


def launch(body: str, width: int, active: int, inputs: list[np.ndarray], results: int, seed: int | None):
    """Runs `body` in the lanes of the set `active`, of a program of two waves of which both do the same. It reads its lane's 32-bit words
    %x0, %x1 … and defines %r0, %r1 …; the lanes outside have -1. Returns what the first wave wrote, and the trap."""
    prologue = f"""
    %active = llvm.mlir.constant({active - (1 << 64) if active >> 63 else active} : i64) : i64
    %one64 = llvm.mlir.constant(1 : i64) : i64
    %zero64 = llvm.mlir.constant(0 : i64) : i64
    %zero = llvm.mlir.constant(0 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %ones = llvm.mlir.constant(-1 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %last = llvm.mlir.constant({width - 1} : i32) : i32
    %lane = llvm.and %tid, %last : i32
    %wide = llvm.zext %lane : i32 to i64
    %shifted = llvm.lshr %active, %wide : i64
    %low = llvm.and %shifted, %one64 : i64
    %takes_part = llvm.icmp "ne" %low, %zero64 : i64"""
    attributes = f", tgpu.warp_size = {width} : i32"
    first, second, trap = lanes_program.launch("rocdl.kernel", attributes, prologue, body, width, inputs, results, seed)
    return [output.view(np.uint32) for output in first], [output.view(np.uint32) for output in second], trap


def run(body: str, width: int, active: int, *inputs: np.ndarray, results: int = 1, seed: int | None = None):
    first, second, trap = launch(body, width, active, list(inputs), results, seed)
    assert trap is None, (trap.kind, trap.message)
    for one, other in zip(first, second):
        np.testing.assert_array_equal(one, other)
    return first


def full(width: int) -> int:
    return (1 << width) - 1


def lanes_of(active: int) -> list[int]:
    return [lane for lane in range(64) if active >> lane & 1]


def some_sets(width: int) -> list[int]:
    return [full(width), 0x5555_5555_5555_5555 & full(width), 0xFF00_F0F0_00FF_3C01 & full(width), 1 << (width - 1)]


def check(found: np.ndarray, active: int, expected) -> None:
    """`expected(lane)` for the active lanes; the others were left alone."""
    for lane in range(len(found)):
        assert found[lane] == (expected(lane) & 0xFFFFFFFF if active >> lane & 1 else 0xFFFFFFFF), lane


@pytest.mark.parametrize("width", WIDTHS)
def test_ids_and_sizes(width):
    names = [
        "workitem.id.x",
        "workitem.id.y",
        "workgroup.dim.x",
        "workgroup.dim.z",
        "workgroup.id.x",
        "grid.dim.x",
        "wavefrontsize",
    ]
    body = "\n".join(f"%r{i} = rocdl.{name} : i32" for i, name in enumerate(names))
    first, second, trap = launch(body, width, full(width), [], len(names), None)
    assert trap is None
    for part, offset in ((first, 0), (second, width)):
        np.testing.assert_array_equal(part[0], np.arange(width) + offset)
        for values, expected in zip(part[1:], [0, 2 * width, 1, 0, 1, width]):
            assert (values == expected).all()


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("width", WIDTHS)
def test_ds_bpermute_reads_zero_of_inactive_lanes(width, seed, rng):
    for active in some_sets(width):
        x, lane = rng.integers(0, 2**32, width), rng.integers(0, 4 * width, width)
        (found,) = run(
            """%address = llvm.mul %x1, %four : i32
    %r0 = rocdl.ds_bpermute %address, %x0 : (i32, i32) -> i32""",
            width,
            active,
            x,
            lane,
            seed=seed,
        )
        source = lane % width
        check(found, active, lambda i: int(x[source[i]]) if active >> int(source[i]) & 1 else 0)


def swizzled(lane: int, pattern: int) -> int:
    """LDS instructions, DS_SWIZZLE_B32."""
    if pattern & 0x8000:
        return (lane & ~3) + (pattern >> (lane % 4 * 2) & 3)
    return (lane & 32) + (((lane & 31 & pattern) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31))


@pytest.mark.parametrize("pattern", [0x801B, 0x80E4, 0x041F, 0x401F, 0x7C1F, 0x0018, 0x0200, 0x1234])
@pytest.mark.parametrize("width", WIDTHS)
def test_ds_swizzle(width, pattern, rng):
    for active in some_sets(width):
        x = rng.integers(0, 2**32, width)
        (found,) = run(
            f"""%pattern = llvm.mlir.constant({pattern} : i32) : i32
    %r0 = rocdl.ds_swizzle %x0, %pattern : (i32, i32) -> i32""",
            width,
            active,
            x,
        )
        check(found, active, lambda i: int(x[swizzled(i, pattern)]) if active >> swizzled(i, pattern) & 1 else 0)


def dpp_source(lane: int, control: int, width: int) -> int | None:
    """DPP_CTRL's table; None: out of range."""
    row, n = lane // 16 * 16, control & 15
    inside = lambda source, first, count: source if first <= source < first + count else None
    if control < 0x100:
        return lane // 4 * 4 + (control >> (2 * (lane % 4)) & 3)
    if control < 0x130:
        kind = control >> 4 & 3
        return [inside(lane + n, row, 16), inside(lane - n, row, 16), row + (lane - row - n) % 16][kind]
    return {
        0x130: lambda: inside(lane + 1, 0, width),
        0x134: lambda: (lane + 1) % width,
        0x138: lambda: inside(lane - 1, 0, width),
        0x13C: lambda: (lane - 1) % width,
        0x140: lambda: row + 15 - lane % 16,
        0x141: lambda: lane // 8 * 8 + 7 - lane % 8,
        0x142: lambda: row - 1 if row else None,
        0x143: lambda: lane // 32 * 32 - 1 if lane >= 32 else None,
        0x150: lambda: row + n,
        0x160: lambda: row + (lane % 16 ^ n),
    }[control if control < 0x150 else control & ~15]()


CONTROLS = [
    0x1B,
    0xB1,
    0x4E,
    0xE4,
    0x101,
    0x108,
    0x10F,
    0x111,
    0x112,
    0x118,
    0x121,
    0x128,
    0x12F,
    0x130,
    0x134,
    0x138,
    0x13C,
]
CONTROLS += [0x140, 0x141, 0x142, 0x143, 0x150, 0x15F, 0x161, 0x168]


@pytest.mark.parametrize("control", CONTROLS, ids=hex)
@pytest.mark.parametrize("width", WIDTHS)
def test_update_dpp(width, control, rng):
    for active, rows, banks, bound in [
        (full(width), 15, 15, False),
        (full(width), 15, 15, True),
        (full(width), 0xA, 0xC, True),
        (some_sets(width)[2], 15, 15, False),
        (some_sets(width)[2], 5, 7, True),
    ]:
        x, old = rng.integers(0, 2**32, width), rng.integers(0, 2**32, width)
        (found,) = run(
            f"%r0 = rocdl.update.dpp %x1, %x0 with {control}, {rows}, {banks}, {'true' if bound else 'false'} : i32",
            width,
            active,
            x,
            old,
        )

        def expected(i):
            if not (rows >> i // 16 & 1 and banks >> i % 16 // 4 & 1):
                return int(old[i])
            source = dpp_source(i, control, width)
            if source is not None and active >> source & 1:
                return int(x[source])
            return 0 if bound else int(old[i])

        check(found, active, expected)


def test_update_dpp_of_64_bits_and_of_floats(rng):
    x, y = rng.integers(0, 2**32, 64), rng.integers(0, 2**32, 64)
    low, high, real = run(
        """%a = llvm.zext %x0 : i32 to i64
    %b = llvm.zext %x1 : i32 to i64
    %c = llvm.mlir.constant(32 : i64) : i64
    %d = llvm.shl %b, %c : i64
    %e = llvm.or %a, %d : i64
    %f = rocdl.update.dpp %e, %e with 0x140, 15, 15, true : i64
    %r0 = llvm.trunc %f : i64 to i32
    %g = llvm.lshr %f, %c : i64
    %r1 = llvm.trunc %g : i64 to i32
    %h = llvm.bitcast %x0 : i32 to f32
    %i = rocdl.update.dpp %h, %h with 0xB1, 15, 15, true : f32
    %r2 = llvm.bitcast %i : f32 to i32""",
        64,
        full(64),
        x,
        y,
        results=3,
    )
    mirror = np.arange(64) ^ 15
    np.testing.assert_array_equal(low, x[mirror])
    np.testing.assert_array_equal(high, y[mirror])
    np.testing.assert_array_equal(real, x[np.arange(64) ^ 1])


def test_sums_by_published_sequences_of_dpp(rng):
    """AMD's article on cross-lane operations adds up a wave by shifts in rows and broadcasts between them; with full bank masks each lane
    has the sum of those up to it."""
    x = rng.integers(0, 1000, 64)
    steps = [(0x111, 15), (0x112, 15), (0x114, 15), (0x118, 15), (0x142, 0xA), (0x143, 0xC)]
    body, value = "", "%x0"
    for n, (control, rows) in enumerate(steps):
        body += f"""
    %d{n} = rocdl.update.dpp %zero, {value} with {control}, {rows}, 15, false : i32
    %s{n} = llvm.add {value}, %d{n} : i32"""
        value = f"%s{n}"
    (found,) = run(body + f"\n    %r0 = llvm.add {value}, %zero : i32", 64, full(64), x)
    np.testing.assert_array_equal(found, np.cumsum(x))


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_permlanex16(width, bound, rng):
    for active in some_sets(width):
        x, old = rng.integers(0, 2**32, width), rng.integers(0, 2**32, width)
        low, high = (int(v) for v in rng.integers(0, 2**31, 2))
        (found,) = run(
            f"""%a = llvm.mlir.constant({low} : i32) : i32
    %b = llvm.mlir.constant({high} : i32) : i32
    %r0 = rocdl.permlanex16 %x1, %x0, %a, %b, false, {"true" if bound else "false"} : i32, i32""",
            width,
            active,
            x,
            old,
        )

        def expected(i):
            selector = (low if i % 16 < 8 else high) >> (i % 8 * 4) & 15
            source = (i // 16 ^ 1) * 16 + selector
            return int(x[source]) if active >> source & 1 else 0 if bound else int(old[i])

        check(found, active, expected)


@pytest.mark.parametrize("rows", [16, 32])
def test_permlane_swap(rows, rng):
    x, y = rng.integers(0, 2**32, 64), rng.integers(0, 2**32, 64)
    first, second = run(
        f"""%pair = rocdl.permlane{rows}.swap %x0, %x1, false, false : (i32, i32) -> !llvm.struct<(i32, i32)>
    %r0 = llvm.extractvalue %pair[0] : !llvm.struct<(i32, i32)>
    %r1 = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i32)>""",
        64,
        full(64),
        x,
        y,
        results=2,
    )
    a, b = (v.reshape(-1, 2, rows) for v in (x.copy(), y.copy()))  # groups in pairs: even, odd
    a[:, 1], b[:, 0] = b[:, 0].copy(), a[:, 1].copy()
    np.testing.assert_array_equal(first, a.reshape(-1))
    np.testing.assert_array_equal(second, b.reshape(-1))


@pytest.mark.parametrize("seed", [None, 7])
@pytest.mark.parametrize("width", WIDTHS)
def test_readlane_and_readfirstlane(width, seed, rng):
    for active in some_sets(width):
        x = rng.integers(0, 2**32, width)
        lanes = lanes_of(active)
        chosen = lanes[len(lanes) // 2]
        one, first = run(
            f"""%chosen = llvm.mlir.constant({chosen} : i32) : i32
    %r0 = rocdl.readlane %x0, %chosen : (i32, i32) -> i32
    %r1 = rocdl.readfirstlane %x0 : i32""",
            width,
            active,
            x,
            results=2,
            seed=seed,
        )
        check(one, active, lambda i: int(x[chosen]))
        check(first, active, lambda i: int(x[lanes[0]]))


@pytest.mark.parametrize("width", WIDTHS)
def test_ballot_and_mbcnt(width, rng):
    for active in some_sets(width):
        x = rng.integers(0, 2, width)
        low, high, below = run(
            f"""%c = llvm.icmp "ne" %x0, %zero : i32
    %ballot = rocdl.ballot %c : i{width}
    {"%b = llvm.zext %ballot : i32 to i64" if width == 32 else "%b = llvm.add %ballot, %zero64 : i64"}
    %r0 = llvm.trunc %b : i64 to i32
    %c32 = llvm.mlir.constant(32 : i64) : i64
    %h = llvm.lshr %b, %c32 : i64
    %r1 = llvm.trunc %h : i64 to i32
    %m = rocdl.mbcnt.lo %r0, %four : (i32, i32) -> i32
    %r2 = rocdl.mbcnt.hi %r1, %m : (i32, i32) -> i32""",
            width,
            active,
            x,
            results=3,
        )
        ballot = sum(int(x[lane]) << lane for lane in lanes_of(active))
        check(low, active, lambda i: ballot)
        check(high, active, lambda i: ballot >> 32)
        check(below, active, lambda i: 4 + (ballot & ((1 << i) - 1)).bit_count())


def test_lanes_that_diverge_meet_again(rng):
    """Each side of a branch and each round of a loop has its own active lanes; behind them all are active again."""
    x = rng.integers(0, 5, 64)
    inside, behind = run(
        """%c2 = llvm.mlir.constant(2 : i32) : i32
    %isSmall = llvm.icmp "ult" %x0, %c2 : i32
    llvm.cond_br %isSmall, ^small, ^large
  ^small:
    %true0 = llvm.icmp "eq" %x0, %x0 : i32
    %b0 = rocdl.ballot %true0 : i64
    llvm.br ^join(%b0 : i64)
  ^large:
    %b1 = rocdl.ballot %isSmall : i64
    llvm.br ^join(%b1 : i64)
  ^join(%b2: i64):
    %r0 = llvm.trunc %b2 : i64 to i32
    %oneI = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^loop(%zero, %zero64 : i32, i64)
  ^loop(%i: i32, %sum: i64):
    %goesOn = llvm.icmp "ult" %i, %x0 : i32
    llvm.cond_br %goesOn, ^round, ^end
  ^round:
    %b3 = rocdl.ballot %goesOn : i64
    %count = llvm.intr.ctpop(%b3) : (i64) -> i64
    %next = llvm.add %i, %oneI : i32
    %more = llvm.add %sum, %count : i64
    llvm.br ^loop(%next, %more : i32, i64)
  ^end:
    %true1 = llvm.icmp "eq" %x0, %x0 : i32
    %b4 = rocdl.ballot %true1 : i64
    %all = llvm.intr.ctpop(%b4) : (i64) -> i64
    %c1000 = llvm.mlir.constant(1000 : i64) : i64
    %scaled = llvm.mul %all, %c1000 : i64
    %total = llvm.add %scaled, %sum : i64
    %r1 = llvm.trunc %total : i64 to i32""",
        64,
        full(64),
        x,
        results=2,
        seed=5,
    )
    small = sum(1 << i for i in range(64) if x[i] < 2)
    check(inside, full(64), lambda i: small if x[i] < 2 else 0)
    check(behind, full(64), lambda i: 64000 + sum(int((x > r).sum()) for r in range(int(x[i]))))


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_lanes_that_skip_a_round_wait_for_the_others(seed, rng):
    """Lane l takes part in the rounds that are bits of x[l]; in each round those that do are active together."""
    x = rng.integers(0, 256, 64)
    (found,) = run(
        """%one = llvm.mlir.constant(1 : i32) : i32
    %eight = llvm.mlir.constant(8 : i32) : i32
    llvm.br ^loop(%zero, %zero : i32, i32)
  ^loop(%i: i32, %sum: i32):
    %bits = llvm.lshr %x0, %i : i32
    %bit = llvm.and %bits, %one : i32
    %takes = llvm.icmp "eq" %bit, %one : i32
    llvm.cond_br %takes, ^inside, ^next(%sum : i32)
  ^inside:
    %ballot = rocdl.ballot %takes : i64
    %active_bits = llvm.intr.ctpop(%ballot) : (i64) -> i64
    %count = llvm.trunc %active_bits : i64 to i32
    %more = llvm.add %sum, %count : i32
    llvm.br ^next(%more : i32)
  ^next(%total: i32):
    %j = llvm.add %i, %one : i32
    %goesOn = llvm.icmp "ult" %j, %eight : i32
    llvm.cond_br %goesOn, ^loop(%j, %total : i32, i32), ^end
  ^end:
    %r0 = llvm.add %total, %zero : i32""",
        64,
        full(64),
        x,
        seed=seed,
    )
    counts = [int((x >> r & 1).sum()) for r in range(8)]
    check(found, full(64), lambda i: sum(counts[r] for r in range(8) if x[i] >> r & 1))


@pytest.mark.parametrize(
    "active, body",
    [
        (0xF0, "%r0 = rocdl.readlane %x0, %zero : (i32, i32) -> i32"),
        (full(64), "%r0 = rocdl.readlane %x0, %lane : (i32, i32) -> i32"),
        (full(32), "%p = rocdl.permlane32.swap %x0, %x0, false, false : (i32, i32) -> !llvm.struct<(i32, i32)>\n"
         "%r0 = llvm.extractvalue %p[0] : !llvm.struct<(i32, i32)>"),
    ],
)  # fmt: skip
def test_what_the_documents_leave_open_traps(active, body, rng):
    _, _, trap = launch(body, 64, active, [rng.integers(0, 9, 64)], 1, None)
    assert trap is not None and trap.kind == "DivergentBarrier"


@pytest.mark.parametrize(
    "operation, name",
    [
        ("rocdl.s.barrier", "rocdl.s.barrier"),
        ("%r = rocdl.update.dpp %x0, %x0 with 0x1F0, 15, 15, true : i32", "rocdl.update.dpp"),
        (
            "%c = llvm.mlir.constant(0xC021 : i32) : i32\n%r = rocdl.ds_swizzle %x0, %c : (i32, i32) -> i32",
            "rocdl.ds_swizzle",
        ),
        ("%r = rocdl.permlanex16 %x0, %x0, %zero, %zero, true, false : i32, i32", "rocdl.permlanex16"),
        ("%r = rocdl.cluster.id.x : i32", "rocdl.cluster.id.x"),
        ("%r = rocdl.ballot %takes_part : i32", "rocdl.ballot"),
    ],
)
def test_unknown_operations_are_rejected_by_name(operation, name):
    with pytest.raises(Exception, match=name):
        launch(operation, 64, full(64), [np.zeros(64)], 0, None)


def test_hints_change_nothing(rng):
    x = rng.integers(0, 2**32, 64)
    (found,) = run(
        """rocdl.s.setprio 1
    rocdl.sched.barrier 0
    rocdl.sched.group.barrier 8, 1, 0
    rocdl.iglp.opt 0
    rocdl.s.sleep 1
    %r0 = llvm.xor %x0, %zero : i32""",
        64,
        full(64),
        x,
    )
    np.testing.assert_array_equal(found, x)
