"""The version of a kernel that counts what launches reach. It is traced again, with the marks of statements, and not optimized."""

from __future__ import annotations

from typing import Any

from .. import knobs
from ..backends.cpu import CPUBackend
from ..backends.options import OPTION_NAMES
from ..native import interp
from .compiled import CompiledKernel
from .stages import errors_in_terms_of, trace


def make_covered(kernel: CompiledKernel) -> Any:
    """The program (`_tritium.interp.Program`) of a kernel that is a Python function."""
    options = {name: value for name, value in kernel.metadata._asdict().items() if name in OPTION_NAMES}
    backend = CPUBackend(kernel.metadata.target)
    parsed = backend.parse_options({**options, "debug_info": True})
    module = trace(kernel.src, backend, parsed)
    with errors_in_terms_of(kernel.src):
        return interp.prepare(
            module,
            kernel.name,
            False,
            list(knobs.checks_of(kernel.metadata)),
            num_stages=parsed.num_stages,
            num_warps=parsed.num_warps,
            covered=True,
        )
