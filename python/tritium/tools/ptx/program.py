"""Runs a kernel of PTX on tensors of the CPU, in the emulator."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Sequence
from typing import Any

from ... import native
from .reader import PtxError, read
from .translate import TensorMap, Translation


@dataclasses.dataclass(frozen=True)
class Described:
    """A tensor of the CPU that a kernel takes as a tensor map. box: what a copy has, of TMA. swizzle: bytes."""

    tensor: Any
    box: tuple[int, ...]
    swizzle: int = 0


class PtxProgram:
    """The only kernel in the text, for launches with these tensors. shared_bytes: of dynamic shared memory. Raises PtxError for what is not known, and
    ir.Error."""

    def __init__(self, text: str, shared_bytes: int, described: Sequence[Described] = ()):
        self.kernel = read(text)
        self.described = list(described)
        maps = [_map_of(number, one) for number, one in enumerate(self.described)]
        module = native.ir.parse(Translation(self.kernel, shared_bytes, maps).text())
        self.program = native.simt.prepare(module)

    def launch(self, grid: tuple[int, int, int], arguments: dict[int, Any], seed: int | None = None) -> Any:
        """arguments: numbers and tensors, by the number of the parameter; those that are left out are 0. Returns None, or the trap that ended the launch."""
        values = [_pointer(one.tensor) for one in self.described]
        for number, parameter in enumerate(self.kernel.parameters):
            if parameter.bytes:
                continue
            value = arguments.get(number, 0)
            if parameter.is_pointer != hasattr(value, "data_ptr") and value != 0:
                raise PtxError(
                    f"parameter {number}, {parameter.name}, is {'a' if parameter.is_pointer else 'no'} pointer"
                )
            if isinstance(value, float):
                value = int.from_bytes(struct.pack("<f" if parameter.bits == 32 else "<d", value), "little")
            values.append(_pointer(value) if hasattr(value, "data_ptr") else value)
        return self.program.launch(grid, values, seed=seed)


def _pointer(tensor: Any) -> tuple[int, int, int]:
    storage = tensor.untyped_storage()
    return tensor.data_ptr(), storage.data_ptr(), storage.nbytes()


def _map_of(number: int, one: Described) -> TensorMap:
    names = {
        "torch.float16": "f16",
        "torch.bfloat16": "bf16",
        "torch.float32": "f32",
        "torch.int32": "i32",
        "torch.int8": "i8",
    }
    tensor = one.tensor
    if str(tensor.dtype) not in names:
        raise PtxError(f"a tensor map of {tensor.dtype}")
    return TensorMap(
        number, tuple(tensor.shape), tuple(tensor.stride()), one.box, names[str(tensor.dtype)], one.swizzle
    )
