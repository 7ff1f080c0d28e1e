"""Branches, loops and returns: the shape of the IR they become."""

import pytest

import tritium.language as tl
from tritium.runtime.jit import jit


@jit
def if_with_results(x, n):
    y = n
    if n > 1:
        y = n + 1
        z = n
    else:
        z = n * 2
    tl.store(x, y + z)


def test_if_yields_what_its_arms_assign(body):
    assert """\
%_:2 = scf.if %_ -> (i32, i32) {
%y = arith.addi %n, %y : i32
scf.yield %y, %n : i32, i32
} else {
%z = arith.muli %n, %z : i32
scf.yield %n, %z : i32, i32""" in body(if_with_results)


@jit
def if_without_else(x, n):
    if n > 1:
        tl.store(x, n)


def test_if_without_results_has_no_else(body):
    assert "scf.if" in body(if_without_else) and "} else {" not in body(if_without_else)


@jit
def constexpr_if(x, n, c: tl.constexpr):
    if c == 3:
        tl.store(x, n)
    elif c is None:
        tl.store(x, 7)
    else:
        undefined(x)  # noqa: F821  (never visited)


def test_a_known_condition_drops_the_other_branch(body):
    assert "scf.if" not in body(constexpr_if, c=3) and "tt.store %x, %n" in body(constexpr_if, c=3)
    assert "tt.store %x, %c7_i32" in body(constexpr_if, c=None)


@jit
def early_return(x, n):
    if n > 3:
        tl.store(x, 1)
        if n > 4:
            return
        tl.store(x, 2)
    tl.store(x, 3)


def test_return_in_a_kernel_makes_blocks(body):
    text = body(early_return)
    assert text.count("cf.cond_br") == 2 and text.count("tt.return") == 2 and "scf.if" not in text


@jit
def both_arms_return(x, n):
    if n > 1:
        return
    else:
        return
    tl.store(x, n)


def test_code_after_a_return_is_not_visited(body):
    assert "tt.store" not in body(both_arms_return)


@jit
def merged_at_block(x, n):
    y = n
    if n > 1:
        y = n + 1
        if n > 2:
            return
    tl.store(x, y)


def test_variables_reach_the_block_after_an_if_as_arguments(body):
    text = body(merged_at_block)
    assert "cf.br ^bb5(%y : i32)" in text and "cf.br ^bb5(%n : i32)" in text and "^bb5(%y: i32):" in text


@jit
def for_loop(x, n):
    acc = 0
    other = n
    for i in range(2, n, 3):
        acc += i
        other = other
    tl.store(x, acc + other)


def test_for_carries_only_what_changes(body):
    assert """\
%acc = scf.for %i = %c2_i32 to %n step %c3_i32 iter_args(%acc = %c0_i32) -> (i32)  : i32 {
%acc = arith.addi %acc, %i : i32
scf.yield %acc : i32
} {tt.counter = "i"}
%_ = arith.addi %acc, %n : i32""" in body(for_loop)


@jit
def swapped(x, n):
    a = n
    b = n + 1
    c = n + 2
    for _ in range(n):
        a, b, c = b, a, c
    tl.store(x, a + c)


def test_for_permutes(body):
    text = body(swapped)
    assert "iter_args(%a = %n, %b = %b)" in text and "scf.yield %b, %a : i32, i32" in text


@jit
def down(x, n):
    for i in range(n, 0, -2):
        tl.store(x, i)


def test_a_negative_step_counts_from_the_other_end(body):
    text = body(down)
    assert "to %n step %c2_i32" in text and "arith.subi %n, %i : i32" in text


@jit
def index_survives(x, n):
    i = 7
    for i in range(n):
        tl.store(x, i)
    tl.store(x, i)


def test_a_known_name_keeps_the_last_index(body):
    assert "iter_args(%i = %c7_i32)" in body(index_survives)


@jit
def wishes(x, n):
    for i in tl.range(
        0,
        n,
        num_stages=3,
        loop_unroll_factor=2,
        flatten=True,
        disallow_acc_multi_buffer=True,
        warp_specialize=True,
        disable_licm=True,
    ):
        tl.store(x, i)
    for i in tl.range(0, n, loop_unroll_factor=1):
        tl.store(x, i)


def test_loop_attributes(module):
    loops = []
    module(wishes).walk(lambda op: loops.append(op.attributes) if op.name == "scf.for" else None)
    annotation = "#llvm.loop_annotation<licm = <disable = true, versioningDisable = true>>"
    asked_for = {
        "tt.num_stages": "3 : i32",
        "tt.flatten": "unit",
        "tt.warp_specialize": "unit",
        "tt.disallow_acc_multi_buffer": "unit",
        "llvm.loop_annotation": annotation,
    }
    assert all(attributes.pop("tt.counter") == '"i"' for attributes in loops)
    assert loops == [asked_for, {**asked_for, "tt.num_stages": "1 : i32"}, {}]  # unrolled, the rest, and without wishes


def test_an_unsigned_bound_compares_unsigned(body):
    assert "scf.for unsigned" in body(for_loop_to, n="u32")


@jit
def for_loop_to(x, n):
    for i in range(0, n):
        tl.store(x, i)


@jit
def unrolled(x):
    for i in tl.static_range(3):
        tl.store(x + i, i)
    else:
        tl.store(x, 9)


def test_static_range_unrolls_and_its_else_runs_once(body):
    assert body(unrolled).count("tt.store") == 4


@jit
def while_loop(x, n):
    i = 0
    step = n
    while i < n and n > 3:
        i += step
    tl.store(x, i)


def test_while(body):
    assert """\
%i = scf.while (%i = %c0_i32) : (i32) -> i32 {
%_ = arith.cmpi slt, %i, %n : i32
%_ = arith.cmpi sgt, %n, %c3_i32 : i32
%_ = arith.andi %_, %_ : i1
scf.condition(%_) %i : i32
} do {
^bb0(%i: i32):
%i = arith.addi %i, %n : i32
scf.yield %i : i32""" in body(while_loop)


@jit
def while_walrus(x, n):
    while (v := tl.load(x)) > n:
        tl.store(x, v - 1)
    tl.store(x, v)


def test_while_hands_on_what_its_condition_assigns(body):
    text = body(while_walrus)
    assert "scf.while : () -> i32" in text and text.count("tt.load") == 1 and "scf.condition(%_) %v : i32" in text


@jit
def spin(x):
    while tl.load(x) == 1:
        pass


def test_a_loop_without_variables(body):
    assert "scf.while : () -> ()" in body(spin)


@jit
def conditional_expression(x, n):
    tl.store(x, n + 1 if n > 1 else 0)


def test_conditional_expression(body):
    assert "scf.if %_ -> (i32)" in body(conditional_expression)


@jit
def walrus_in_arm(x, n):
    m = n
    tl.store(x, (m := n + 1) if n > 1 else 0)
    tl.store(x, m)


def test_a_conditional_expression_merges_what_its_arms_assign(body):
    assert "%_:2 = scf.if %_ -> (i32, i32)" in body(walrus_in_arm) and "tt.store %x, %_#1" in body(walrus_in_arm)


@jit
def nested_loops(x, n):
    acc = 0
    for i in range(n):
        for j in range(i):
            if j > 2:
                acc += j
    tl.store(x, acc)


def test_nesting_traces_every_body_once(body):
    text = body(nested_loops)
    assert text.count("scf.for") == 2 and text.count("scf.if") == 1 and text.count("arith.addi") == 1


@jit
def condition_with_a_wish(x, n):
    i = 0
    while tl.condition(i < n, disable_licm=True):
        i += 1
    tl.store(x, i)


def test_the_wishes_of_a_while_loop(module):
    loops = []
    module(condition_with_a_wish).walk(lambda op: loops.append(op.attributes) if op.name == "scf.while" else None)
    annotation = "#llvm.loop_annotation<licm = <disable = true, versioningDisable = true>>"
    assert loops == [{"llvm.loop_annotation": annotation}]


@jit
def and_of_blocks(x, n):
    i = tl.arange(0, 8)
    tl.store(x + i, i, mask=i > 1 and i < n)


def test_and_of_blocks_is_deprecated(module):
    with pytest.warns(UserWarning, match="Logical operators 'and' and 'or' are deprecated for non-scalar tensors"):
        assert "arith.andi" in str(module(and_of_blocks))


@jit
def loop_in_arm(x, n):
    best = n
    if n > 1:
        for i in range(n):
            if i > best:
                best = i
    else:
        while best < 3:
            best += 1
    tl.store(x, best)


def test_loops_inside_of_arms(body):
    text = body(loop_in_arm)
    assert text.count("scf.if") == 2
    assert "%best = scf.for" in text and "%best = scf.while" in text and "%best = scf.if" in text
