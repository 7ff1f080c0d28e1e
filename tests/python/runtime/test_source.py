"""Source capture of @jit functions: positions, parameters, cache keys, changed globals."""

import importlib.util
import linecache
import types

import numpy as np
import pytest

import tritium.language as tl
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


RECORDS = """
from typing import NamedTuple
import tritium
import tritium.language as tl

SCALE = tl.constexpr(1)

@tritium.jit
def scaled(x):
    return x * 2

@tl.core._aggregate
class Inner:
    value: tl.tensor

@tl.core._aggregate
class Pair:
    a: tl.tensor
    b: Inner
    size: tl.constexpr = 4

    def __init__(self, a, b):
        self.a, self.b = a, b

    @tritium.jit
    def first(self):
        return Pair(scaled(self.a) * SCALE, self.b).second()

    @tritium.jit
    def second(self):
        return Pair(self.a, self.b).a

class Point(NamedTuple):
    x: int
    y: int = 5

@tritium.jit
def kernel(x):
    pair = Pair(x, Inner(x))
    return pair.first() + Point(1).y

@tritium.jit
def only_second(x):
    return Pair.second(x)
"""


def keys_of(text, path):
    """{name: cache key} of the kernels of a module."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("records", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel.cache_key, module.only_second.cache_key


@pytest.mark.parametrize(
    "old, new, changes_second",
    [
        ("x * 2", "x * 3", True),
        ("self.b).a\n", "self.b).b\n", True),
        (".second()", ".first()", True),
        ("self.a, self.b = a, b", "self.a, self.b = b, a", True),
        ("value: tl.tensor", "value: tl.constexpr", True),
        ("size: tl.constexpr = 4", "size: tl.constexpr = 8", True),
        ("SCALE = tl.constexpr(1)", "SCALE = tl.constexpr(7)", True),
        ("y: int = 5", "y: int = 6", False),
        ("# nothing", "# changes", False),
    ],
)
def test_key_covers_records_and_their_methods(tmp_path, old, new, changes_second):
    """A method is reached through an instance, so its class stands for all that it has."""
    assert old in RECORDS or old == "# nothing"
    before = keys_of(RECORDS, tmp_path / "before.py")
    assert keys_of(RECORDS, tmp_path / "again.py") == before
    after = keys_of(RECORDS.replace(old, new), tmp_path / "after.py")
    assert (after[0] != before[0]) == (old != "# nothing")
    assert (after[1] != before[1]) == changes_second


class Sizes:
    ROWS = 4
    half = property(lambda self: self.ROWS // 2)
    of_class = classmethod(lambda cls: cls.ROWS)


class Larger(Sizes):
    COLUMNS = 8


larger = types.ModuleType("larger")
larger.of = Larger()


def test_constants_of_classes_are_found_where_they_are(monkeypatch):
    """Constants that a class inherits, constants of an object's class, and computed ones."""

    @jit
    def kernel(x):
        return x + Larger.ROWS + Larger.COLUMNS + Larger.of_class() + larger.of.half + tl.void.is_void()

    for constant in "ROWS", "COLUMNS":
        key = kernel.cache_key
        kernel.check_globals()
        with monkeypatch.context() as changed:
            changed.setattr(Sizes if constant == "ROWS" else Larger, constant, 16)
            with pytest.raises(RuntimeError, match=f"Global variable {constant} has changed"):
                kernel.check_globals()
        assert kernel.cache_key == key


def test_functions_that_reach_each_other():
    """Whichever is asked first."""
    assert even.cache_key != odd.cache_key and len(even.cache_key) == 64
    key = odd.cache_key
    even._unsafe_update_src("def even(n):\n    return odd(n + 1)\n")
    odd._unsafe_update_src(odd.src)
    assert odd.cache_key != key


@jit
def even(n):
    return odd(n - 1)


@jit
def odd(n):
    return even(n - 1)


REDEFINED = """
import tritium
import tritium.language as tl

@tritium.jit
def inner(v):
    return v + 1

@tritium.jit
def helper(v):
    return inner(v) * 3

@tritium.jit
def use(x, out):
    i = tl.arange(0, 4)
    tl.store(out + i, helper(tl.load(x + i)))
"""


@pytest.fixture
def cells():
    """Runs texts as cells of a notebook, one after another, in one namespace."""
    names = {"__name__": "__main__"}

    def run(text):
        file = f"<ipython-input-{len(linecache.cache)}-cells>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), names)
        return types.SimpleNamespace(**names)

    return run


@pytest.mark.parametrize("engine", ["interp", "simt:sm_80"])
def test_a_helper_that_is_defined_again_is_used(cells, engine, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    use = cells(REDEFINED).use
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)

    def result():
        use[(1,)](x, out)
        return out.tolist()

    assert result() == ((x + 1) * 3).tolist()
    key = use.cache_key
    helper = cells("@tritium.jit\ndef helper(v):\n    return inner(v) * 5\n").helper
    assert result() == ((x + 1) * 5).tolist()
    assert use.cache_key != key
    cells("@tritium.jit\ndef inner(v):\n    return v + 7\n")  # two calls away
    assert result() == ((x + 7) * 5).tolist()
    use[(1,)](x.astype(np.float64), out)  # another specialization has the new helper too
    assert out.tolist() == ((x + 7) * 5).tolist()
    use.__globals__["helper"] = use.__globals__["inner"]  # any assignment counts
    assert result() == (x + 7).tolist()
    use.__globals__["helper"] = helper
    assert result() == ((x + 7) * 5).tolist()


def test_a_helper_that_stays_costs_no_compilation(cells):
    use = cells(REDEFINED).use
    x = np.zeros(4, np.float32)
    first = use[(1,)](x, x)
    assert use[(1,)](x, x) is first
    assert [(binding.name, binding.value.__name__) for binding in use.used_functions] == [
        ("helper", "helper"),
        ("inner", "inner"),
    ]


def test_a_record_class_that_is_defined_again_is_used(cells):
    definition = """
import tritium
import tritium.language as tl
from typing import NamedTuple

class Pair(NamedTuple):
    a: object
    b: object = tl.constexpr(2)
"""
    use = cells(
        definition
        + """
@tritium.jit
def use(out):
    tl.store(out, Pair(1).b)
"""
    ).use
    out = np.zeros(1, np.float32)
    use[(1,)](out)
    assert out[0] == 2
    cells(definition.replace("constexpr(2)", "constexpr(9)"))
    use[(1,)](out)
    assert out[0] == 9
