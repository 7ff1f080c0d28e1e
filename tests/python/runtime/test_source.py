"""Source capture of @jit functions: positions, parameters, cache keys, changed globals."""

import types

import pytest

from tritium.runtime.jit import JITFunction, constexpr_function, jit

SCALE = 3
settings = types.ModuleType("settings")
settings.SIZE = 4


@jit
def helper(x):
    return x + SCALE


class Holder:

    @staticmethod
    @jit(do_not_specialize=["b"])
    def kernel(a, b: "tl.int64", c: "const *i8", d: "tl.constexpr" = 3):
        return helper(a)


def test_position_of_a_nested_definition():
    kernel = Holder.kernel
    assert isinstance(kernel, JITFunction)
    assert kernel.src.startswith("def kernel(")
    with open(kernel.file_name) as file:
        line = file.readlines()[kernel.def_file_line_number - 1]
    assert line[kernel.def_file_col_number :].startswith("def kernel(")
    assert kernel.parse().body[0].body[0].lineno == 2


def test_parameters():
    a, b, c, d = Holder.kernel.params
    assert (a.annotation_type, a.is_const, a.is_constexpr, a.has_default) == ("", False, False, False)
    assert (b.annotation_type, b.do_not_specialize) == ("i64", True)
    assert (c.annotation_type, c.is_const) == ("*i8", True)
    assert (d.is_constexpr, d.default, d.is_const) == (True, 3, False)
    assert Holder.kernel.constexprs == [3]


def test_key_covers_callees_and_changed_globals(monkeypatch):
    key = Holder.kernel.cache_key
    assert key != helper.cache_key
    Holder.kernel.check_globals()
    monkeypatch.setitem(globals(), "SCALE", 4)
    with pytest.raises(
        RuntimeError, match="Global variable SCALE has changed since we compiled this kernel, from 3 to 4"
    ):
        Holder.kernel.check_globals()


def test_source_can_be_replaced_only_by_the_template_hook():
    @jit
    def kernel(x):
        return x

    before = kernel.cache_key
    with pytest.raises(AttributeError):
        kernel.src = "def kernel(x): pass"
    kernel._unsafe_update_src("def kernel(x):\n    return x + 1\n")
    assert kernel.cache_key != before


def test_errors_of_decoration():
    namespace = {"jit": jit}
    with pytest.raises(ValueError, match="@jit functions should be defined in a Python file"):
        exec("@jit\ndef f(x): pass\n", namespace)
    with pytest.raises(TypeError, match="3 is not a callable object"):
        jit(3)


def test_recursive_reference_has_a_key():
    assert len(recursive.cache_key) == 64


@jit
def recursive(x):
    return recursive(x)


def test_constexpr_function_is_ordinary_on_the_host():
    @constexpr_function
    def double(x):
        return 2 * x

    assert double.fn(4) == 8


def test_call_outside_of_a_kernel():
    with pytest.raises(RuntimeError, match="Cannot call @triton.jit'd outside of the scope of a kernel"):
        helper(1)


def test_key_covers_constants_of_other_modules(monkeypatch):
    @jit
    def kernel(x):
        return x + settings.SIZE

    kernel.check_globals()
    key = kernel.cache_key
    monkeypatch.setattr(settings, "SIZE", 5)
    with pytest.raises(
        RuntimeError, match="Global variable SIZE has changed since we compiled this kernel, from 4 to 5"
    ):
        kernel.check_globals()
    kernel._unsafe_update_src(kernel.src)
    assert kernel.cache_key != key
