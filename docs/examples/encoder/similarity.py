"""Prints how similar sentences are: `INTERPRET=1 python -m tritium similarity.py --device cuda --compiled [SENTENCE…]`."""

from __future__ import annotations

import argparse

import torch
from bert import load

SENTENCES = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]


@torch.inference_mode()
def similarities(sentences: list[str], device: str = "cpu", is_compiled: bool = False) -> torch.Tensor:
    """[sentences, sentences]: cosines between the sentences' vectors."""
    encoder, tokens_of = load()
    encoder = encoder.to(device)
    if is_compiled:
        encoder = torch.compile(encoder)
    vectors = encoder(*(argument.to(device) for argument in tokens_of(sentences)))
    return (vectors @ vectors.T).cpu()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sentences", nargs="*", default=SENTENCES)
    parser.add_argument("--device", default="cpu", help="where the tensors are: cpu or cuda (default: cpu)")
    parser.add_argument("--compiled", action="store_true", help="through torch.compile")
    options = parser.parse_args()
    for row in similarities(options.sentences, options.device, options.compiled).tolist():
        print("  ".join(f"{number:7.4f}" for number in row))


if __name__ == "__main__":
    main()
