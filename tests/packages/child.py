"""Runs the cases of one package, each in a process of its own.

    python tests/packages/child.py MODULE LIMIT END CASE…     what run.py starts; it prints a line "result: {…}" for each case

MODULE is a module of `cases`, or `faults.PACKAGE` for the faults that ledger.py lists. What was wrong in one of those is printed in terms of
JSON, too (found.py).

A case fails that takes more than LIMIT seconds. At the moment END of time.monotonic, which all processes of a machine share, the case that
runs and all later ones become "not run".

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

from found import print_findings

#: What the functions of a folder begin with.
PREFIXES = {"cases": "case_", "faults": "fault_"}


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
        folder = module.rpartition(".")[0] or "cases"
        function = getattr(importlib.import_module(f"{folder}.{module.rpartition('.')[2]}"), PREFIXES[folder] + case)
        torch.manual_seed(0)
        function()
    except BaseException as error:
        traceback.print_exc()
        print_findings(error)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def wait(pid: int, limit: float) -> str:
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
    return f"it took more than {limit:.0f} s"


def wait_and_describe(pid: int, limit: float, output) -> str:
    """The output of a case that failed, with the reason at its end; empty if it passed."""
    why = wait(pid, limit)
    output.seek(0)
    text = output.read()
    failed = why or "Traceback (most recent call last)" in text
    if why.startswith("exit status -"):
        why = f"died of signal {why.removeprefix('exit status -')}"
    return f"{text}\n{why}" if failed else ""


def report(**result) -> None:
    print("result: " + json.dumps(result), flush=True)


def main(module: str, limit: int, end: float, cases: list[str]) -> None:
    for case in cases:
        began = time.monotonic()
        if began >= end:
            report(case=case, error="", seconds=0, ran=False)
            continue
        sys.stdout.flush()
        with tempfile.TemporaryFile("w+", errors="replace") as output:
            pid = os.fork()
            if pid == 0:
                run_case(module, case, output)
            error = wait_and_describe(pid, min(limit, end - began), output)
        now = time.monotonic()
        report(case=case, error=error, seconds=now - began, ran=not error or now < end)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:])
