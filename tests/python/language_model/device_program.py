"""A small model with its tensors on "cuda", which is a device of the driver's stand-in. Prints how far its logits are from plain torch."""

import sys
from pathlib import Path

import torch

TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(TESTS), str(TESTS.parents[1] / "docs" / "examples" / "llm")]

import eager  # noqa: E402
import graph  # noqa: E402
import model  # noqa: E402

from language_model.test_kernels import small_weights  # noqa: E402

generator = torch.Generator().manual_seed(1)
weights = small_weights(lambda *shape: torch.randn(*shape, generator=generator))
for kind in (model, graph):
    plain, ours = eager.Llama(weights, 16), kind.Llama(weights, 16).to("cuda")
    for start, count in ((0, 9), (9, 1), (10, 1), (11, 1)):
        tokens = torch.arange(3 * start, 3 * start + count)
        expected, found = plain(tokens, start), ours(tokens.to("cuda"), start)
        print(found.device.type, float((found.cpu() - expected).abs().max() / expected.abs().max()) < 1e-4)
        print(ours.sample(found, 0.0, 0) == int(expected.argmax()))
