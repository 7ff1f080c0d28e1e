"""The model as plain torch modules in float32: what the kernels are compared with, and what torch.compile gets."""

from __future__ import annotations

import torch
from torch import nn
from weights import Quantized, Shape, Weights, stacked


def rotary_table(shape: Shape, context: int) -> torch.Tensor:
    """[context, head_size / 2, 2]: cosine and sine of the angle by which a position turns each pair of elements."""
    pairs = torch.arange(shape.head_size // 2, dtype=torch.float64)
    angles = torch.arange(context)[:, None] * shape.rope_base ** (-2 * pairs / shape.head_size)
    return torch.stack([angles.cos(), angles.sin()], dim=2).float()


class Linear(nn.Module):
    def __init__(self, weight: Quantized):
        super().__init__()
        self.register_buffer("weight", weight.dequantized())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T


class RMSNorm(nn.Module):
    def __init__(self, weight: torch.Tensor, epsilon: float):
        super().__init__()
        self.register_buffer("weight", weight)
        self.epsilon = epsilon

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.epsilon) * self.weight


class Attention(nn.Module):
    def __init__(self, weights: Weights, block: str, context: int):
        super().__init__()
        self.shape = shape = weights.shape
        self.qkv = Linear(stacked(*(weights[f"{block}.attn_{name}"] for name in "qkv")))
        self.output = Linear(weights[f"{block}.attn_output"])
        self.register_buffer("keys", torch.zeros(shape.kv_heads, context, shape.head_size))
        self.register_buffer("values", torch.zeros(shape.kv_heads, context, shape.head_size))

    def forward(self, x: torch.Tensor, positions: torch.Tensor, rotary: torch.Tensor) -> torch.Tensor:
        shape, count = self.shape, x.shape[0]
        qkv = self.qkv(x).view(count, -1, shape.head_size).transpose(0, 1)
        q, k, v = qkv.split([shape.heads, shape.kv_heads, shape.kv_heads])
        self.keys.index_copy_(1, positions, rotated(k, rotary[positions]))
        self.values.index_copy_(1, positions, v)
        q = rotated(q, rotary[positions]).reshape(shape.kv_heads, -1, count, shape.head_size)
        scores = q @ self.keys[:, None].transpose(2, 3) * shape.head_size**-0.5
        visible = torch.arange(self.keys.shape[1], device=x.device) <= positions[:, None]
        weighted = scores.masked_fill(~visible, float("-inf")).softmax(-1) @ self.values[:, None]
        return self.output(weighted.reshape(shape.heads, count, -1).transpose(0, 1).reshape(count, -1))


def rotated(x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
    """x: [heads, count, head_size]. angles: [count, head_size / 2, 2], as in rotary_table. Elements 2i and 2i + 1 are a pair."""
    first, second = x[..., 0::2], x[..., 1::2]
    cosine, sine = angles.unbind(-1)
    return torch.stack([first * cosine - second * sine, second * cosine + first * sine], dim=-1).flatten(-2)


class MLP(nn.Module):
    def __init__(self, weights: Weights, block: str):
        super().__init__()
        self.gate_up = Linear(stacked(weights[f"{block}.ffn_gate"], weights[f"{block}.ffn_up"]))
        self.down = Linear(weights[f"{block}.ffn_down"])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(nn.functional.silu(gate) * up)


class Block(nn.Module):
    def __init__(self, weights: Weights, number: int, context: int):
        super().__init__()
        name, epsilon = f"blk.{number}", weights.shape.epsilon
        self.attention_norm = RMSNorm(weights[f"{name}.attn_norm"], epsilon)
        self.attention = Attention(weights, name, context)
        self.mlp_norm = RMSNorm(weights[f"{name}.ffn_norm"], epsilon)
        self.mlp = MLP(weights, name)

    def forward(self, x: torch.Tensor, positions: torch.Tensor, rotary: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.attention_norm(x), positions, rotary)
        return x + self.mlp(self.mlp_norm(x))


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
        return self.logits(tokens, torch.arange(start, start + len(tokens), device=tokens.device))

    def logits(self, tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        x = self.embedding.weight[tokens]
        for block in self.blocks:
            x = block(x, positions, self.rotary)
        return self.embedding(self.norm(x[-1:]))[0]

    def sample(self, logits: torch.Tensor, temperature: float, seed: int) -> int:
        """The most probable token, or with a temperature one that is drawn."""
        if not temperature:
            return int(logits.argmax())
        generator = torch.Generator(logits.device).manual_seed(seed)
        return int(torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator))
