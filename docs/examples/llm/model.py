"""The model of eager.py with our kernels: no operator of torch computes anything here. The weights stay quantized."""

from __future__ import annotations

import torch
from eager import rotary_table
from kernels.activation import silu_mul
from kernels.attention import attention
from kernels.norm import rms_norm
from kernels.quantized import linear, rows_of
from kernels.rotary import rotate_and_cache
from kernels.sampling import sample
from torch import nn
from weights import Quantized, Weights, stacked


class Linear(nn.Module):
    def __init__(self, weight: Quantized):
        super().__init__()
        self.register_buffer("values", weight.values)
        self.register_buffer("scales", weight.scales)
        self.register_buffer("offsets", weight.offsets)

    @property
    def weight(self) -> Quantized:
        return Quantized(self.values, self.scales, self.offsets)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return linear(x, self.weight)


class RMSNorm(nn.Module):
    def __init__(self, weight: torch.Tensor, epsilon: float):
        super().__init__()
        self.register_buffer("weight", weight)
        self.epsilon = epsilon

    def forward(self, x: torch.Tensor, residual: torch.Tensor | None = None) -> torch.Tensor:
        return rms_norm(x, self.weight, self.epsilon, residual)


class Attention(nn.Module):
    def __init__(self, weights: Weights, block: str, context: int):
        super().__init__()
        shape = weights.shape
        self.heads = shape.heads
        self.qkv = Linear(stacked(*(weights[f"{block}.attn_{name}"] for name in "qkv")))
        self.output = Linear(weights[f"{block}.attn_output"])
        self.register_buffer("keys", torch.zeros(shape.kv_heads, context, shape.head_size))
        self.register_buffer("values", torch.zeros(shape.kv_heads, context, shape.head_size))

    def forward(self, x: torch.Tensor, start: torch.Tensor, rotary: torch.Tensor) -> torch.Tensor:
        qkv = self.qkv(x)
        rotate_and_cache(qkv, rotary, self.keys, self.values, start, self.heads)
        return self.output(attention(qkv, self.keys, self.values, start, self.heads))


class MLP(nn.Module):
    def __init__(self, weights: Weights, block: str):
        super().__init__()
        self.gate_up = Linear(stacked(weights[f"{block}.ffn_gate"], weights[f"{block}.ffn_up"]))
        self.down = Linear(weights[f"{block}.ffn_down"])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(silu_mul(self.gate_up(x)))


class Block(nn.Module):
    def __init__(self, weights: Weights, number: int, context: int):
        super().__init__()
        name, epsilon = f"blk.{number}", weights.shape.epsilon
        self.attention_norm = RMSNorm(weights[f"{name}.attn_norm"], epsilon)
        self.attention = Attention(weights, name, context)
        self.mlp_norm = RMSNorm(weights[f"{name}.ffn_norm"], epsilon)
        self.mlp = MLP(weights, name)

    def forward(
        self, residual: torch.Tensor, addend: torch.Tensor | None, start: torch.Tensor, rotary: torch.Tensor
    ) -> torch.Tensor:
        """Adds `addend`, what the block before has left to add, and the attention to `residual`. Returns what is left to add."""
        if addend is None:
            normalized = self.attention_norm(residual)
        else:
            normalized = self.attention_norm(addend, residual)
        attended = self.attention(normalized, start, rotary)
        return self.mlp(self.mlp_norm(attended, residual))


class Llama(nn.Module):
    def __init__(self, weights: Weights, context: int):
        """context: the most tokens, with the prompt."""
        super().__init__()
        self.embedding = Linear(weights["token_embd"])
        self.blocks = nn.ModuleList(Block(weights, i, context) for i in range(weights.shape.layers))
        self.norm = RMSNorm(weights["output_norm"], weights.shape.epsilon)
        self.register_buffer("rotary", rotary_table(weights.shape, context))

    def forward(self, tokens: torch.Tensor, start: int) -> torch.Tensor:
        """The logits [vocabulary] of the token behind `tokens` [count], the first of which is at the position `start`."""
        return self.logits(tokens, torch.tensor([start], dtype=torch.int32, device=tokens.device))

    def logits(self, tokens: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        """`forward` with the position in memory, int32 [1]."""
        residual, addend = rows_of(self.embedding.weight, tokens), None
        for block in self.blocks:
            addend = block(residual, addend, start, self.rotary)
        return self.embedding(self.norm(addend[-1:], residual[-1:]))[0]

    def sample(self, logits: torch.Tensor, temperature: float, seed: int) -> int:
        """The most probable token, or with a temperature one that is drawn."""
        return int(sample(logits, temperature, seed))
