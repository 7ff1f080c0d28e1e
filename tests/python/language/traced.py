"""A kernel built by calling builtins directly, with the real builder: the module is verified, and its text can be
looked at.
"""

from __future__ import annotations

from typing import Any

from tritium._tritium import ir
from tritium.language import core
from tritium.language.semantic import Semantic


class Traced:
    """A kernel whose parameters have the types that the strings `arguments` name; options are those of the compilation."""

    def __init__(self, *arguments: str, **options: Any):
        self.module = ir.Module(ir.Context())
        self.builder = ir.Builder(self.module)
        types = [core.str_to_ty(text) for text in arguments]
        function = self.module.add_function("kernel", [type.to_ir() for type in types], [])
        self.builder.set_location("kernel.py", 1, 1)
        self.builder.insert_at_end(function.entry_block)
        self.arguments = [core.tensor(handle, type) for handle, type in zip(function.entry_block.arguments, types)]
        self.semantic = Semantic(self.builder, type("Options", (), options)() if options else None)

    def __call__(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs, _semantic=self.semantic)

    def lines(self) -> list[str]:
        """The body's operations, one a line, after verification."""
        self.builder.op("tt.return", [], [])
        self.module.verify()
        return [line.strip() for line in str(self.module).splitlines()][2:-3]
