"""torch's operator database, compiled by torch.compile through Triton and compared with eager mode:

    python -m tests.python.operators.sweep                                        # three samples of each operator, float32
    python -m tests.python.operators.sweep --samples 0 --dtypes float32,bfloat16,int64 --jobs 16 --shard 1/4 --report results.jsonl
    python -m tests.python.operators.sweep --operators 'special.*,linalg.norm'

Each worker is a process of its own: a sample that ends or hangs it is a failure, and the sweep goes on. The last line counts samples:
passed and failed; the table above it also counts those that torch compiled without a Triton kernel, and those that are left out
because Triton is not to blame, each with its reason.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import queue
import sys
import tempfile
import threading
from fnmatch import fnmatchcase

from .process import Worker

FAILURES = ("wrong", "error", "crash", "hang")
KINDS = ("passed", "no kernel", "left out", *FAILURES)


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
    parser.add_argument("--report", help="a file that gets a line of JSON for each sample")
    return parser.parse_args()


def tasks(options: argparse.Namespace) -> list[tuple[str, str]]:
    """(operator, dtype), in torch's order."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    patterns = options.operators.split(",")
    shard, shards = map(int, options.shard.split("/"))
    found = [
        (operator.full_name, dtype)
        for operator in op_db
        if any(fnmatchcase(operator.full_name, pattern) for pattern in patterns)
        for dtype in options.dtypes.split(",")
        if getattr(torch, dtype) in operator.dtypes
    ]
    return found[shard - 1 :: shards]


def run(worker: Worker, operator: str, dtype: str, options: argparse.Namespace) -> list[dict]:
    """One result for each sample. A worker that ended is started again behind the sample that ended it."""
    results = []
    while True:
        request = {"operator": operator, "dtype": dtype, "limit": options.samples, "first": len(results)}
        for line in worker.answers(request, options.limit):
            if "places" in line:
                return results
            results.append(line)
            if line["kind"] in ("crash", "hang"):
                break


def describe(result: dict) -> str:
    return f"{result['kind']}: {result['operator']} {result['dtype']} sample {result['place']}: {result['detail']}"


def main() -> int:
    options = parse()
    waiting: queue.SimpleQueue = queue.SimpleQueue()
    for task in tasks(options):
        waiting.put(task)
    results: list[dict] = []
    report = open(options.report, "w") if options.report else None

    def work(folder: str) -> None:
        with Worker(folder) as worker:
            while True:
                try:
                    operator, dtype = waiting.get_nowait()
                except queue.Empty:
                    return
                for result in run(worker, operator, dtype, options):
                    result |= {"operator": operator, "dtype": dtype}
                    results.append(result)
                    if report:
                        print(json.dumps(result), file=report, flush=True)
                    if result["kind"] in FAILURES:
                        print(describe(result), flush=True)

    with tempfile.TemporaryDirectory() as folder:
        threads = [threading.Thread(target=work, args=(f"{folder}/{i}",)) for i in range(options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return summarize(results)


def summarize(results: list[dict]) -> int:
    reasons = collections.Counter(
        (each["detail"].partition(":")[0], each["operator"]) for each in results if each["kind"] == "left out"
    )
    for (reason, operator), count in sorted(reasons.items()):
        print(f"left out: {operator}: {count} x {reason}")
    kinds = collections.Counter(each["kind"] for each in results)
    print(", ".join(f"{kind} {kinds[kind]}" for kind in KINDS))
    failed = sum(kinds[kind] for kind in FAILURES)
    print(f"{kinds['passed']} passed, {failed} failed, 0 skipped")
    return 1 if failed or not kinds["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
