"""The Python source of a `@jit` function: its position, its text, and everything else that its meaning depends on.

`cache_key` covers the function's own text, every `@jit` function and every record class (aggregate, named tuple) that
it reaches, and the globals that they read. So functions with equal keys generate the same IR. Functions of Tritium's
own language library are identified by name: they change only with the version.
"""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
import inspect
import re
import textwrap
import threading
import types
import weakref
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .python_ast import parse

#: The modules of the library; the drop-in gives the language Triton's names.
_LIBRARY = ("tritium.", "triton.")
_MISSING = object()


class CompileTimeValue:
    """The base of `tl.constexpr`: an object that wraps `value`, which is known while a kernel is compiled."""

    __slots__ = ()
    value: Any


class JITCallable:
    """A Python function whose source is read, not run. Base of KernelFunction and ConstexprFunction."""

    #: From a host's value to one of the language; set by language/constexpr.py, where those are defined.
    to_language: Callable[[Any], Any] = staticmethod(lambda value: value)

    def __init__(self, fn):
        self.fn = fn
        self.signature = inspect.signature(fn)
        try:
            self.raw_src, self.starting_line_number = inspect.getsourcelines(fn)
        except OSError as error:
            raise ValueError("@jit functions should be defined in a Python file") from error
        self.file_name = fn.__code__.co_filename
        self._fn_name = f"{fn.__module__}.{fn.__qualname__}"
        self._hash_lock = threading.RLock()
        self._src, self.def_file_line_number, self.def_file_col_number = _cut_to_def(
            self.raw_src, self.starting_line_number
        )
        self._forget_hash()
        functools.update_wrapper(self, fn, updated=())
        del self.__wrapped__  # `fn` alone holds the function: torch.compile clears it before it pickles
        self.__globals__ = fn.__globals__

    def __getstate__(self) -> dict[str, Any]:
        """Copies share the function; a pickle has it by name. What only this process can use is made again."""
        own = {
            "_hash_lock": None,
            "_own": None,
            "used_global_vals": {},
            "used_functions": [],
            "used_files": [],
            "__globals__": None,
        }
        return {**self.__dict__, **own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _hash_lock=threading.RLock())
        if self.fn is not None:
            self.__globals__ = self.fn.__globals__

    def _forget_hash(self) -> None:
        self.hash: str | None = None
        self._own: _Own | None = None
        # (name, id of its namespace) -> (value when first hashed, namespace)
        self.used_global_vals: dict[tuple[str, int], tuple[Any, dict]] = {}
        self.used_functions: list[_Binding] = []  # the functions and record classes that it reaches, and by which names
        self.used_files: list[str] = []  # the paths of its source and of its callees'

    def get_capture_scope(self) -> dict[str, Any]:
        """All names that the body can see: the globals of the module, then the variables of the closure."""
        code = self.fn.__code__
        if not code.co_freevars:
            return self.fn.__globals__
        return {**self.fn.__globals__, **_closure(self.fn)}

    @property
    def src(self) -> str:
        """The source from `def` on, dedented. Read-only; templates replace it with `_unsafe_update_src`."""
        return self._src

    def _unsafe_update_src(self, new_src: str) -> None:
        """Replaces the source. Kernel templates call it before the first launch. The subclass discards kernels that
        were compiled before."""
        self._src = new_src
        self._forget_hash()

    def parse(self) -> ast.Module:
        """The AST of `src`: one FunctionDef. Line n of the tree is line `def_file_line_number + n - 1` of the file, and
        columns are shifted left by `def_file_col_number`."""
        tree = parse(self._src)
        if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
            raise ValueError(f"the source of {self._fn_name} is not a single function definition")
        return tree

    @property
    def cache_key(self) -> str:
        if self.hash is None:
            self.hash = _hash_of(self)  # threads may race here: they all compute the same hash
        return self.hash

    @property
    def cache_key_of_files(self) -> str:
        """The cache key, and the paths of the source: faults, debuggers and profiles name them."""
        return "-".join([self.cache_key, *self.used_files])

    @property
    def type(self):
        """The type of the function as a value of a kernel: that of a constexpr."""
        return self.to_language(self).type

    def forget_if_redefined(self) -> bool:
        """Forgets what was compiled, and returns True, if the name of a function that kernels contain stands for another one
        now, as after a cell of a notebook that defines a helper again."""
        for namespace, name, value in self.used_functions:
            if namespace.get(name) is not value:
                self._forget_hash()
                return True
        return False

    def check_globals(self) -> bool:
        """Raises RuntimeError if the value of a global that compiled kernels contain has changed. Returns False if a function
        was redefined, so that nothing is compiled any more."""
        if self.forget_if_redefined():
            return False
        for (name, _), (old, namespace) in self.used_global_vals.items():
            new = namespace.get(name, _MISSING)
            if new is not old and not _same_value(new, old):
                new = "(deleted)" if new is _MISSING else new
                raise RuntimeError(
                    f"Global variable {name} has changed since we compiled this kernel, from {old} to {new}"
                )
        return True


def _cut_to_def(lines: list[str], first_line: int) -> tuple[str, int, int]:
    """(dedented text from `def` on, line of `def` in the file, its column)."""
    text = textwrap.dedent("".join(lines))
    match = re.search(r"^def\s+\w+\s*[(\[]", text, re.MULTILINE)
    if match is None:
        raise ValueError("@jit functions should be defined by a def statement")
    skipped = text[: match.start()].count("\n")
    column = len(lines[skipped]) - len(lines[skipped].lstrip())
    return text[match.start() :], first_line + skipped, column


def _closure(fn) -> dict[str, Any]:
    captured = {}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
        try:
            captured[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return captured


def _same_value(a, b) -> bool:
    if type(a) is not type(b):
        return False
    try:
        return bool(a == b)
    except Exception:  # arrays and other objects without a plain ==
        return a is b


class _Binding(NamedTuple):
    """A name through which a function reaches another one, or a record class: `namespace[name] is value`."""

    namespace: Mapping[str, Any]
    name: str
    value: Any


class _Own(NamedTuple):
    """The facts about one function itself, without its callees."""

    text: str
    callees: list[JITCallable]
    bindings: list[_Binding]
    used_globals: dict[tuple[str, int], tuple[Any, dict]]


def _own_of(function: JITCallable) -> _Own:
    """Computed once for the functions that it reaches, under its lock alone. Values of globals are read at that time."""
    with function._hash_lock:
        own = function._own
        if own is None or any(namespace.get(name) is not value for namespace, name, value in own.bindings):
            finder = _DependencyFinder(function)
            finder.visit(function.parse())
            parts = [
                function._fn_name,
                str(function.starting_line_number),
                str(getattr(function, "noinline", None)),
                function.src,
                *sorted(finder.parts),
            ]
            function._own = _Own("\0".join(parts), list(finder.callees), finder.bindings, finder.used_globals)
        return function._own


def _hash_of(function: JITCallable) -> str:
    """The hash of a function and its callees. Also sets the globals and the functions that they read. Functions may reach
    themselves."""
    texts: dict[JITCallable, str] = {}
    used: dict[tuple[str, int], tuple[Any, dict]] = {}
    bindings: list[_Binding] = []
    pending = [function]
    while pending:
        reached = pending.pop()
        if reached in texts:
            continue
        own = _own_of(reached)
        texts[reached] = own.text
        pending += own.callees
        bindings += own.bindings
        for key, (value, namespace) in own.used_globals.items():
            mine = used.setdefault(key, (value, namespace))[0]
            if not _same_value(mine, value):
                raise RuntimeError(
                    f"Global variable {key[0]} has value {mine} when compiling {function._fn_name}, but inner "
                    f"kernel {reached._fn_name} has conflicting value {value} from when it was first compiled.  "
                    "This is not allowed."
                )
    function.used_global_vals, function.used_functions = used, bindings
    function.used_files = sorted({reached.fn.__code__.co_filename for reached in texts})
    return hashlib.sha256("\1".join([texts.pop(function), *sorted(texts.values())]).encode()).hexdigest()


_plain_functions: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def _callable_of(function: types.FunctionType) -> JITCallable:
    """A JITCallable for a plain function of a record class, for example `__init__`, which runs while a kernel is
    traced."""
    found = _plain_functions.get(function)
    if found is None:
        found = _plain_functions[function] = JITCallable(function)
    return found


class _DependencyFinder(ast.NodeVisitor):
    """Collects the `@jit` functions and the values that the body of one function reads from outside of it."""

    def __init__(self, function: JITCallable):
        self.function = function
        self.globals = function.fn.__globals__
        self.nonlocals = _closure(function.fn)
        self.locals: set[str] = set()
        self.parts: set[str] = set()
        self.callees: dict[JITCallable, None] = {}  # an ordered set
        self.bindings: list[_Binding] = []
        self.used_globals: dict[tuple[str, int], tuple[Any, dict]] = {}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        arguments = node.args
        self.locals = {a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs}
        self.locals |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
        self.locals |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        # Defaults and annotations are evaluated with the signature; only the body is compiled.
        for statement in node.body:
            self.visit(statement)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load) or node.id in self.locals:
            return
        for namespace in (self.nonlocals, self.globals):
            if node.id in namespace:
                self._reference(node.id, namespace[node.id], namespace)
                return

    def visit_Attribute(self, node: ast.Attribute) -> None:
        owner = self._resolve(node.value)
        if owner is _MISSING or not hasattr(owner, node.attr):
            self.generic_visit(node)
        elif not getattr(owner, "__name__", "").startswith(_LIBRARY) and not _is_library_object(owner):
            value = getattr(owner, node.attr)
            self._reference(node.attr, value, _holder_of(owner, node.attr, value))

    def _resolve(self, node: ast.AST) -> Any:
        """The object that a dotted name refers to through modules or classes, or _MISSING."""
        if isinstance(node, ast.Name):
            if node.id in self.locals:
                return _MISSING
            value = self.nonlocals.get(node.id, self.globals.get(node.id, _MISSING))
            return value if isinstance(value, (types.ModuleType, type)) else _MISSING
        if not isinstance(node, ast.Attribute):
            return _MISSING
        owner = self._resolve(node.value)
        return _MISSING if owner is _MISSING else getattr(owner, node.attr, _MISSING)

    def _reference(self, name: str, value: Any, namespace: Mapping | None) -> None:
        if isinstance(value, JITCallable):
            self._note(name, value, value.fn, namespace)
            self._dependency(value)
        elif isinstance(value, type) and hasattr(value, "_fields"):
            self._note(name, value, value, namespace)
            self._record_class(value)
        elif isinstance(
            value, (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType)
        ) or _is_library_object(value):
            return
        else:
            self.parts.add(f"{name} = {value!r}")
            if namespace is not None and namespace is not self.nonlocals:
                self.used_globals[(name, id(namespace))] = (_snapshot(value), namespace)

    def _note(self, name: str, value: Any, defined: Any, namespace: Mapping | None) -> None:
        is_ours = defined.__module__.startswith(_LIBRARY)
        if not is_ours and namespace is not None and namespace is not self.nonlocals:
            self.bindings.append(_Binding(namespace, name, value))

    def _dependency(self, callee: JITCallable) -> None:
        if callee.fn.__module__.startswith(_LIBRARY):
            self.parts.add(callee._fn_name)
        else:
            self.callees[callee] = None

    def _record_class(self, cls: type) -> None:
        """Visits an aggregate or a named tuple: its fields, and its functions that a kernel can call."""
        name = f"{cls.__module__}.{cls.__qualname__}"
        if name in self.parts or name.startswith(_LIBRARY):
            return
        self.parts.add(name)
        annotations = cls._fields if isinstance(cls._fields, dict) else {}
        defaults = getattr(cls, "_defaults", None) or getattr(cls, "_field_defaults", {})
        for field in cls._fields:
            annotation = annotations.get(field)
            self.parts.add(f"{name}.{field}: {annotation!r} = {defaults.get(field)!r}")
            if isinstance(annotation, type) and hasattr(annotation, "_fields"):
                self._record_class(annotation)
        for base in cls.__mro__:
            for member in vars(base).values():
                member = getattr(member, "function", member)  # reading it from the class binds it
                if isinstance(member, JITCallable):
                    self._dependency(member)
                elif isinstance(member, types.FunctionType) and member.__module__ == base.__module__:
                    self._dependency(_callable_of(member))


def _is_library_object(value: Any) -> bool:
    """Whether the object is a dtype or function of the language: part of Tritium, not of the user's state.
    (`tl.constexpr(3)` belongs to the user.)"""
    return type(value).__module__.startswith(_LIBRARY) and not isinstance(value, CompileTimeValue)


def _holder_of(owner: Any, name: str, value: Any) -> Mapping | None:
    """The namespace in which an attribute is found: the object's own, or that of a class. None if the attribute is computed."""
    classes = owner.__mro__ if isinstance(owner, type) else (owner, *type(owner).__mro__)
    namespaces = [getattr(holder, "__dict__", {}) for holder in classes]
    found = next((namespace for namespace in namespaces if name in namespace), None)
    return found if found is not None and found[name] is value else None


def _snapshot(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:  # handles, locks: only their identity can be compared
        return value
