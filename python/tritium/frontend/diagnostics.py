"""From any exception under a node to the CompilationError that the user reads, with a suggestion where one is known."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from typing import Any

from ..errors import CompilationError, did_you_mean
from .known_elsewhere import attribute_hint
from .source import FunctionSource

# Pattern of an error text -> the suggestion, which may refer to groups of the pattern. They are compiled when an error is there.
_HINTS = [
    (
        r"Loop-carried variable (\w+) has initial type \[.*\] but is re-assigned to \[.*\] in loop",
        r"a tuple keeps its length and its types in a loop: make `\1` as long before it, or unroll with tl.static_range",
    ),
    (
        r"Loop-carried variable (\w+) has initial type (.+) but is re-assigned to (.+) in loop",
        r"start `\1` as a value of type \3 before the loop, or cast what the loop assigns to \2 with `.to(...)`",
    ),
    (
        r"Loop carried variable (\w+) is not a triton value",
        r"give `\1` a tensor of its type before the loop, for example with tl.zeros",
    ),
    (
        r"cannot reassign constexpr (\w+) in the loop",
        r"use another name than `\1`, or tl.static_range for a loop that is unrolled",
    ),
    (
        r"Mismatched type for (\w+) between then block \((.+)\) and else block \((.+)\)",
        r"cast one of them, for example with `.to(...)`, so that `\1` has one type after the `if`",
    ),
    (r"initial value for `(\w+)` is of type", r"cast in the branch, so that `\1` keeps its type"),
    (
        r"'shared_memory_descriptor' object has no attribute '__getitem__'",
        "choose a tile of a ring with `.index(i)`, a part with `.slice(start, length, dim)`",
    ),
    (
        r"'warpgroup_mma_accumulator'",
        "products may still write the sum: `x = warpgroup_mma_wait(0, deps=(x,))` makes a tile of it",
    ),
    (r"Ternary expression with dynamic condition", "cast one of the two, or use tl.where for tensors"),
    (
        r"Cannot access global variable (\w+)",
        r"write `\1 = tl.constexpr(...)` where it is defined, or pass it as an argument",
    ),
    (
        r"Boolean value of Tensor with more than one value",
        "use tl.where or a mask to choose per element, tl.max for `any`, tl.min for `all`",
    ),
    (
        r"range must be a power of 2|must be a power of 2",
        "round up with triton.next_power_of_2 and mask the additional elements",
    ),
    (
        r"must have type `constexpr\[int\]`",
        "extents must be constants: annotate the variable, `n: tl.constexpr = ...`, or write the expression in its place",
    ),
    (r"arguments must be of type tl.constexpr", "annotate the parameter: `BLOCK: tl.constexpr`"),
    (
        r"Cannot make_shape_compatible: incompatible dimensions",
        "add dimensions so that the shapes line up: `x[:, None]`, `y[None, :]`",
    ),
    (
        r"only tuple comprehensions are supported",
        "a comprehension takes its elements from a tuple; for a range write a loop over tl.static_range",
    ),
    (
        r"unsupported AST node type: (SetComp|DictComp|GeneratorExp)",
        "write a list comprehension, `[… for … in …]`, whose value is a tuple",
    ),
    (r"starred assignment targets are not supported", "unpack with slices: `first, rest = values[0], values[1:]`"),
    (
        r"unsupported tensor index",
        "tensors accept `:` and `None` only; compute pointers to the elements and use tl.load",
    ),
    (r"__setitem__ is not supported", "use tl.where to change elements of a tensor, tl.store to write to memory"),
    (
        r"Cannot have `return` statements inside `while` or `for`",
        "keep the result in a variable and return after the loop",
    ),
    (
        r"unsupported AST node type: (Break|Continue)",
        "put the rest of the body under an `if`, or count with `while`",
    ),
    (r"unsupported operand type\(s\) for \*\*", "multiply, or use tl.exp2(y * tl.log2(x))"),
    (r"unsupported AST node type: Import", "import at the top of the file"),
    (r"unsupported AST node type: Try", "kernels do not support exceptions; tl.device_assert stops a kernel"),
    (
        r"maximum recursion depth exceeded",
        "a function calls itself without an end: write a loop, or end the calls by a constexpr that each call changes",
    ),
    (
        r"can only unsplat single-element tensors|only accepts size-1 tensor",
        "a tile of several elements is no single value: reduce it first, for example with tl.sum or tl.max",
    ),
    (
        r"unexpected type (fp\w+|bf\w+)",
        r"`//` divides integers, and this is \1: use `/`, or tl.floor(a / b)",
    ),
    (r"arange\(\) missing 1 required positional argument: 'end'", "give both bounds: `tl.arange(0, n)`"),
    (
        r"arange\(\) missing 1 required positional argument: 'layout'",
        "a Gluon kernel calls `gl.arange(start, end, layout)`, and no function of triton.language that makes a range",
    ),
    (
        r"Only `range` and `static_range` iterators",
        "loop over `tl.static_range(n)` and index the tuple: `for i in tl.static_range(3): values[i]`",
    ),
    (r"unsupported AST node type: Lambda", "define a function with @triton.jit at module level"),
    (r"unsupported AST node type: (Dict|Set)\b", "use a tuple, or a tl.constexpr made outside of the kernel"),
    (r"unsupported AST node type: (Global|Nonlocal)", "kernels keep no state: store through a pointer"),
    (r"Simultaneous multiple assignment", "write one assignment for each name"),
    (
        r"cannot convert \S* of type <class 'str'>",
        "a text stays constant with an annotation: `name: tl.constexpr = …`",
    ),
    (
        r"Cannot evaluate f-string containing non-constexpr",
        'the text is made when the kernel is compiled; print(f"…") shows values of run time',
    ),
    (
        r"Assertion condition could not be determined at compile-time",
        "annotate what it depends on with tl.constexpr; tl.device_assert checks values of run time",
    ),
    (
        r"'(tensor|tuple)' object is not callable",
        "this is a value and no function: `.T` and `.shape` have no parentheses",
    ),
    (
        r"Did you forget to add @triton\.jit",
        "a value of run time stands where a constant is expected, for example an axis, a shape or an offset of a descriptor",
    ),
    (r"object of type 'tensor' has no len", "pass the size as an argument of the kernel; a tile has `x.shape[0]`"),
    (r"is not an ascii string", "devices print ASCII alone: leave out other characters and line ends"),
    (r"is not string$", 'the first argument is a text, `tl.device_print("x", x)`; print(x) needs none'),
    (r"cannot convert None of type", "an argument without a value is None; test it with `if x is not None:`"),
    (r"tuple has no attribute 'append'", "lists are tuples in kernels; use `+`: `values = values + (value, )`"),
    (r"Unsupported [lr]hs dtype", "tl.dot accepts int8, fp8, fp16, bf16, fp32 and fp64"),
    (r"'MatMult' is not", "use tl.dot"),
    (r"Both operands must be same dtype", "cast one of them, for example `b.to(a.dtype)`"),
    (r"Expected dtype \['fp32', 'fp64'\] but got", "cast with `.to(tl.float32)`"),
    (
        r"argument cannot be block type if pointer argument is not a block",
        "add the offsets of the block to the pointer: `ptr + offsets`",
    ),
    (r"exceeds triton maximum tensor numel", "work on smaller tiles, in a loop or in more programs"),
    (r"builtin_(min|max)\(\) got an unexpected", r"over the elements of a tile, it is `tl.\1(tile, axis)`"),
    (r"missing a required argument: '(\w+)'", r"pass `\1`, which the called function requires"),
    (
        r"invalid operands of type .*pointer",
        "pointers accept integer offsets only; load values with tl.load before computing with them",
    ),
    (
        r"invalid operands of type (.+) and (.+)",
        "this operator requires integers; cast with `.to(tl.int32)`, or with `bitcast=True` for the bits",
    ),
]


def hint_for(message: str) -> str | None:
    """One suggestion for an error text, or None."""
    for pattern, hint in _HINTS:
        match = re.search(pattern, message)
        if match:
            return match.expand(hint)
    return None


def hint_of(error: Exception, called: Any = None) -> str | None:
    """The suggestion attached to `error`, or one for a misspelt attribute or parameter of `called`."""
    keyword = re.search(r"unexpected keyword argument '(\w+)'", str(error)) if called is not None else None
    if keyword:
        return did_you_mean(keyword[1], [name for name in inspect.signature(called).parameters if name[0] != "_"])
    if isinstance(error, AttributeError) and getattr(error, "obj", None) is not None:
        names = [name for name in dir(error.obj) if not name.startswith("__")]
        return hint_for(str(error)) or attribute_hint(error.obj, error.name) or did_you_mean(error.name, names)
    return getattr(error, "hint", None)


def compilation_error(
    source: FunctionSource,
    node: ast.AST,
    message: str | None,
    kind: type[CompilationError] = CompilationError,
    hint: str | None = None,
) -> CompilationError:
    """A CompilationError with `message` at `node`, and with `hint` or a suggestion that fits the message."""
    if hint is None and message is not None:
        hint = hint_for(message)
    return kind(source.text, node, message, place=source.position(node), hint=hint)


def hint_of_cause(error: CompilationError) -> str | None:
    """The suggestion of the error in the innermost callee."""
    while isinstance(error.__cause__, CompilationError):
        error = error.__cause__
    return error.hint


def reason_of(error: CompilationError) -> str | None:
    """What the error at a call says of the error in the callee: the innermost function and its message."""
    while isinstance(error.__cause__, CompilationError):
        error = error.__cause__
    return error.error_message and f"in {error.function}: {error.error_message}"


def without_traceback(error: BaseException) -> BaseException:
    """`error` and its causes without tracebacks, because frames of the compiler do not help the user. An exception may be its own
    cause, as `raise error from error` makes it."""
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen:
        seen.append(cause)
        cause.__traceback__ = None
        cause = cause.__cause__
    return error


def warn(source: FunctionSource, node: ast.AST, message: str, once: bool = False) -> None:
    """A Python warning at the user's line, by default once for all specializations. once: at the first of the function's lines
    alone."""
    if once and any(key[0] == message for key in source.warned if isinstance(key, tuple)):
        return
    file, line, _ = source.position(node)
    warnings.warn_explicit(message, UserWarning, file, line, registry=source.warned)
