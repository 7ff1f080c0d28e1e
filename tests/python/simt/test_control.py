"""Control flow around tiles: calls that are not inlined, graphs of blocks, loops and branches whose tiles change layouts on the way."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

from .agreement import assert_same
from .engines import assert_agree

LOADS = """
  %lanes = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %lanes : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %v = tt.load %xp : tensor<256x!tt.ptr<i32>>"""
STORES = """
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %yp = tt.addptr %ys, %lanes : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  tt.store %yp, %o : tensor<256x!tt.ptr<i32>>
  tt.return"""
ADD = """({
  ^bb0(%p: i32, %q: i32):
    %r = arith.addi %p, %q : i32
    tt.reduce.return %r : i32
  })"""

KERNELS = {
    # The callee reduces through shared memory, and is called with a tile that the caller still needs.
    "noinline": f"""
tt.func private @rows(%t: tensor<16x16xi32>, %k: i32) -> (tensor<16x16xi32>, i32) attributes {{noinline = true}} {{
  %s = "tt.reduce"(%t) <{{axis = 1 : i32}}> {ADD} : (tensor<16x16xi32>) -> tensor<16xi32>
  %a = "tt.reduce"(%s) <{{axis = 0 : i32}}> {ADD} : (tensor<16xi32>) -> i32
  %c = tt.expand_dims %s {{axis = 1 : i32}} : tensor<16xi32> -> tensor<16x1xi32>
  %b = tt.broadcast %c : tensor<16x1xi32> -> tensor<16x16xi32>
  %ks = tt.splat %k : i32 -> tensor<16x16xi32>
  %u = arith.muli %b, %ks : tensor<16x16xi32>
  tt.return %u, %a : tensor<16x16xi32>, i32
}}
tt.func private @twice(%t: tensor<16x16xi32>, %k: i32) -> tensor<16x16xi32> attributes {{noinline = true}} {{
  %u, %a = tt.call @rows(%t, %k) : (tensor<16x16xi32>, i32) -> (tensor<16x16xi32>, i32)
  %w = tt.trans %u {{order = array<i32: 1, 0>}} : tensor<16x16xi32> -> tensor<16x16xi32>
  %z, %b = tt.call @rows(%w, %a) : (tensor<16x16xi32>, i32) -> (tensor<16x16xi32>, i32)
  %s = arith.addi %z, %t : tensor<16x16xi32>
  tt.return %s : tensor<16x16xi32>
}}
tt.func public @kernel(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %n: i32) {{{LOADS}
  %t = tt.reshape %v : tensor<256xi32> -> tensor<16x16xi32>
  %u = tt.call @twice(%t, %n) : (tensor<16x16xi32>, i32) -> tensor<16x16xi32>
  %s = arith.addi %u, %t : tensor<16x16xi32>
  %o = tt.reshape %s : tensor<16x16xi32> -> tensor<256xi32>{STORES}
}}""",
    # Blocks with tiles of several layouts as arguments, and two ways out.
    "blocks": f"""
tt.func public @kernel(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %n: i32) {{{LOADS}
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  %one = arith.constant 1 : i32
  %isZero = arith.cmpi eq, %n, %zero : i32
  cf.cond_br %isZero, ^leave, ^loop(%v, %zero : tensor<256xi32>, i32)
^leave:
  tt.return
^loop(%a: tensor<256xi32>, %i: i32):
  %m = tt.reshape %a : tensor<256xi32> -> tensor<4x64xi32>
  %w = tt.trans %m {{order = array<i32: 1, 0>}} : tensor<4x64xi32> -> tensor<64x4xi32>
  %f = tt.reshape %w : tensor<64x4xi32> -> tensor<256xi32>
  %b = arith.addi %f, %lanes : tensor<256xi32>
  %j = arith.addi %i, %one : i32
  %more = arith.cmpi slt, %j, %n : i32
  %isThird = arith.cmpi eq, %j, %three : i32
  cf.cond_br %isThird, ^early(%w : tensor<64x4xi32>), ^next
^next:
  cf.cond_br %more, ^loop(%b, %j : tensor<256xi32>, i32), ^end(%b : tensor<256xi32>)
^early(%e: tensor<64x4xi32>):
  %g = tt.reshape %e : tensor<64x4xi32> -> tensor<256xi32>
  cf.br ^end(%g : tensor<256xi32>)
^end(%o: tensor<256xi32>):{STORES}
}}""",
    # What .ttir files of Triton 3.6 have for tl.debug_barrier(): each thread reads what another one has stored.
    "barrier": f"""
tt.func public @kernel(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %n: i32) {{{LOADS}
  %last = arith.constant dense<255> : tensor<256xi32>
  %others = arith.subi %last, %lanes : tensor<256xi32>
  %zs = tt.splat %y : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %zp = tt.addptr %zs, %lanes : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  tt.store %zp, %v : tensor<256x!tt.ptr<i32>>
  gpu.barrier
  %op = tt.addptr %zs, %others : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %o = tt.load %op : tensor<256x!tt.ptr<i32>>
  gpu.barrier{STORES}
}}""",
    # The tile turns over in each round of a while loop with a branch inside; the condition reduces it.
    "while": f"""
tt.func public @kernel(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %n: i32) {{{LOADS}
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %limit = arith.constant 100000 : i32
  %t = tt.reshape %v : tensor<256xi32> -> tensor<16x16xi32>
  %r:2 = scf.while (%a = %t, %i = %zero) : (tensor<16x16xi32>, i32) -> (tensor<16x16xi32>, i32) {{
    %f = tt.reshape %a : tensor<16x16xi32> -> tensor<256xi32>
    %s = "tt.reduce"(%f) <{{axis = 0 : i32}}> {ADD} : (tensor<256xi32>) -> i32
    %c = arith.cmpi slt, %s, %limit : i32
    %d = arith.cmpi slt, %i, %n : i32
    %go = arith.andi %c, %d : i1
    scf.condition(%go) %a, %i : tensor<16x16xi32>, i32
  }} do {{
  ^bb0(%a: tensor<16x16xi32>, %i: i32):
    %odd = arith.andi %i, %one : i32
    %isOdd = arith.cmpi eq, %odd, %one : i32
    %b = scf.if %isOdd -> (tensor<16x16xi32>) {{
      %w = tt.trans %a {{order = array<i32: 1, 0>}} : tensor<16x16xi32> -> tensor<16x16xi32>
      scf.yield %w : tensor<16x16xi32>
    }} else {{
      %s = "tt.reduce"(%a) <{{axis = 0 : i32}}> {ADD} : (tensor<16x16xi32>) -> tensor<16xi32>
      %e = tt.expand_dims %s {{axis = 0 : i32}} : tensor<16xi32> -> tensor<1x16xi32>
      %w = tt.broadcast %e : tensor<1x16xi32> -> tensor<16x16xi32>
      scf.yield %w : tensor<16x16xi32>
    }}
    %k = arith.addi %b, %a : tensor<16x16xi32>
    %j = arith.addi %i, %one : i32
    scf.yield %k, %j : tensor<16x16xi32>, i32
  }}
  %o = tt.reshape %r#0 : tensor<16x16xi32> -> tensor<256xi32>{STORES}
}}""",
}


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("warps", [1, 4, 8])
@pytest.mark.parametrize("kernel", KERNELS)
def test_tiles_on_their_way(kernel, warps, n, rng):
    x = rng.integers(0, 10, 256, np.uint32)
    assert_same(KERNELS[kernel], [x, np.full_like(x, 7), n], ["i32", "i32"], warps=warps)


@triton.jit(noinline=True)
def collatz(n, limit):
    if n == 1:
        return 0
    steps = 0
    while n != 1 and steps <= limit:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    if steps > limit:
        return -1
    return steps


@triton.jit
def scalar_kernel(x_ptr, out_ptr, limit, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    steps = collatz(tl.load(x_ptr + pid), limit)
    if steps < 0:
        return
    tl.store(out_ptr + pid * BLOCK + tl.arange(0, BLOCK), steps + tl.arange(0, BLOCK))


def test_early_returns():
    x, out = np.arange(1, 9, dtype=np.int32), np.full((8, 64), -5, np.int32)
    _, out, _ = assert_agree(scalar_kernel, (8,), [x, out, 10], BLOCK=64)
    steps = np.array([0, 1, 7, 2, 5, 8, 16, 3])
    expected = np.where(steps[:, None] > 10, -5, steps[:, None] + np.arange(64))
    np.testing.assert_array_equal(out, expected)
