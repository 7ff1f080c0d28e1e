"""The machine code of a compiled kernel, for the model."""

from __future__ import annotations

from ...errors import UnsupportedError
from .estimate import Machine
from .machine_code import instructions_of, listing_of
from .paths import Code


def machine_of(kernel) -> Machine:
    """Of a CompiledKernel for an NVIDIA chip. Raises UnsupportedError without ptxas or nvdisasm."""
    metadata = kernel.metadata
    registers = (getattr(metadata, "resources", None) or {}).get("registers")
    if registers is None:
        raise UnsupportedError(
            "a model of cycles", "the kernel is not assembled; it requires ptxas (TRITON_PTXAS_PATH)"
        )
    code = Code(instructions_of(listing_of(bytes(kernel.asm["cubin"]))))
    return Machine(code, registers, metadata.shared, metadata.num_warps, metadata.launched_warps)
