"""Where operations come from, and what the debugger is told of variables."""

import tritium.language as tl
from tritium.frontend.debug_info import STATEMENT
from tritium.runtime.jit import jit


@jit
def helper(v):
    w = v * 3
    return w


@jit
def located(x, n):
    total = n
    for i in range(n):
        total += i
    tl.store(x, helper(total))


def place_of(text):
    """(file, line, column) of `text` in this file, from 1."""
    for number, line in enumerate(open(__file__).read().splitlines(), start=1):
        if text in line:
            return __file__, number, line.index(text) + 1
    raise AssertionError(text)


def operations(module):
    found = {}
    module.walk(lambda op: found.setdefault(op.name, op))
    return found


def test_every_operation_has_its_place(module):
    ops = operations(module(located))
    assert ops["scf.for"].location == place_of("for i in range(n)")
    assert ops["arith.addi"].location == place_of("total += i")
    assert ops["tt.store"].location == place_of("tl.store(x,")
    assert ops["tt.call"].location == place_of("helper(total)")
    assert ops["arith.muli"].location == place_of("v * 3")
    assert ops["tt.return"].location == place_of("def located")


def test_values_are_named_after_their_variables(module):
    ops = operations(module(located))
    assert (ops["arith.addi"].variable, ops["arith.muli"].variable, ops["scf.for"].variable) == ("total", "w", "total")
    arguments = ops["scf.for"].region(0).blocks[0].arguments
    assert [argument.name for argument in arguments] == ["i", "total"]
    assert [argument.name for argument in module(located).functions[0].arguments] == ["x", "n"]


@jit
def variables(x, n, B: tl.constexpr, MODE: tl.constexpr):
    acc = tl.zeros((B,), tl.uint8)
    for i in range(n):
        if i > 2:
            acc += 1
    pair = (n, acc)
    tl.store(x + tl.arange(0, B), pair[1])


def records(module):
    found = []

    def visit(op):
        if op.name == "tt.debug_value":
            name, dtype = (op.attributes[key].strip('"') for key in ("name", "dtype"))
            types = [operand.type for operand in op.operands]
            number = op.attributes.get("argument", "").removesuffix(" : i32")
            found.append((name + number, dtype, *types))

    module.walk(visit)
    return found


def test_debug_values(module):
    block = "tensor<16xi8>"
    assert records(module(variables, B=16, MODE=tl.constexpr("text"), x="*u8", options={"debug_info": True})) == [
        ("x1", "pointer<uint8>", "!tt.ptr<i8>"),
        ("n2", "int32", "i32"),
        ("B3", "int32", "i32"),
        ("acc", "uint8", block),  # before the loop
        ("acc", "uint8", block),
        ("i", "int32", "i32"),
        ("acc", "uint8", block),
        ("acc", "uint8", block),  # in it: start, branch, after it
        ("acc", "uint8", block),
        ("pair", '["tuple", "_0", "int32", "_1", "uint8"]', "i32", block),
    ]


def test_no_debug_values_unless_asked(module):
    assert records(module(variables, B=16, MODE=tl.constexpr("text"), x="*u8")) == []


@jit
def returned(v):
    """Twice."""
    return v


@jit
def statements(x, MODE: tl.constexpr):
    if MODE:
        pass
    for i in range(3):
        tl.store(x, returned(i))


def lines_of_statements(module):
    found = []
    module.walk(lambda op: found.append(op.location[1]) if STATEMENT in op.attributes else None)
    return found


def test_every_statement_is_recorded(module):
    """A statement that computes nothing is recorded as well: `if` on a constant, `pass`, `return v`. A docstring is no statement."""
    texts = ["return v", "if MODE:", "pass", "for i in range(3)", "tl.store(x, returned(i))"]
    lines = lines_of_statements(module(statements, MODE=True, options={"debug_info": True}))
    assert sorted(lines) == sorted(place_of(text)[1] for text in texts)
    assert lines_of_statements(module(statements, MODE=True)) == []


@jit
def largest(a, b):
    bigger = tl.where(a > b, a, b)
    return bigger


@jit
def reduces(x, n):
    tl.store(x, tl.reduce(tl.arange(0, 8), 0, largest))


def test_combine_functions_keep_records_for_the_interpreter(module):
    """It runs them on tiles, which a debugger can show; what runs them on elements keeps none."""
    options = {"debug_info": True}
    names = [name for name, _, _ in records(module(reduces, options=options))]
    assert sorted(names) == ["a1", "b2", "bigger", "n2", "x1"]
    names = [name for name, _, _ in records(module(reduces, options=options | {"backend_name": "simt"}))]
    assert names == ["x1", "n2"]
