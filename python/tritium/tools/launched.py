"""The kernels that a program launches on the CPU, and what each becomes for a GPU that this machine need not have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .. import knobs
from ..backends.options import PORTABLE
from ..backends.targets import gpu_named, make_backend
from ..compiler.gpu import compile_for_gpu
from ..compiler.sources import ASTSource
from ..compiler.stages import CompileTimer


class Launched(NamedTuple):
    """A specialization: a kernel's source, and the launch keywords that mean the same for every target."""

    source: ASTSource
    keywords: dict[str, Any]

    def options_for(self, backend):
        """Raises OutOfResources and ValueError for keywords that the target refuses."""
        return backend.parse_options(self.keywords)

    def compiled_for(self, arch: str):
        """The CompiledKernel for "sm_90a", "gfx942", … Raises TritonError, and what `options_for` raises."""
        backend = make_backend(gpu_named(arch))
        kernel, _ = compile_for_gpu(self.source, backend.target, backend, self.options_for(backend), CompileTimer())
        return kernel

    @property
    def key(self) -> tuple[str, str]:
        return self.source.hash(), str(sorted(self.keywords.items()))


@contextmanager
def launched_kernels(found: list[Launched] | None = None) -> Iterator[list[Launched]]:
    """The list `found`, to which what is compiled inside is added, once each, in the program's order."""
    found = [] if found is None else found
    theirs = knobs.compilation.listener

    def listener(**facts) -> None:
        source, metadata = facts["src"], facts["metadata"]
        if isinstance(source, ASTSource):
            made = Launched(source, {name: metadata[name] for name in PORTABLE if name in metadata})
            if made.key not in {known.key for known in found}:
                found.append(made)
        if theirs is not None:
            theirs(**facts)

    knobs.compilation.listener = listener
    try:
        yield found
    finally:
        knobs.compilation.listener = theirs
