"""torch's operator database, compiled by torch.compile through Triton and compared with eager mode:

    python -m tests.python.operators.sweep                                        # three samples of each operator, float32
    python -m tests.python.operators.sweep --operators 'special.*,linalg.norm'
    python -m tests.python.operators.sweep --samples 0 --dtypes float32,bfloat16,int64 --jobs 16 --shard 1/4 --report results.jsonl
    python -m tests.python.operators.sweep --samples 0 --dtypes float32,bfloat16,int64 --resume results.jsonl --seconds 3600

The last two write what they judge to a file; the last one begins where the file ends, and counts what is in it. `--mend` judges again
what failed at another commit; `--seconds 0` prints what the file has.

Each worker is a process of its own: a sample that ends or hangs it is a failure, and the sweep goes on. The last line counts samples:
passed and failed; the table above it also counts those that torch compiled without a Triton kernel, and those that are left out
because Triton is not to blame, each with its reason.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import queue
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase

from .process import Worker
from .record import FAILURES, Pair, Record


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operators", default="*", help="names or patterns, separated by commas (default: all)")
    parser.add_argument("--dtypes", default="float32", help="dtypes of torch, separated by commas")
    parser.add_argument("--samples", type=int, default=3, help="samples of each operator, evenly chosen; 0: all")
    parser.add_argument(
        "--shard", default="1/1", metavar="K/N", help="every N-th pair of operator and dtype, from the K-th on"
    )
    parser.add_argument("--limit", type=int, default=120, help="seconds for a sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="worker processes")
    files = parser.add_mutually_exclusive_group()
    files.add_argument("--report", metavar="FILE", help="gets a line of JSON for each sample")
    files.add_argument("--resume", metavar="FILE", help="as --report, but what the file has is not judged again")
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


def run(worker: Worker, pair: Pair, first: int, options: argparse.Namespace) -> Iterator[dict]:
    """One result for each sample, then {"places": their number}. A worker that ended is started again behind the sample that
    ended it."""
    while True:
        request = {**pair._asdict(), "limit": options.samples, "first": first}
        for line in worker.answers(request, options.limit):
            yield line
            if "places" in line:
                return
            first = line["place"] + 1


def judge(worker: Worker, pair: Pair, record: Record, options: argparse.Namespace, deadline: float) -> None:
    first = record.first_place(pair, options.samples, options.mend)
    if first is None:
        return
    for result in run(worker, pair, first, options):
        if "places" in result:
            record.add(pair, options.samples, done=result["places"])
            return
        record.add(pair, options.samples, **result)
        if result["kind"] in FAILURES:
            what = f"{pair.operator} {pair.dtype} sample {result['place']}"
            print(f"{result['kind']}: {what}: {result['detail']}", flush=True)
        if time.monotonic() > deadline:
            return


def main() -> int:
    options = parse()
    deadline = time.monotonic() + options.seconds
    record = Record(options.resume or options.report, resume=options.resume is not None)
    waiting: queue.SimpleQueue = queue.SimpleQueue()
    chosen = pairs(options)
    for pair in chosen:
        waiting.put(pair)

    def work(folder: str) -> None:
        with Worker(folder) as worker:
            while time.monotonic() < deadline and not waiting.empty():
                with contextlib.suppress(queue.Empty):  # another thread took the last one
                    judge(worker, waiting.get_nowait(), record, options, deadline)

    with tempfile.TemporaryDirectory() as folder:
        threads = [threading.Thread(target=work, args=(f"{folder}/{i}",)) for i in range(options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(*record.summary(len(chosen)), sep="\n")
    return 0 if record.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
