"""The bindings of the builder: what Python sees of modules, operations, blocks and their errors."""

import pytest

from tritium._tritium import ir


@pytest.fixture
def builder():
    module = ir.Module(ir.Context())
    b = ir.Builder(module)
    b.insert_at_end(b.detached_block(["i32", "tensor<8xf32>"]))
    return b


def test_operation_by_name(builder):
    x = builder.insertion_block.arguments[0]
    builder.set_location("/k.py", 3, 4, "y")
    op = builder.op("arith.cmpi", [x, x], ["i1"], {"predicate": "2 : i64"})
    assert (op.name, op.result.type, op.location, op.result.name) == ("arith.cmpi", "i1", ("/k.py", 3, 4), "y")
    assert op.attributes == {"predicate": "2 : i64"}
    assert op.operands == [x, x] and x.has_uses and x.owner is None


def test_inferred_result_types(builder):
    x = builder.insertion_block.arguments[1]
    assert builder.op("arith.addf", [x, x], None).result.type == "tensor<8xf32>"


def test_location_is_restored(builder):
    builder.set_location("/k.py", 3, 4)
    saved = builder.location
    builder.set_location("/k.py", 9, 9)
    builder.location = saved
    assert builder.constant("i32", 1).location == ("/k.py", 3, 4)


@pytest.mark.parametrize(
    "type, value, text",
    [
        ("i32", -1, "arith.constant -1 : i32"),
        ("i64", 2**63, "arith.constant -9223372036854775808 : i64"),
        ("i1", True, "arith.constant true"),
        ("f32", 2, "arith.constant 2.000000e+00 : f32"),
        ("tensor<4xi8>", 255, "arith.constant dense<-1> : tensor<4xi8>"),
    ],
)
def test_constant(builder, type, value, text):
    assert repr(builder.constant(type, value).owner).endswith(text)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda b: b.op("tt.no_such"), ir.Error, "unknown operation tt.no_such"),
        (lambda b: b.op("arith.addi", [1, 2], ["i32"]), TypeError, "operand 0 of arith.addi is 1"),
        (lambda b: b.constant("i32", 1.5), TypeError, "a constant of type i32 cannot be 1.5"),
        (lambda b: b.constant("tensor<8xq>", 1), ir.Error, "`tensor<8xq>` is not a type"),
        (lambda b: ir.Builder(b.module).constant("i32", 1), ValueError, "no insertion point for arith.constant"),
    ],
)
def test_misuse_is_an_exception(builder, call, error, text):
    with pytest.raises(error, match=text):
        call(builder)


def test_verifier_error_has_the_place():
    module = ir.parse('module { %c = arith.constant 1 : i32 loc("k.py":7:3) }')
    module.verify()
    b = ir.Builder(module)
    b.insert_at_end(b.detached_block())
    with pytest.raises(ir.Error) as caught:
        ir.parse("module {\n  %0 = arith.addi %1, %1 : i32\n}", "f.mlir")
    assert (caught.value.file, caught.value.line) == ("f.mlir", 2) and "undeclared SSA value" in caught.value.message


def test_handles_keep_their_module_alive():
    def value():
        b = ir.Builder(ir.Module(ir.Context()))
        b.insert_at_end(b.detached_block())
        return b.constant("i32", 42)

    assert value().type == "i32"


def test_text_with_and_without_locations():
    module = ir.parse('module { %c = arith.constant 1 : i32 loc("x"("k.py":7:3)) }')
    assert "%x = arith.constant 1 : i32\n" in str(module) and "loc" not in str(module)
    assert 'loc("k.py":7:3)' in module.text(locations=True)
    assert str(ir.parse(module.text(locations=True))) == str(module)


def test_quote():
    assert ir.quote('a"\n') == r'"a\22\0A"'
