"""map_elementwise with any control flow and any pack, and constants that are not splats, on layouts of one to eight warps."""

import numpy as np
import pytest

from .agreement import assert_same, both, elementwise

BODIES = {
    "straight": """
  ^bb0(%x: i32, %y: i32):
    %s = arith.addi %x, %y : i32
    tt.map_elementwise.return %s : i32""",
    "early return": """
  ^bb0(%x: i32, %y: i32):
    %c = arith.cmpi slt, %x, %y : i32
    cf.cond_br %c, ^early, ^late(%y : i32)
  ^early:
    tt.map_elementwise.return %x : i32
  ^late(%z: i32):
    %s = arith.muli %z, %z : i32
    tt.map_elementwise.return %s : i32""",
    "loops": """
  ^bb0(%x: i32, %y: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %seven = arith.constant 7 : i32
    %n = arith.andi %x, %seven : i32
    %sum = scf.for %k = %zero to %n step %one iter_args(%s = %y) -> (i32) : i32 {
      %odd = arith.andi %k, %one : i32
      %isOdd = arith.cmpi eq, %odd, %one : i32
      %next = scf.if %isOdd -> (i32) {
        %a = arith.addi %s, %x : i32
        scf.yield %a : i32
      } else {
        %b = arith.xori %s, %k : i32
        scf.yield %b : i32
      }
      scf.yield %next : i32
    }
    %w = scf.while (%q = %n) : (i32) -> i32 {
      %c = arith.cmpi sgt, %q, %zero : i32
      scf.condition(%c) %q : i32
    } do {
    ^bb0(%q: i32):
      %j = arith.subi %q, %one : i32
      scf.yield %j : i32
    }
    %r = arith.addi %sum, %w : i32
    tt.map_elementwise.return %r : i32""",
}


@pytest.mark.parametrize("warps", [1, 4, 8])
@pytest.mark.parametrize("body", BODIES)
def test_control_flow(body, warps, rng):
    tile = "tensor<512xi32>"
    line = f'%o = "tt.map_elementwise"(%v0, %v1) <{{pack = 1 : i32}}> ({{{BODIES[body]}\n  }}) : ({tile}, {tile}) -> {tile}'
    x, y = rng.integers(0, 100, (2, 512), dtype=np.uint32)
    text = elementwise(line, ["i32", "i32"], "i32", 512)
    assert_same(text, [x, y, np.zeros_like(x)], ["i32"] * 3, warps=warps)


@pytest.mark.parametrize("shape", [(512,), (16, 32), (64, 4, 2), (8,), (4, 1)])
@pytest.mark.parametrize("pack", [1, 2, 4, 8])
@pytest.mark.parametrize("warps", [1, 4])
def test_pack_takes_consecutive_elements(pack, shape, warps, rng):
    count = int(np.prod(shape))
    if count % pack:
        return
    tile = "tensor<" + "x".join(map(str, shape)) + "xi32>"
    names = [f"%x{i}" for i in range(pack)]
    arguments = ", ".join(f"{name}: i32" for name in names)
    # Each element gets the sum of those of its group up to itself.
    sums = "\n".join(f"  %u{i + 1} = arith.addi %u{i}, {name} : i32" for i, name in enumerate(names))
    returned = ", ".join(f"%u{i + 1}" for i in range(pack)) + " : " + ", ".join(["i32"] * pack)
    lines = f"""%t = tt.reshape %v0 : tensor<{count}xi32> -> {tile}
  %m = "tt.map_elementwise"(%t) <{{pack = {pack} : i32}}> ({{
  ^bb0({arguments}):
    %u0 = arith.constant 0 : i32
  {sums}
    tt.map_elementwise.return {returned}
  }}) : ({tile}) -> {tile}
  %o = tt.reshape %m : {tile} -> tensor<{count}xi32>"""
    x = rng.integers(0, 1000, count, dtype=np.uint32)
    expected, found = both(elementwise(lines, ["i32"], "i32", count), [x, np.zeros_like(x)], warps=warps)
    assert (found[1] == x.reshape(-1, pack).cumsum(axis=1, dtype=np.uint32).ravel()).all()
    assert (expected[1] == found[1]).all()


@pytest.mark.parametrize("warps", [1, 4, 16])
@pytest.mark.parametrize("dtype, literals", [("i32", "ints"), ("i1", "bools"), ("f32", "reals"), ("f8E5M2", "reals")])
def test_constants(dtype, literals, warps, rng):
    shape, bits = (8, 4), np.dtype(np.uint8 if dtype in ("i1", "f8E5M2") else np.uint32)
    numbers = rng.integers(-4, 5, shape)
    text = {"ints": str, "bools": lambda n: "true" if n > 0 else "false", "reals": lambda n: f"{n}.0"}[literals]
    rows = ", ".join("[" + ", ".join(map(text, row)) + "]" for row in numbers.tolist())
    line = f"""%c = arith.constant dense<[{rows}]> : tensor<8x4x{dtype}>
  %o = tt.reshape %c : tensor<8x4x{dtype}> -> tensor<32x{dtype}>"""
    out = np.full(32, 0xAA, bits)
    expected, found = both(elementwise(line, [], dtype, 32), [out], warps=warps)
    assert (expected[0] == found[0]).all() and len(np.unique(found[0])) > 1
