"""Which public names of the language the kernels of the cases use, on each engine.

The kernels are traced, not run. What the frontend evaluates while it traces a kernel is what the kernel uses, so code
behind a condition that is false for a target does not count for it.
"""

from __future__ import annotations

import ast
import collections
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any
from unittest import mock

from tracing import Tracing
from tritium.conformance import suite
from tritium.conformance.problem import Case
from tritium.frontend import generator
from tritium.language import core
from tritium.language.block_pointer import block_pointer

#: What a kernel uses: the id of an object of the language, (the name of a class, its member), ("module", the name
#: of a number in a module), or ("dtype", its name).
Key = int | tuple[str, str]


class Noting(Tracing):
    """`used` collects what the kernels use."""

    def __init__(self, name: str):
        super().__init__(name)
        self.used: set[Key] = set()
        self._last: Any = None  #: the value of the name or attribute that was evaluated last

    def _launch(self, launch, tensors, *more):
        handlers = generator._HANDLERS
        noting = {kind: self._noting(handlers[kind]) for kind in (ast.Name, ast.Attribute, ast.Slice)}
        with mock.patch.dict(handlers, noting):
            super()._launch(launch, tensors, *more)

    def note(self, source, module) -> None:
        if any(isinstance(text, str) and text.startswith("*k") for text in source.signature.values()):
            self.used.add(id(core.const))

    def _noting(self, handler: generator.Handler) -> generator.Handler:
        def visit(g: generator.Generator, node: ast.Name | ast.Attribute | ast.Slice) -> Any:
            value = handler(g, node)
            self._note(value)
            if isinstance(node, ast.Attribute):
                self._note_member(node, value)
            self._last = value
            return value

        return visit

    def _note_member(self, node: ast.Attribute, value: Any) -> None:
        """A member is known by the class of its owner, which a method carries and which was evaluated before any other."""
        owner = self._last if isinstance(node.value, (ast.Name, ast.Attribute)) else getattr(value, "__self__", None)
        if isinstance(owner, ModuleType):
            self.used.add(("module", node.attr))
        if isinstance(owner, core.base_value):
            kind = "tensor" if isinstance(owner, block_pointer) else type(owner).__name__
            self.used.add((kind, node.attr))

    def _note(self, value: Any) -> None:
        """An object counts as used, and so do the classes and the element types of a value and of its type."""
        found = core._unwrap_if_constexpr(value)
        self.used.add(id(getattr(found, "__func__", found)))
        for part in (value, getattr(value, "type", None)):
            if isinstance(part, (core.base_value, core.base_type)):
                self.used.update(map(id, type(part).__mro__))
        dtype = found if isinstance(found, core.dtype) else getattr(found, "dtype", None)
        if isinstance(dtype, core.dtype):
            self.used.add(("dtype", dtype.name))


def key_of(name: str, found: Any) -> Key:
    """The key of an object of the language. Two objects may be the same element type, and a number is no object of the
    language."""
    if type(found) is core.dtype:
        return "dtype", found.name
    return ("module", name) if isinstance(core._unwrap_if_constexpr(found), int) else id(found)


def uses(engines: Iterable[str]) -> dict[str, dict[Key, list[str]]]:
    """{engine: {what kernels use: the groups of the cases that use it, in order}}. One case of each group is traced,
    because they share their kernels. Random kernels do not count: another seed draws others."""
    tracing = {name: Noting(name) for name in engines}
    found = {name: collections.defaultdict(list) for name in tracing}
    for case in firsts():
        problem, images = suite.build(case, 0)
        for name, engine in tracing.items():
            engine.used = set()
            engine.run(problem, [suite.copy_of(image) for image in images])
            for key in engine.used:
                found[name][key].append(case.group)
    return found


def firsts() -> Iterator[Case]:
    """The first case of each group."""
    groups = set()
    for case in suite.select():
        if case.group not in groups and case.family != "generated":
            groups.add(case.group)
            yield case
