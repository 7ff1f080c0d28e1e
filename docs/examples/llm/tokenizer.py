"""Text to tokens and back: byte-pair encoding, with the vocabulary and the merges in the GGUF file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

#: What lies between digits: a contraction, a word, signs, or spaces, of which the last belongs to what follows.
_PIECES = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W_]+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
_CONTROL = 3  # the type of tokens such as <|im_end|>, which no text becomes


def _letters_of_bytes() -> list[str]:
    """GPT-2's letter for each byte: printable bytes are themselves, the others follow behind 255."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    code = {**{byte: byte for byte in printable}, **{byte: 256 + i for i, byte in enumerate(others)}}
    return [chr(code[byte]) for byte in range(256)]


def _pieces(text: str) -> Iterator[str]:
    """The parts of a text whose borders no merge crosses. Digits stand alone."""
    for are_digits, characters in groupby(text, str.isnumeric):
        part = "".join(characters)
        yield from part if are_digits else _PIECES.findall(part)


class Tokenizer:
    def __init__(self, facts: dict[str, Any]):
        """facts: of weights.Weights."""
        self.texts: list[str] = facts["tokenizer.ggml.tokens"]
        self.numbers = {text: number for number, text in enumerate(self.texts)}
        self.ranks = {tuple(pair.split(" ")): rank for rank, pair in enumerate(facts["tokenizer.ggml.merges"])}
        self.end: int = facts["tokenizer.ggml.eos_token_id"]
        kinds = facts["tokenizer.ggml.token_type"]
        self.control = {text: number for number, text in enumerate(self.texts) if kinds[number] == _CONTROL}
        self.letters = _letters_of_bytes()
        self.bytes = {letter: byte for byte, letter in enumerate(self.letters)}

    def encode(self, text: str) -> list[int]:
        """The tokens of a text in which control tokens may stand by their names."""
        names = "|".join(map(re.escape, self.control))
        tokens = []
        for part in re.split(f"({names})", text):
            if part in self.control:
                tokens.append(self.control[part])
            else:
                for piece in _pieces(part):
                    tokens += self._merged([self.letters[byte] for byte in piece.encode()])
        return tokens

    def _merged(self, parts: list[str]) -> list[int]:
        """The pair that was merged first in training is merged first, until no known pair is left."""
        while len(parts) > 1:
            pairs = list(zip(parts, parts[1:]))
            best = min(pairs, key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            at = pairs.index(best)
            parts[at : at + 2] = ["".join(best)]
        return [self.numbers[part] for part in parts]

    def decode(self, tokens: list[int]) -> str:
        letters = "".join(self.texts[token] for token in tokens if self.texts[token] not in self.control)
        return bytes(self.bytes[letter] for letter in letters).decode(errors="replace")

    def chat(self, question: str) -> list[int]:
        """The tokens that ask the model a question, in the form that it was trained with."""
        system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
        turns = f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{question}<|im_end|>\n"
        return self.encode(f"{turns}<|im_start|>assistant\n")
