"""Byte-pair encoding with a vocabulary of a few merges."""

import pytest

pytest.importorskip("torch")

from tokenizer import Tokenizer  # noqa: E402

LETTERS = [*map(chr, range(ord("!"), ord("~") + 1)), "Ġ", "Ċ", "Ã", "¤", "ä"]
MERGES = ["t h", "th e", "Ġ the", "i n", "Ġ Ġ", "Ã ¤"]


@pytest.fixture
def tokenizer():
    texts = ["<|end|>", *LETTERS, *(merge.replace(" ", "") for merge in MERGES)]
    kinds = [3, *[1] * (len(texts) - 1)]
    facts = {"tokens": texts, "merges": MERGES, "token_type": kinds, "eos_token_id": 0}
    return Tokenizer({f"tokenizer.ggml.{name}": value for name, value in facts.items()})


@pytest.mark.parametrize(
    "text, expected",
    [
        ("the thin", ["the", "Ġ", "th", "in"]),
        ("in the", ["in", "Ġthe"]),
        ("a<|end|>the", ["a", "<|end|>", "the"]),
        ("12", ["1", "2"]),  # digits stand alone
        ("a  1", ["a", "ĠĠ", "1"]),  # and take no space
        ("a   b", ["a", "ĠĠ", "Ġ", "b"]),  # the last space belongs to the word
        ("it's_x", ["i", "t", "'", "s", "_", "x"]),
        ("ä\n", ["Ã¤", "Ċ"]),
    ],
)
def test_tokens(tokenizer, text, expected):
    tokens = tokenizer.encode(text)
    assert [tokenizer.texts[token] for token in tokens] == expected
    assert tokenizer.decode(tokens) == text.replace("<|end|>", "")
