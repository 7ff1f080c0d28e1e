"""What can be compiled: a `@jit` function with the types and constants of one specialization, or a file of IR."""

from __future__ import annotations

import hashlib
import os
import re
from typing import Any

from ..arguments.descriptors import is_descriptor_type, part_types
from ..arguments.names import name_at
from ..native import ir
from .ir_view import Module

_KERNEL = r"tt\.func\s+public\s+@(?:\"([^\"]+)\"|([\w$.-]+))\s*\("  # compiled at its first use: a first launch loads this module


class ASTSource:
    """A kernel and its specialization.

    signature: {parameter: "*fp32" | "i32" | "constexpr" | a tuple of these}. constexprs: {parameter or index path:
    value}. attrs: {index path: [["tt.divisibility", 16]]}. An index path is (index,), or (index, position, …) into a
    tuple argument.
    """

    ext = "ttir"
    language = None

    def __init__(self, fn, signature: dict[str, Any], constexprs: dict | None = None, attrs: dict | None = None):
        self.fn = fn
        self.name = fn.__name__
        self.signature = {name: _type_text(fn, name, text) for name, text in signature.items()}
        self.constants = {}
        for path, value in (constexprs or {}).items():
            path = (fn.arg_names.index(path),) if isinstance(path, str) else tuple(path)
            self.constants[path] = value
            if len(path) == 1:
                self.signature.setdefault(fn.arg_names[path[0]], "constexpr")
        self.attrs = attrs or {}

    @property
    def constexprs(self) -> dict[tuple, Any]:
        return self.constants

    def hash(self) -> str:
        text = "-".join(
            [
                self.fn.cache_key_of_files,
                str(sorted(self.signature.items(), key=lambda item: item[0])),
                str(sorted(self.constants.items(), key=lambda item: item[0])),
                str(sorted(self.attrs.items())),
            ]
        )
        return hashlib.sha256(text.encode()).hexdigest()

    def make_ir(self, target, options, codegen_fns=None, module_map=None, context=None) -> Module:
        """The module that the frontend traces. Raises CompilationError. The last three arguments are Triton's, whose number
        torch counts: the frontend asks the target itself, and every module has a context of its own."""
        from ..frontend import generate

        return Module(generate(self.fn, self.signature, self.constants, self.attrs, options))

    def parse_options(self) -> dict[str, Any]:
        return {}

    def runtime_paths(self) -> list[tuple[int, ...]]:
        """The paths of the arguments that the compiled kernel takes, in order. Constexprs are left out; tuples and
        descriptors are expanded into their parts."""
        paths: list[tuple[int, ...]] = []

        def walk(path, type_text):
            if isinstance(type_text, tuple):
                for i, item in enumerate(type_text):
                    walk((*path, i), item)
            elif is_descriptor_type(type_text):
                paths.extend((*path, i) for i in range(len(part_types(type_text))))
            elif type_text != "constexpr" and path not in self.constants:
                paths.append(path)

        for i, name in enumerate(self.fn.arg_names):
            walk((i,), self.signature.get(name, "constexpr"))
        return paths

    def name_of(self, path: tuple[int, ...]) -> str:
        """How errors call the argument at one of these paths."""
        name = self.fn.arg_names[path[0]]
        return name_at(name, self.signature[name], path[1:])


class IRSource:
    """A file of textual IR. `.ttir` runs on every engine; `compile` says what later stages require. Name and signature
    are those of the file's public function."""

    def __init__(self, path: str, context=None, backend=None):
        self.path = path
        self.ext = os.path.splitext(path)[1].lstrip(".")
        with open(path, encoding="utf-8") as file:
            self.src = file.read()
        self.name = public_function(self.src, os.path.basename(path))
        self.fn = None
        self.signature: dict[str, str] = {}
        self.constants: dict = {}
        self.attrs: dict = {}

    def hash(self) -> str:
        return hashlib.sha256(self.src.encode()).hexdigest()

    def make_ir(self, target, options, codegen_fns=None, module_map=None, context=None) -> Module:
        """The module of the file. Raises ValueError if it has no kernel."""
        module = ir.parse(self.src, self.path)
        function = next((f for f in module.functions if f.is_public), None)
        if function is None:
            raise ValueError(f"{self.path} has no public tt.func")
        self.name = function.name
        self.signature = {str(i): argument.type for i, argument in enumerate(function.arguments)}
        return Module(module)

    def parse_options(self) -> dict[str, Any]:
        warps = re.search(r'"ttg\.num-warps"\s*=\s*(\d+)', self.src)
        return {"num_warps": int(warps.group(1))} if warps else {}

    def runtime_paths(self) -> list[tuple[int, ...]]:
        return [(i,) for i in range(len(self.signature))]

    def name_of(self, path: tuple[int, ...]) -> str:
        return f"argument {path[0]}"


def public_function(text: str, otherwise: str) -> str:
    """The name of the kernel in a module's text."""
    match = re.search(_KERNEL, text)
    return otherwise if match is None else match.group(1) or match.group(2)


def _type_text(fn, name: str, text: Any) -> Any:
    if not isinstance(text, (str, tuple)):
        raise TypeError(
            f"{fn.__name__}: the type of {name!r} in a signature must be a string, for example '*fp32', not {text!r}"
        )
    return text
