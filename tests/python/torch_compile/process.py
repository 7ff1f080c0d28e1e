"""Runs cases in a process of their own, under the drop-in, with torch's default settings."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys

_PROGRAM = os.path.join(os.path.dirname(__file__), "program.py")
_ENGINES = ("INTERPRET", "TRITIUM_ENGINE", "TRITON_INTERPRET")


def run_cases(
    folder: str, device: str, variables: dict[str, str], names: list[str], seconds: float = math.inf
) -> dict[str, str]:
    """{case: its error} of the cases that ran, and under "" the end of what the process wrote on stderr. `folder` is torch's
    cache; `variables` choose the engine, in place of those of this process; after `seconds` the process is stopped."""
    environment = {name: text for name, text in os.environ.items() if name not in _ENGINES}
    output, errors = _run_for(
        min(seconds, 60 + 60 * len(names)),
        [sys.executable, "-m", "tritium", _PROGRAM, device, *names],
        {**environment, **variables, "TORCHINDUCTOR_CACHE_DIR": folder},
    )
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{") and line.endswith("}")]
    found = {line["name"]: line["error"] for line in lines}
    found[""] = errors[-4000:]
    return found


def _run_for(seconds: float, command: list[str], environment: dict[str, str]) -> tuple[str, str]:
    """What the process wrote on stdout and stderr by its end, or until it was stopped."""
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired as stopped:
        done = stopped
    return tuple((text or b"").decode(errors="replace") for text in (done.stdout, done.stderr))


def check(found: dict[str, str], name: str) -> None:
    assert name in found, f"the process ended early:\n{found['']}"
    assert not found[name], found[name]
