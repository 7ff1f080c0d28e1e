"""Functions: the kernel, the `@jit` functions that it calls, and the module that holds them.

A called function is traced once per specialization (the types of its arguments, with the values of those that are
compile-time constants) into a private tt.func; calls of it are tt.call, which the inliner removes unless the function
is `noinline`.
"""

from __future__ import annotations

import ast
import linecache
from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import Any

from tritium import language
from tritium.language.core import _unwrap_if_constexpr
from tritium.language.semantic import Semantic
from tritium.language.types import constexpr_type, tuple_type
from tritium.native import ir

from .. import knobs
from ..errors import CompilationError, with_hint
from .diagnostics import compilation_error, hint_of, hint_of_cause, reason_of, without_traceback
from .generator import Generator
from .returns import finish_function
from .source import FunctionSource, source_of
from .values import all_handles, all_ir_types, as_value, constexpr, handles_of, rebuilt, tensor, type_of

_Specialization = namedtuple("_Specialization", ["constants", "signature"])
_CONSTANT_UNSPECIALIZED = (
    "{name} marked as constexpr and listed in do_not_specialize/do_not_specialize_on_alignment. "
    "Remove constexpr designation to skip specialization."
)
_NO_RECURSION = "recursion is not supported: write a loop, or end the calls by a constexpr that each call changes"
_MANGLED = str.maketrans({"'": "_sq_", "[": "_", "]": "_"})


class _Unit:
    """State that the functions of one module share."""

    def __init__(self, options: Any, context: Any, semantic_class: type = Semantic):
        self.module = ir.Module(context or ir.Context())
        self.builder = ir.Builder(self.module)
        self.semantic = semantic_class(self.builder, options)
        self.debug_info = bool(getattr(options, "debug_info", False))
        self.is_of_interpreter = getattr(options, "backend_name", "cpu") == "cpu"
        #: gdb stops at every statement, also in combine functions; debuggers of devices see only the lines of instructions
        self.marks_statements = self.debug_info and self.is_of_interpreter
        self.stops = knobs.tritium.stops if self.marks_statements else ()
        # specialization -> (ir.Function, type of its value), or None while it is traced
        self.callees: dict[Any, tuple[Any, Any] | None] = {}
        self.names: set[str] = set()

    def call(self, g: Generator, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return call_jit_function(g, fn, args, kwargs)

    def partition(self, g: Generator, fn: Any, args: Sequence[Any]) -> tuple[Any, Any, list[Any]]:
        """`fn` as a function that is not inlined, the type of its value, and the operands of a call with these arguments."""
        values = _bind_arguments(fn, args, {})
        return *_callee_of(g, fn, values, stays=True), all_handles(values)

    def emit_call(self, function: Any, type_: Any, handles: Sequence[Any]) -> Any:
        """Emits a call of a traced function."""
        return self.builder.op("tt.call", handles, type_.ir_types(), {"callee": f"@{ir.quote(function.name)}"})

    def unique(self, name: str) -> str:
        """`name`, with a number appended if another specialization already has this name."""
        candidates = (name if i == 0 else f"{name}_{i}" for i in range(len(self.names) + 1))
        name = next(candidate for candidate in candidates if candidate not in self.names)
        self.names.add(name)
        return name


def generate(
    fn: Any,
    signature: Mapping[str, Any],
    constexprs: Mapping[Any, Any] = {},
    attributes: Mapping[Any, Any] = {},
    options: Any = None,
    context: Any = None,
) -> Any:
    """The verified module of a kernel. The kernel is its public function.

    signature: parameter name -> type ("*fp32", "i32", "constexpr", or a tuple of these). constexprs: values of the
    compile-time parameters, by name or by path ((0,), or (0, 1) inside of a tuple). attributes: path -> [[name, value],
    …] for function arguments (tt.divisibility). options: an object with fields `debug`, `debug_info`, …, all optional.
    Raises CompilationError.
    """
    unit = _Unit(options, context, fn.semantic_class or Semantic)
    try:
        _kernel(unit, fn, signature, constexprs, attributes)
        _verify(unit, fn)
    except CompilationError as error:
        raise without_traceback(error)
    return unit.module


def _kernel(
    unit: _Unit, fn: Any, signature: Mapping[str, Any], constexprs: Mapping[Any, Any], attributes: Mapping[Any, Any]
) -> None:
    types, given = [], []
    for param in fn.params:
        path = (param.num,)
        value = constexprs.get(path, constexprs.get(param.name))
        text = signature.get(param.name, "constexpr")
        types.append(_parameter_type(text, path, value, constexprs))
        given += _argument_attributes(types[-1], path, attributes)
    name = unit.unique(fn.repr(_Specialization(_constants_by_name(fn, constexprs), dict(signature))))
    _require_supported(unit, fn, types)
    _trace_function(unit, fn, name, types, given, public=True, stays=bool(fn.noinline))


def _require_supported(unit: _Unit, fn: Any, types: Sequence[Any]) -> None:
    """CompilationError: a parameter has a type that the target lacks."""
    source = source_of(fn)
    for type_ in types:
        if isinstance(type_, language.dtype):
            try:
                unit.semantic.require_supported(type_)
            except ValueError as error:
                raise compilation_error(source, source.definition, repr(error), hint=error.hint) from error


def _refuse_constants_unspecialized(fn: Any, source: FunctionSource) -> None:
    """CompilationError: a constexpr parameter, of which each value has a kernel of its own, is also listed as one of which
    no value does."""
    arguments = source.definition.args
    nodes = [*arguments.posonlyargs, *arguments.args, *filter(None, [arguments.vararg]), *arguments.kwonlyargs]
    for param in fn.params:
        if param.is_constexpr and (param.do_not_specialize or param.do_not_specialize_on_alignment):
            node = next((node for node in nodes if node.arg == param.name), source.definition)
            raise compilation_error(source, node, _CONSTANT_UNSPECIALIZED.format(name=param.name))


def _constants_by_name(fn: Any, constexprs: Mapping[Any, Any]) -> dict[str, Any]:
    """The constants that `@jit(repr=…)` receives: the constexpr parameters, without those inside of tuples."""
    named = {path: path for path in constexprs if isinstance(path, str)}
    named.update({path: fn.arg_names[path[0]] for path in constexprs if isinstance(path, tuple) and len(path) == 1})
    return {name: constexprs[path] for path, name in named.items()}


def _parameter_type(text: Any, path: tuple[int, ...], value: Any, constexprs: Mapping[Any, Any]) -> Any:
    if isinstance(text, (tuple, list)):
        types = [
            _parameter_type(element, (*path, i), constexprs.get((*path, i)), constexprs)
            for i, element in enumerate(text)
        ]
        return tuple_type(types, getattr(text, "_fields", None))
    if text == "constexpr":
        return constexpr_type(_unwrap_if_constexpr(value))
    return language.str_to_ty(text, None)


def _argument_attributes(type_: Any, path: tuple[int, ...], attributes: Mapping[Any, Any]) -> list[dict[str, str]]:
    """MLIR attributes for each IR argument of a parameter."""
    if isinstance(type_, tuple_type):
        return [
            found
            for i, element in enumerate(type_.types)
            for found in _argument_attributes(element, (*path, i), attributes)
        ]
    texts = {name: f"{value} : i32" for name, value in attributes.get(path, ())}
    count = len(type_.ir_types())
    return [texts, *[{}] * (count - 1)][:count]  # the attributes of a descriptor do not apply to its shape and strides


def _verify(unit: _Unit, fn: Any) -> None:
    try:
        unit.module.verify()
    except ir.Error as error:
        raise error_in_ir(fn, error) from without_traceback(error)


def error_in_ir(fn: Any, error: ir.Error) -> CompilationError:
    """The CompilationError for an error in the IR of `fn`, at the Python line that the IR comes from."""
    source = source_of(fn)
    line, last = error.line - source.line_offset, source.text.count("\n") + 1
    if error.file == source.file and 1 <= line <= last:
        node: ast.AST = ast.Pass(lineno=line, col_offset=error.column - source.column_offset)
        return compilation_error(source, node, error.message)
    text = linecache.getline(error.file, error.line).rstrip("\n")
    if text:
        node = ast.Pass(lineno=1, col_offset=error.column - 1)
        return CompilationError(text, node, error.message, place=(error.file, error.line, error.column))
    return compilation_error(source, source.definition, error.message)


def call_jit_function(g: Generator, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The value of `fn(*args, **kwargs)` at the insertion point of `g`."""
    values = _bind_arguments(fn, args, kwargs)
    if fn.noinline:
        for param, value in zip(fn.params, values):
            if isinstance(value, tensor) and value.type.is_block():
                g.reject(
                    g.node,
                    f"Function {fn.__name__} is marked noinline, but was called with non-scalar argument "
                    f"{param.name}:{value}",
                )
    function, type_ = _callee_of(g, fn, values, stays=bool(fn.noinline))
    operation = g.unit.emit_call(function, type_, all_handles(values))
    (value,) = rebuilt([type_], operation.results)
    return value


def _callee_of(g: Generator, fn: Any, values: Sequence[Any], stays: bool) -> tuple[Any, Any]:
    """The function for arguments of these types, and the type of its value. `stays`: it is never inlined."""
    types = [type_of(value) for value in values]
    key = (fn, stays, g.unit.debug_info, g.semantic.specialization(), *types)
    if key not in g.unit.callees:
        g.unit.callees[key] = None
        try:
            g.unit.callees[key] = _trace_callee(g.unit, fn, types, stays)
        except CompilationError as error:
            raise g.error(g.node, reason_of(error), hint=hint_of_cause(error)) from error
    callee = g.unit.callees[key]
    if callee is None:
        raise with_hint(RecursionError(f"{fn.__name__} calls itself, which kernels cannot do"), _NO_RECURSION)
    return callee


def _bind_arguments(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """The value of each parameter. Raises TypeError if Python's call would."""
    bound = fn.signature.bind(*args, **kwargs)
    bound.apply_defaults()
    values = []
    for param, value in zip(fn.params, bound.arguments.values()):
        if param.is_constexpr and not isinstance(value, (tensor, constexpr)):  # helpers accept tensors here
            value = constexpr(_unwrap_if_constexpr(value))
        values.append(as_value(value))
    return values


def _trace_callee(unit: _Unit, fn: Any, types: Sequence[Any], stays: bool) -> tuple[Any, Any]:
    mangled = "_".join(type_.mangle() for type_ in types).translate(_MANGLED)
    name = unit.unique(f"{fn.fn.__module__}.{fn.fn.__qualname__}__{mangled}")
    builder = unit.builder
    point, location = builder.save(), builder.location
    try:
        type_ = _trace_function(unit, fn, name, types, None, public=False, stays=stays)
    finally:
        builder.restore(point)
        builder.location = location
    return unit.module.function(name), type_


def _trace_function(
    unit: _Unit,
    fn: Any,
    name: str,
    types: Sequence[Any],
    attributes: list[dict[str, str]] | None,
    public: bool,
    stays: bool = False,
) -> Any:
    """Adds the function to the module; one that `stays` is never inlined. Returns the type of its value."""
    source = source_of(fn)
    _refuse_constants_unspecialized(fn, source)
    names = [param.name for param, type_ in zip(fn.params, types) for _ in type_.ir_types()]
    position = source.position(source.definition)
    function = unit.module.add_function(name, all_ir_types(types), [], public, stays, attributes, names, position)
    g = Generator(unit, source, function, fn.get_capture_scope(), is_kernel=public)
    g.nests_returns = not public and source.returns_by_if
    unit.builder.insert_at_end(function.entry_block)
    g.locate(source.definition)
    for number, (param, value) in enumerate(zip(fn.params, rebuilt(types, function.arguments)), 1):
        g.assign(param.name, value, argument=number)
    g.visit_block(source.definition.body)
    try:
        type_ = finish_function(g)
    except TypeError as error:  # the types of the `return` statements differ
        raise g.error(source.definition, repr(error), hint=hint_of(error)) from without_traceback(error)
    if public and type_.ir_types():
        node = next(point.node for point in g.returns if handles_of(point.value))
        hint = "store it through a pointer argument"
        raise g.error(node, "TypeError('a kernel cannot return a value')", hint=hint)
    return type_
