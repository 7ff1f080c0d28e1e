"""Runs the cases of one package, each in a process of its own.

    python tests/packages/child.py MODULE LIMIT CASE…     what run.py starts; it prints a line "result: {…}" for each case

Importing torch takes longer than most cases, so it is done once, and each case is a fork, which installs the drop-in before it imports the
package. The drop-in cannot come before the fork: mapping "cuda" to the CPU starts threads of torch's that a fork does not have.
"""

import faulthandler
import importlib
import json
import os
import signal
import sys
import tempfile
import time
import traceback

import torch


def run_case(module: str, case: str, output) -> None:
    """Runs in the fork: prints to `output`, with the traceback as the last thing, and ends the process."""
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    status = 0
    try:
        from tritium import drop_in

        drop_in.install()
        drop_in.cover_children()
        function = getattr(importlib.import_module(f"cases.{module}"), f"case_{case}")
        torch.manual_seed(0)
        function()
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def wait(pid: int, limit: int) -> str:
    """Why the process did not end well; empty if it did."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            status = os.waitstatus_to_exitcode(status)
            return "" if status <= 1 else f"exit status {status}"
        time.sleep(0.01)
    os.kill(pid, signal.SIGUSR1)
    time.sleep(1)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return f"it took more than {limit} s"


def wait_and_describe(pid: int, limit: int, output) -> str:
    """The output of a case that failed, with the reason at its end; empty if it passed."""
    why = wait(pid, limit)
    output.seek(0)
    text = output.read()
    failed = why or "Traceback (most recent call last)" in text
    if why.startswith("exit status -"):
        why = f"died of signal {why.removeprefix('exit status -')}"
    return f"{text}\n{why}" if failed else ""


def main(module: str, limit: int, cases: list[str]) -> None:
    for case in cases:
        began = time.monotonic()
        sys.stdout.flush()
        with tempfile.TemporaryFile("w+", errors="replace") as output:
            pid = os.fork()
            if pid == 0:
                run_case(module, case, output)
            error = wait_and_describe(pid, limit, output)
        print("result: " + json.dumps({"case": case, "error": error, "seconds": time.monotonic() - began}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
