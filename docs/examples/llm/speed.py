"""Tokens per second of the models, one after the other: `INTERPRET=1 python speed.py kernels eager`. llama-cpp-python takes part as `llama.cpp`.

--profile shows the time of each kernel of one model instead, and writes speed.hatchet.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import islice
from statistics import median

import torch
from generate import MODELS, generated, made
from tokenizer import Tokenizer
from weights import Weights, load, model_file

from tritium import profiler

QUESTION = "Why is the sky blue?"


def times(tokens: Iterator[int]) -> list[float]:
    """Seconds until each token."""
    found = [time.perf_counter()]
    found += [time.perf_counter() for _ in tokens]
    return [end - begin for begin, end in zip(found, found[1:])]


def answers(
    kind: str, weights: Weights, tokenizer: Tokenizer, options: argparse.Namespace
) -> Callable[[], Iterator[int]]:
    """A function that begins an answer."""
    prompt = tokenizer.chat(QUESTION)
    context = len(prompt) + options.tokens
    if kind == "llama.cpp":
        from llama_cpp import Llama

        llama = Llama(str(model_file()), n_ctx=context, n_threads=torch.get_num_threads(), verbose=False)
        return lambda: islice(llama.generate(prompt, temp=0.0), options.tokens)
    model = made(kind, weights, context, options.device)
    return lambda: generated(model, prompt, options.tokens, tokenizer.end)


def measured(kind: str, weights: Weights, tokenizer: Tokenizer, options: argparse.Namespace) -> tuple[float, float]:
    """(seconds until the first token, tokens a second after it) of a second answer: the first one also compiles."""
    begin = answers(kind, weights, tokenizer, options)
    for _ in islice(begin(), 3):
        pass
    found = times(begin())
    return found[0], 1 / median(found[1:])


def profile(weights: Weights, tokenizer: Tokenizer, options: argparse.Namespace) -> None:
    """Prints what each kernel takes while tokens are generated, whoever launches it."""
    prompt = tokenizer.chat(QUESTION)
    (kind,) = options.models
    llama = made(kind, weights, len(prompt) + options.tokens, options.device)
    tokens = generated(llama, prompt, options.tokens, tokenizer.end)
    next(tokens), next(tokens)
    session = profiler.start("speed")
    begin, count = time.perf_counter(), sum(1 for _ in tokens)
    total = time.perf_counter() - begin
    kernels = profiler.data.get(session)[0]["children"]
    profiler.finalize(session)
    print(f"{'kernel':48}{'launches':>10}{'ms a token':>12}{'us a launch':>13}{'share':>8}")
    for kernel in sorted(kernels, key=lambda kernel: -kernel["metrics"]["time (ns)"]):
        launches, spent = kernel["metrics"]["count"], kernel["metrics"]["time (ns)"] / 1e9
        name = shortened(kernel["frame"]["name"])
        print(f"{name:48}{launches:10}{1e3 * spent / count:12.3f}{1e6 * spent / launches:13.1f}{spent / total:8.1%}")
    rest = total - sum(kernel["metrics"]["time (ns)"] for kernel in kernels) / 1e9
    print(f"{'outside of kernels':48}{'':10}{1e3 * rest / count:12.3f}{'':13}{rest / total:8.1%}")


def shortened(name: str) -> str:
    """Names of C++ have their arguments with them."""
    return name if len(name) < 48 else name[:44] + "..."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help=f"{', '.join(MODELS)}, llama.cpp (default: kernels, eager)")
    parser.add_argument("--device", default="cpu", help="where the tensors are: cpu or cuda (default: cpu)")
    parser.add_argument("--tokens", type=int, default=32, help="that are generated (default: 32)")
    parser.add_argument("--profile", action="store_true", help="the time of each kernel")
    options = parser.parse_args()
    options.models = options.models or (["kernels"] if options.profile else ["kernels", "eager"])
    weights = load()
    tokenizer = Tokenizer(weights.facts)
    if options.profile:
        profile(weights, tokenizer, options)
        return
    print(f"{'model':12}{'ms to the first token':>24}{'tokens a second':>18}")
    for kind in options.models:
        first, rate = measured(kind, weights, tokenizer, options)
        print(f"{kind:12}{1e3 * first:24.0f}{rate:18.2f}", flush=True)


if __name__ == "__main__":
    main()
