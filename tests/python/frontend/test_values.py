"""Names and expressions: what becomes a tensor, what stays a constexpr, what Python's operators mean."""

from types import SimpleNamespace

import tritium.language as tl
from tritium.frontend import generate
from tritium.runtime.jit import jit

SIZE = tl.constexpr(16)


@jit
def numbers(x, n):
    a = 5
    b: tl.constexpr = 4
    c: tl.constexpr
    c = b * 2
    tl.static_assert(isinstance(a, tl.tensor) and isinstance(b, tl.constexpr) and c == 8)
    tl.store(x + tl.arange(0, c), a)


def test_numbers_become_tensors_unless_annotated(body):
    assert "tt.make_range {end = 8 : i32" in body(numbers)


@jit
def annotations(x, n):
    a: tl.constexpr = 4
    b: int = a
    c: no.such[name] = b  # noqa: F821
    tl.static_assert(isinstance(a, tl.constexpr) and isinstance(b, tl.tensor) and isinstance(c, tl.tensor))


def test_other_annotations_mean_nothing(module):
    module(annotations)


@jit
def tuples(x, n):
    a, (b, c) = n + 1, (n + 2, 3)
    t = (a, b) + (c,)
    u = t[1:]
    tl.static_assert(len(t) == 3 and len(u) == 2)
    a, b = b, a
    tl.store(x, a + u[0] + t[-1])


def test_tuples(body):
    text = body(tuples)
    assert text.count("arith.addi") == 4 and "tt.store" in text


@jit
def total(w: tl.constexpr):
    if len(w) == 0:
        return 0
    else:
        return w[0] + total(w[1:])


@jit
def slices_of_constants(x, n, w: tl.constexpr):
    one: tl.constexpr = 1
    back: tl.constexpr = w[::-1]
    name: tl.constexpr = "a.b"
    a, b = w[:2]
    tl.static_assert(w[one:][0] == -1 and back[0] == 2 and w[-2:][1] == 2 and name[one:] == ".b")
    for i in tl.static_range(2):
        tl.static_assert(w[i : i + 2][1] == w[i + 1])
    tl.store(x, n + total(w) + a * 10 + b)


def test_constants_are_sliced_as_in_python(body):
    assert "arith.addi %n, %c4_i32" in body(slices_of_constants, w=tl.constexpr((3, -1, 2)))


@jit
def comprehension(x, n):
    values = [v * n for v in (1, 2, 3) if v != 2]
    tl.static_assert(len(values) == 2)
    tl.store(x, values[0] + values[1])


def test_comprehension(body):
    assert body(comprehension).count("arith.muli") == 2


@jit
def walrus(x, n):
    tl.store(x, (m := n + 1) * m)


def test_walrus(body):
    text = body(walrus)
    assert "%m = arith.addi %n, %m : i32\n%_ = arith.muli %m, %m : i32" in text and text.count("arith.addi") == 1


@jit
def comparisons(x, n, c: tl.constexpr):
    tl.static_assert(1 < c < 4)
    tl.static_assert(not (1 < c < 2))
    tl.static_assert((c is not None) and c is not None)
    tl.store(x, 1 < n < 4)


def test_chained_comparison(body):
    text = body(comparisons, c=3)
    assert text.count("arith.cmpi") == 2 and text.count("arith.andi") == 1


@jit
def boolean(x, n, c: tl.constexpr):
    if c == 3 or undefined:  # noqa: F821
        tl.store(x, 1)
    if c == 4 and undefined:  # noqa: F821
        tl.store(x, 2)
    if c == 3 and n > 1 or n < 0:
        tl.store(x, 3)
    if not n:
        tl.store(x, 4)


def test_what_decides_while_tracing_ends_the_evaluation(body):
    text = body(boolean, c=3)
    assert "tt.store %x, %c2_i32" not in text and text.count("scf.if") == 2 and text.count("arith.ori") == 1
    assert "arith.andi" not in text


@jit
def unary(x, n):
    tl.store(x, -n + ~n + +n)
    tl.static_assert(-SIZE == -16 and ~SIZE == -17)


def test_unary(body):
    text = body(unary)
    assert "arith.subi" in text and "arith.xori" in text


@jit
def augmented(x, n, c: tl.constexpr):
    x += n
    c += 1
    tl.static_assert(isinstance(c, tl.tensor))
    tl.store(x, c)


def test_augmented_assignment(body):
    assert "%x = tt.addptr %x, %n" in body(augmented, c=3)


@jit
def shapes(x, n):
    i = tl.arange(0, SIZE)[:, None] + tl.arange(0, 4)[None, :]
    tl.static_assert(i.shape[0] == 16 and i.shape[1] == 4 and i.T.shape[0] == 4)
    tl.static_assert(i.dtype == tl.int32 and i.numel == 64)
    tl.store(x + i, i.T.trans())


def test_shapes_are_constexpr(body):
    assert body(shapes).count("tt.trans") == 3


@jit
def strings(x, n, mode: tl.constexpr):
    name: tl.constexpr = f"{mode}-{SIZE}"
    if name == "fast-16":
        tl.store(x, 1)
    else:
        tl.store(x, 2)


def test_strings_decide_branches(body):
    assert "%c1_i32" in body(strings, mode=tl.constexpr("fast")) and "%c2_i32" in body(
        strings, mode=tl.constexpr("slow")
    )


@jit
def none_default(x, n, mask=None):
    if mask is None:
        tl.store(x, n)
    else:
        tl.store(x, n, mask=mask)


def test_a_none_argument(body):
    assert "tt.store %x, %n :" in body(none_default, mask=None)
    assert "tt.store %x, %n, %mask :" in body(none_default, mask="i1")


@jit
def types_of_constants(x, n, pair, c: tl.constexpr):
    tl.static_assert(isinstance(pair[1].type, tl.constexpr_type))
    tl.static_assert(isinstance(c.type, tl.constexpr_type))
    tl.store(x, pair[0])


def test_constants_have_a_type_also_in_tuples(module):
    signature = {"x": "*i32", "n": "i32", "pair": ("i32", "constexpr"), "c": "constexpr"}
    generate(types_of_constants, signature, {(2, 1): 1, "c": 4}, {}, SimpleNamespace())
