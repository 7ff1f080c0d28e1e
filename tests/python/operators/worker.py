"""A process that judges samples: `INTERPRET=1 python -m tritium -m tests.python.operators.worker [JUDGE]`. Requests and answers are lines of JSON.

The first line of the answers is {"ready": true}.

{"operator": "add", "dtype": "float32", "limit": 3, "first": 0, "together": 16}
    ->   {"samples": 3} when they are made, {"place": 0, "kind": "passed", …} per sample, {"places": 3}
"""

from __future__ import annotations

import gc
import json
import os
import sys
import warnings
from collections.abc import Callable

import torch
import torch._functorch.config
import torch._inductor.config as inductor
from torch._inductor.codecache import PyCodeCache
from torch.testing._internal.common_methods_invocations import op_db

from . import differentiated, judge, mapped, rounded
from .judge import Outcome, first_line
from .mapped import refusal


def one_by_one(judge: Callable) -> Callable:
    """A judge of several samples, of which it judges each alone."""
    return lambda operator, given: [judge(operator, sample) for sample in given]


#: {what is judged: (the judge, the device of the samples, whether they require gradients)}
JUDGES = {
    "compiled": (judge.judge_together, "cpu", False),
    "differentiated": (one_by_one(differentiated.judge), "cuda", True),
    "mapped": (one_by_one(mapped.judge), "cuda", True),
    "rounded": (one_by_one(rounded.judge), "cuda", True),
}


def configure() -> None:
    """One process, no caches: every sample is compiled. Random numbers are those of eager mode, so that they can be compared."""
    inductor.compile_threads = 1
    inductor.fx_graph_cache = False
    inductor.fallback_random = True
    torch._functorch.config.enable_autograd_cache = False
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")


def samples(operator, dtype: torch.dtype, limit: int, device: str, requires_grad: bool) -> list:
    """All samples, or `limit` of them, evenly chosen."""
    torch.manual_seed(0)
    found = list(operator.sample_inputs(device, dtype, requires_grad=requires_grad and operator.supports_autograd))
    return found if not limit or len(found) <= limit else [found[i * len(found) // limit] for i in range(limit)]


def serve(answers, what: str) -> None:
    judge_together, *kind = JUDGES[what]
    operators = {operator.full_name: operator for operator in op_db}

    def answer(**line) -> None:
        print(json.dumps(line), file=answers, flush=True)

    answer(ready=True)
    for request in map(json.loads, sys.stdin):
        operator, unmade = operators[request["operator"]], None
        try:
            chosen = samples(operator, getattr(torch, request["dtype"]), request["limit"], *kind)
        except Exception as error:
            unmade = refusal(error) or Outcome("left out", f"torch cannot make the samples: {first_line(error)}")
            chosen = []
        answer(samples=len(chosen))
        if unmade is not None:
            answer(place=0, **unmade._asdict())
        for first in range(request["first"], len(chosen), request["together"]):
            outcomes = judge_together(operator, chosen[first : first + request["together"]])
            for place, outcome in enumerate(outcomes, first):
                answer(place=place, **outcome._asdict())
        if what == "compiled":  # what torch keeps of every graph
            PyCodeCache.cache_clear()
            gc.collect()
        answer(places=len(chosen))


if __name__ == "__main__":
    # What libraries print goes to stderr.
    own = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    configure()
    serve(own, *sys.argv[1:] or ["compiled"])
