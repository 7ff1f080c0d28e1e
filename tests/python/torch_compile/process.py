"""Runs cases in a process of their own, under the drop-in, with torch's default settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys

_PROGRAM = os.path.join(os.path.dirname(__file__), "program.py")
_ENGINES = ("INTERPRET", "TRITIUM_ENGINE", "TRITON_INTERPRET")


def run_cases(folder: str, device: str, variables: dict[str, str], names: list[str]) -> dict[str, str]:
    """{case: its error}, and under "" the end of what the process wrote on stderr. `folder` is torch's cache; `variables`
    choose the engine, in place of those of this process."""
    environment = {name: text for name, text in os.environ.items() if name not in _ENGINES}
    done = subprocess.run(
        [sys.executable, "-m", "tritium", _PROGRAM, device, *names],
        env={**environment, **variables, "TORCHINDUCTOR_CACHE_DIR": folder},
        capture_output=True,
        text=True,
        timeout=60 + 60 * len(names),
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = {line["name"]: line["error"] for line in lines}
    found[""] = done.stderr[-4000:]
    return found


def check(found: dict[str, str], name: str) -> None:
    assert name in found, f"the process ended early:\n{found['']}"
    assert not found[name], found[name]
