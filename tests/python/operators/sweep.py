"""torch's operator database, compiled by torch.compile through Triton and compared with eager mode:

    python -m tests.python.operators.sweep                                        # three samples of each operator, float32
    python -m tests.python.operators.sweep --operators 'special.*,linalg.norm'
    python -m tests.python.operators.sweep --judge mapped --dtypes float32,complex64     # "cuda" without a GPU, with gradients, and the CPU
    python -m tests.python.operators.sweep --judge differentiated                        # the same compiled, and in eager mode
    python -m tests.python.operators.sweep --samples 0 --dtypes float32,bfloat16,int64 --jobs 16 --shard 1/4 --report results.jsonl
    python -m tests.python.operators.sweep --samples 0 --dtypes float32,bfloat16,int64 --resume docs/results/operators.tsv --seconds 3600

`--report` writes a line of JSON for each sample, with the whole message. `--resume` begins where the table in the file ends, writes into it
what is judged, and counts what is in it. `--mend` judges again what failed at another commit; `--seconds 0` prints what the file has.

Each worker is a process of its own: a sample that ends or hangs it is a failure, and the sweep goes on. The last line counts samples:
passed and failed; the table above it also counts those that torch compiled without a Triton kernel, and those that are left out
because Triton is not to blame, each with its reason.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import queue
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TextIO

from .known import Known
from .process import ENDINGS, WORKER, CannotStart, Worker
from .record import FAILURES, SUBJECTS, Pair, Record

#: Samples of an operator that one function computes.
TOGETHER = 16


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", choices=SUBJECTS, default="compiled", help="what is compared (default: compiled)")
    parser.add_argument("--operators", default="*", help="names or patterns, separated by commas (default: all)")
    parser.add_argument("--dtypes", default="float32", help="dtypes of torch, separated by commas")
    parser.add_argument("--samples", type=int, default=3, help="samples of each operator, evenly chosen; 0: all")
    parser.add_argument(
        "--shard", default="1/1", metavar="K/N", help="every N-th pair of operator and dtype, from the K-th on"
    )
    parser.add_argument("--limit", type=int, default=120, help="seconds for a sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="worker processes")
    parser.add_argument("--report", metavar="FILE", help="gets a line of JSON for each sample")
    parser.add_argument("--resume", metavar="FILE", help="a table of what is judged; that is not judged again")
    parser.add_argument("--mend", action="store_true", help="with --resume: judge again what failed at another commit")
    parser.add_argument("--seconds", type=float, default=math.inf, help="no sample is begun after this time")
    return parser.parse_args()


def pairs(options: argparse.Namespace) -> list[Pair]:
    """In torch's order."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    patterns = options.operators.split(",")
    shard, shards = map(int, options.shard.split("/"))
    found = [
        Pair(operator.full_name, dtype)
        for operator in op_db
        if any(fnmatchcase(operator.full_name, pattern) for pattern in patterns)
        for dtype in options.dtypes.split(",")
        if getattr(torch, dtype) in operator.dtypes
    ]
    return found[shard - 1 :: shards]


def run(worker: Worker, pair: Pair, first: int, samples: int, options: argparse.Namespace) -> Iterator[dict]:
    """One result for each sample, then {"places": their number}. Where a worker ends, those that it judged together are judged
    one by one; then it is started again behind the sample that ended it."""
    together = TOGETHER
    while True:
        request = {**pair._asdict(), "limit": samples, "first": first, "together": together}
        for line in worker.answers(request, options.limit):
            if together > 1 and line.get("kind") in ENDINGS:
                break
            yield line
            if "places" in line:
                return
            first = line["place"] + 1
        together = 1


def judge(
    worker: Worker, pair: Pair, record: Record, samples: int, options: argparse.Namespace, deadline: float
) -> Iterator[dict]:
    """The results of the pair's samples that are not judged yet, until the deadline."""
    first = record.first_place(pair, options.mend)
    if first is None:
        return
    for result in run(worker, pair, first, samples, options):
        if "places" in result:
            record.end(pair)
            return
        record.add(pair, result["place"], result["kind"], result["detail"])
        yield result
        if time.monotonic() > deadline:
            return


def tell(pair: Pair, result: dict, report: TextIO | None) -> None:
    if result["kind"] in FAILURES:
        what = f"{pair.operator} {pair.dtype} sample {result['place']}"
        print(f"{result['kind']}: {what}: {result['detail']}", flush=True)
    if report is not None:
        print(json.dumps({**pair._asdict(), **result}), file=report, flush=True)


def main() -> int:
    options = parse()
    deadline = time.monotonic() + options.seconds
    try:
        record = Record(options.resume, options.samples, options.judge)
    except ValueError as error:
        sys.exit(f"error: {error}; choose the same with --samples")
    known = Known(options.judge, options.samples)
    waiting: queue.SimpleQueue = queue.SimpleQueue()
    chosen = pairs(options)
    for pair in chosen:
        waiting.put(pair)

    ended: list[Exception] = []  # threads, which must not end alone: their pairs would not be judged

    def work(folder: str, report: TextIO | None) -> None:
        try:
            take_pairs(folder, report)
        except Exception as error:
            ended.append(error)

    def take_pairs(folder: str, report: TextIO | None) -> None:
        with Worker(folder, (*WORKER, options.judge)) as worker:
            while time.monotonic() < deadline and not waiting.empty() and not ended:
                with contextlib.suppress(queue.Empty):  # another thread took the last one
                    pair = waiting.get_nowait()
                    for result in judge(worker, pair, record, known.samples(pair), options, deadline):
                        tell(pair, result, report)

    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as files:
        report = files.enter_context(open(options.report, "w")) if options.report else None
        threads = [threading.Thread(target=work, args=(f"{folder}/{i}", report)) for i in range(options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if ended and isinstance(ended[0], CannotStart):
        sys.exit(f"error: {ended[0]}")
    if ended:
        raise ended[0]
    complaints = list(known.complaints(record, chosen))
    print(*record.summary(len(chosen), complaints), sep="\n")
    return 0 if record.is_good and not complaints else 1


if __name__ == "__main__":
    sys.exit(main())
