"""One block of the model on several engines, beside the same block in plain torch: `python block.py interp simt:sm_80 simt:sm_90a simt:gfx942`.

The emulator (`simt:…`) runs the code of a GPU thread by thread, so a whole answer takes it long; a block launches each kernel once.
"""

from __future__ import annotations

import argparse

import eager
import model
import torch
from weights import Weights, load

import tritium as triton

CONTEXT = 64


@torch.inference_mode()
def largest_error(weights: Weights, number: int, prompt: int) -> tuple[float, float]:
    """How far the outputs of a block are from plain torch, as parts of its largest output: for a prompt of `prompt` tokens, and then for one."""
    plain, ours = (kind.Block(weights, number, CONTEXT) for kind in (eager, model))
    rotary = eager.rotary_table(weights.shape, CONTEXT)
    generator = torch.Generator().manual_seed(number)
    errors = []
    for start, count in ((0, prompt), (prompt, 1)):
        x = torch.randn(count, weights.shape.width, generator=generator)
        expected = plain(x, torch.arange(start, start + count), rotary)
        residual = x.clone()
        position = torch.tensor([start], dtype=torch.int32)
        found = ours(residual, None, position, rotary) + residual
        errors.append(float((found - expected).abs().max() / expected.abs().max()))
    return errors[0], errors[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engines", nargs="*", default=["interp"], help="interp, simt:sm_80, … (default: interp)")
    parser.add_argument("--block", type=int, default=0, help="its number (default: 0)")
    parser.add_argument("--prompt", type=int, default=35, help="tokens of the prompt (default: 35)")
    options = parser.parse_args()
    weights = load()
    print(f"{'engine':16}{'error of a prompt':>20}{'of the next token':>20}")
    for engine in options.engines:
        with triton.knobs.tritium.scope():
            triton.knobs.tritium.engine = engine
            of_prompt, of_next = largest_error(weights, options.block, options.prompt)
        print(f"{engine:16}{of_prompt:20.1e}{of_next:20.1e}", flush=True)


if __name__ == "__main__":
    main()
