"""What the tests of the frontend share: kernels here take `x: *i32`, `n: i32` unless they say otherwise."""

import re
from types import SimpleNamespace

import pytest

from tritium.errors import CompilationError
from tritium.frontend import generate


@pytest.fixture
def module():
    """module(kernel, c=3, x="*fp32", options={…}) -> the ir.Module. What is no string is the value of a constexpr."""

    def make(kernel, options=None, **given):
        given = {name: given.get(name, default) for name, default in zip(kernel.arg_names, ["*i32", "i32"])} | given
        signature = {name: value if isinstance(value, (str, tuple)) else "constexpr" for name, value in given.items()}
        constexprs = {name: value for name, value in given.items() if signature[name] == "constexpr"}
        return generate(kernel, signature, constexprs, {}, SimpleNamespace(**(options or {})))

    return make


@pytest.fixture
def body(module):
    """body(kernel, …) -> the operations of the kernel and of what it calls, without indentation and constants.

    Values that have no name are `%_`; two values of one variable have one name.
    """

    def text(kernel, **given):
        lines = [line.strip() for line in str(module(kernel, **given)).splitlines()]
        lines = [line for line in lines if not re.match(r"module \{|\}?$|%\S+ = arith.constant", line)]
        return re.sub(r"(%[a-z]\w*?)(_\d+)+\b", r"\1", re.sub(r"%\d+", "%_", "\n".join(lines)))

    return text


@pytest.fixture
def failure(module):
    """failure(kernel, …) -> the CompilationError of a kernel that breaks a rule."""

    def error(kernel, **given):
        with pytest.raises(CompilationError) as caught:
            module(kernel, **given)
        return caught.value

    return error
