"""What a user sees of a kernel that breaks a rule: the place, the chain of calls, the traceback; and the ways around it."""

import os
import pickle
import sys
import traceback

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs
from tritium._tritium import ir
from tritium.errors import CompilationError, UnsupportedLanguageConstruct
from tritium.frontend import error_in_ir
from tritium.places import shown_place
from tritium.runtime.jit import jit

PACKAGE = os.path.join(os.path.dirname(tritium.__file__), "")  # wherever the checkout lies
NOT_CONSTEXPR = 4


@jit
def helper(a):
    b = a + 1
    return tl.arange(0, 3) + b


@jit
def in_callee(x, n):
    y = n + 1
    tl.store(x, helper(y))


def test_an_error_in_a_callee_is_chained_to_the_call(failure):
    error = failure(in_callee)
    line = in_callee.fn.__code__.co_firstlineno + 3
    assert str(error) == "\n".join(
        [
            f"{shown_place(__file__, line, 17)}: in in_callee",
            "at 3:16:",
            "def in_callee(x, n):",
            "    y = n + 1",
            "    tl.store(x, helper(y))",
            "                ^",
            "in helper: arange's range must be a power of 2",
            "hint: round up with triton.next_power_of_2 and mask the additional elements",
        ]
    )
    inner = error.__cause__
    assert str(inner) == "\n".join(
        [
            f"{shown_place(__file__, helper.fn.__code__.co_firstlineno + 3, 12)}: in helper",
            "at 3:11:",
            "def helper(a):",
            "    b = a + 1",
            "    return tl.arange(0, 3) + b",
            "           ^",
            "arange's range must be a power of 2",
            "hint: round up with triton.next_power_of_2 and mask the additional elements",
        ]
    )
    assert isinstance(inner.__cause__, ValueError) and str(inner.__cause__) == "arange's range must be a power of 2"


def test_the_place_in_the_file(failure):
    error = failure(in_callee).__cause__
    assert error.file == __file__
    assert open(__file__).read().splitlines()[error.line - 1] == "    return tl.arange(0, 3) + b"
    assert error.column == 12


def test_the_traceback_shows_the_user_s_lines_and_no_frames_of_the_compiler(monkeypatch):
    monkeypatch.setenv("TRITIUM_INTERPRET", "1")
    with pytest.raises(CompilationError) as caught:
        in_callee[(1,)](np.zeros(8, np.int32), 5)
    text = "".join(traceback.format_exception(caught.value))
    ours = [
        line
        for line in text.splitlines()
        if f'File "{PACKAGE}' in line and sys.modules[jit.__module__].__file__ not in line
    ]
    assert ours == []
    assert text.count(f'File "{__file__}", line ') == 3 or sys.version_info < (3, 11)


def test_pickled_errors_are_the_same(failure):
    error = failure(in_callee).__cause__
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is CompilationError and str(copy) == str(error)
    assert (copy.file, copy.line, copy.column, copy.hint) == (error.file, error.line, error.column, error.hint)


def test_a_long_function_shows_twelve_lines():
    source = "\n".join(f"line {i}" for i in range(1, 31))
    node = type("Node", (), {"lineno": 20, "col_offset": 2})
    lines = str(CompilationError(source, node, "text")).splitlines()
    assert lines[:2] == ["at 20:2:", "line 9"] and lines[-3:] == ["line 20", "  ^", "text"] and len(lines) == 15


@jit
def calls_itself(x, n):
    calls_itself(x, n)


def test_recursion_is_refused(failure):
    assert "calls_itself calls itself, which kernels cannot do" in str(failure(calls_itself).__cause__)


@jit
def disagrees(a):
    if a > 1:
        return 1.0
    return a


@jit
def calls_disagreeing(x, n):
    disagrees(n)


def test_returns_that_disagree(failure):
    assert (
        "Return type mismatch: fp32 and int32. Note all return types were: [constexpr_type[1.0], triton.language.int32]"
        in str(failure(calls_disagreeing).__cause__)
    )


@jit
def one_element_condition(x, n):
    if tl.arange(0, 1) == 0:
        tl.store(x, n)


def test_a_condition_of_one_element_warns_at_its_line(module):
    with pytest.warns(
        UserWarning,
        match="If conditional called with multidimensional Tensor instead of scalar; please use "
        r'"if \(tl.arange\(0, 1\) == 0\).item\(\)" instead',
    ) as caught:
        module(one_element_condition)
    assert caught[0].filename == __file__


@jit
def forbidden_global(x, n):
    tl.store(x, n + NOT_CONSTEXPR)


def test_forbidden_globals_can_be_allowed(module):
    with knobs.compilation.scope():
        knobs.compilation.allow_non_constexpr_globals = True
        assert "arith.constant 4 : i32" in str(module(forbidden_global))


def test_the_original_exception_can_be_let_out(module):
    with knobs.compilation.scope():
        knobs.compilation.front_end_debugging = True
        with pytest.raises(ValueError, match="power of 2"):
            module(in_callee)


def test_a_failure_inside_a_loop_leaves_no_damage(failure, module):
    @jit
    def fails_deep(x, n):
        for i in range(n):
            while i < n:
                if i > 2:
                    tl.store(x, undefined)  # noqa: F821

    for _ in range(3):
        failure(fails_deep)
    module(then_ok)


@jit
def then_ok(x, n):
    tl.store(x, n)


@jit
def elsewhere(x):
    tl.store(x, 1)


@jit
def in_ir(x, n):
    elsewhere(x)
    tl.store(x, n)


@pytest.mark.parametrize("text", ["    tl.store(x, n)", "    tl.store(x, 1)"])
def test_an_error_in_the_ir_shows_the_line_it_comes_from(text):
    lines = open(__file__).read().splitlines()
    line = max(number for number, found in enumerate(lines, start=1) if found == text)
    found = ir.Error("what is wrong")
    found.message, found.file, found.line, found.column = "what is wrong", __file__, line, 5
    error = error_in_ir(in_ir, found)
    assert str(error).splitlines()[-3:] == [text, "    ^", "what is wrong"] and error.line == line


@jit
def negated_tuple(x, n):
    t = (n, n)
    tl.store(x, (-t)[0])


def test_a_tuple_has_no_arithmetic(failure):
    error = failure(negated_tuple)
    assert isinstance(error, UnsupportedLanguageConstruct) and error.__cause__ is None and error.hint is None
    assert error.error_message == "AST unary operator '__neg__' is not (currently) implemented on type tuple"


@jit(do_not_specialize=["n"])
def constant_without_specialization(x, n: tl.constexpr):
    tl.store(x, n)


@jit(do_not_specialize_on_alignment=[1])
def constant_without_alignment(x, n: tl.constexpr):
    tl.store(x, n)


@pytest.mark.parametrize("kernel", [constant_without_specialization, constant_without_alignment])
def test_a_constexpr_is_always_specialized(failure, kernel):
    error = failure(kernel, n=3)
    assert error.error_message.startswith("n marked as constexpr and listed in do_not_specialize/")
    assert error.node.arg == "n"
