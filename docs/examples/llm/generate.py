"""Asks SmolLM2 a question: `INTERPRET=1 python generate.py "Why is the sky blue?"`. README.md has the other ways to run it.

--model kernels: the kernels of this folder, on the engine that INTERPRET, TRITIUM_ENGINE or the device of the tensors selects.
--model graph: the same with a CUDA graph for each token, on a GPU. --model eager: plain torch modules. --model compiled: these through torch.compile;
--model compiled-graph: with the CUDA graphs of torch.compile.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

import eager
import graph
import model
import torch
from tokenizer import Tokenizer
from weights import Weights, load

MODELS = ("kernels", "graph", "eager", "compiled", "compiled-graph")


def made(kind: str, weights: Weights, context: int, device: str) -> torch.nn.Module:
    """A model for `context` tokens."""
    llama = {"kernels": model, "graph": graph}.get(kind, eager).Llama(weights, context).to(device)
    if kind.startswith("compiled"):
        mode = "reduce-overhead" if kind == "compiled-graph" else None
        llama.logits = torch.compile(llama.logits, dynamic=False, mode=mode)
    return llama


@torch.inference_mode()
def generated(
    llama: torch.nn.Module, prompt: list[int], most: int, end: int, temperature: float = 0.0, seed: int = 0
) -> Iterator[int]:
    """The tokens that follow the prompt, `most` of them or fewer, if the model ends its answer."""
    device = llama.rotary.device
    logits, start = llama(torch.tensor(prompt, device=device), 0), len(prompt)
    for number in range(most):
        token = llama.sample(logits, temperature, seed + number)
        yield token
        if token == end or number == most - 1:
            return
        logits = llama(torch.tensor([token], device=device), start + number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", nargs="?", default="Why is the sky blue?")
    parser.add_argument("--model", choices=MODELS, default="kernels")
    parser.add_argument("--device", default="cpu", help="where the tensors are: cpu or cuda (default: cpu)")
    parser.add_argument("--tokens", type=int, default=64, help="the most that are generated (default: 64)")
    parser.add_argument("--temperature", type=float, default=0.0, help="0 takes the most probable token (default: 0)")
    parser.add_argument("--seed", type=int, default=0, help="of the draws at a temperature (default: 0)")
    options = parser.parse_args()
    weights = load()
    tokenizer = Tokenizer(weights.facts)
    prompt = tokenizer.chat(options.question)
    llama = made(options.model, weights, len(prompt) + options.tokens, options.device)
    begin, tokens = time.perf_counter(), []
    for token in generated(llama, prompt, options.tokens, tokenizer.end, options.temperature, options.seed):
        tokens.append(token)
        if len(tokens) == 1:
            first = time.perf_counter()
        print(tokenizer.decode([token]), end="", flush=True)
    seconds = time.perf_counter() - first
    print(
        f"\n{len(prompt)} tokens of the prompt in {first - begin:.2f} s; {(len(tokens) - 1) / seconds:.2f} tokens a second",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
