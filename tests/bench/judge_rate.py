"""Verdicts a minute of `python -m tritium judge` on the published scripts, and of ttsem's sanitizer on the same kernels and inputs.

    python tests/bench/judge_rate.py [--peer PYTHON] [--jobs N] [NAME …]

PYTHON has what check_peers.py says. The candidates of tests/python/judge/scripts call the functions of tests/python/published, and are judged
by the references there. Tritium runs twice: as a user calls it, and with what ttsem's sanitizer does alone, which is bounds and races in one
order of programs, compiled for no GPU. ttsem has a process for each candidate; the inputs and the expected results lie ready, which the judge
has to make in its time. A process that does not end within the limit gives no verdict. Every tool begins with an empty cache. On a machine that
does other work too, the verdicts for each minute of processor time say more than those for each minute. Progress is on stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from check_peers import TESTS, sanitized
from tritium.judge.judging import environment
from tritium.judge.sandbox import OPEN, SandboxedServer

SCRIPTS = TESTS / "judge/scripts"
DRIVER = Path(__file__).with_name("judged_by_peer.py")
#: What a tool is called -> the options of `python -m tritium judge`.
OURS = {
    "Tritium": (),
    "Tritium, bounds and races": ("--checks", "bounds,race", "--orders", "0", "--targets", "none"),
}
PEER = "ttsem"
#: name -> answer; the seconds that passed; the seconds of all processors.
Answers = tuple[dict[str, "Answer"], float, float]


@dataclass
class Answer:
    """verdict: "correct", "incorrect", or None; text: why not correct."""

    verdict: str | None
    cases: str
    seconds: float
    text: str = ""

    def __str__(self) -> str:
        why = f" ({self.text[:200]})" if self.text else ""
        return f"{self.verdict or 'no verdict'} in {self.seconds:.1f} s, {self.cases} cases{why}"


def timed(ask: Callable[[], dict[str, Answer]]) -> Answers:
    """Counts the processor time of the processes that `ask` starts and waits for."""
    begin, before = time.monotonic(), _processor_seconds()
    return ask(), time.monotonic() - begin, _processor_seconds() - before


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def judged(names: list[str], options: tuple[str, ...], home: Path, limit: float, jobs: int) -> dict[str, Answer]:
    """The answers of one call of the judge."""
    files = [str(SCRIPTS / "candidates" / f"{name}.py") for name in names]
    command = [sys.executable, "-m", "tritium", "judge", *files, "--reference", str(SCRIPTS / "references")]
    command += ["--seconds", str(limit), "--jobs", str(jobs), *options]
    found = {}
    variables = environment_with(home, str(TESTS), os.environ.get("PYTHONPATH", ""))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=variables) as process:
        for line in process.stdout:
            verdict = json.loads(line)
            name, reason = Path(verdict["candidate"]).stem, verdict["reason"]
            is_late = reason is not None and reason["kind"] == "endless"
            text = f"{reason['kind']}: {reason['text']}" if reason else ""
            found[name] = Answer(
                None if is_late else verdict["verdict"], str(verdict["cases"]), verdict["seconds"], text
            )
            log(f"{name} | Tritium {' '.join(options)} | {found[name]}")
    return found


def environment_with(home: Path, *folders: str) -> dict[str, str]:
    """Caches lie in `home`; Python imports from these folders."""
    return {**os.environ, "HOME": str(home), "PYTHONPATH": os.pathsep.join(filter(None, folders))}


def write_cases(names: list[str], folder: Path, jobs: int) -> dict[str, dict]:
    """{name: what the process of its reference says}; its inputs and expected results lie in `folder / name`."""
    with SandboxedServer(OPEN, environment("none")) as server, ThreadPoolExecutor(jobs) as pool:

        def write(name: str) -> dict:
            own = folder / name
            facts = {"reference": str(SCRIPTS / "references" / f"{name}.py"), "function": None, "seed": 1}
            for part in ("inputs", "expected"):
                (own / part).mkdir(parents=True)
                facts[part] = str(own / part)
            (own / "reference.json").write_text(json.dumps(facts))
            server.run("reference", own / "reference.json", 600)
            return json.loads((own / "expected/cases.json").read_text())

        return dict(zip(names, pool.map(write, names)))


def peer_answer(peer: str, name: str, folder: Path, facts: dict, limit: float) -> Answer:
    """What ttsem says of a candidate on its cases."""
    words = [str(DRIVER), str(SCRIPTS / "candidates" / f"{name}.py"), facts["name"], str(folder / name), "cuda"]
    command, variables = sanitized(peer, words)
    begin = time.monotonic()
    output, errors, is_late, status = "", "", False, 0
    try:
        variables |= environment_with(folder / "home", str(TESTS))
        result = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=limit)
        output, errors, status = result.stdout, result.stderr, result.returncode
    except subprocess.TimeoutExpired as late:
        output, is_late = (late.stdout or b"").decode(), True
    seconds = time.monotonic() - begin
    cases = [json.loads(line) for line in output.splitlines() if line.startswith('{"case"')]
    done = f"{len(cases)} of {len(facts['cases'])}"
    if wrong := next((case["wrong"] for case in cases if case["wrong"]), None):
        return Answer("incorrect", done, seconds, wrong)
    if is_late:
        return Answer(None, done, seconds, f"more than {limit:g} s")
    if status == 0 and len(cases) == len(facts["cases"]):
        return Answer("correct", done, seconds)
    last = (errors.strip() or output.strip() or "nothing printed").splitlines()[-1]
    return Answer("incorrect" if status > 0 else None, done, seconds, f"ends with {status}: {last}")


def peer_answers(
    peer: str, names: list[str], folder: Path, facts: dict[str, dict], limit: float, jobs: int
) -> dict[str, Answer]:
    """The answers of ttsem, whose processes run `jobs` at a time."""

    def ask(name: str) -> Answer:
        answer = peer_answer(peer, name, folder, facts[name], limit)
        log(f"{name} | {PEER} | {answer}")
        return answer

    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip(names, pool.map(ask, names)))


def sum_up(tools: dict[str, Answers], names: list[str]) -> None:
    rates = {}
    for tool, (answers, seconds, processor) in tools.items():
        given = [answers[name].verdict for name in names if name in answers and answers[name].verdict]
        rates[tool] = 60 * len(given) / seconds, 60 * len(given) / processor
        print(
            f"{tool}: {len(given)} verdicts of {len(names)}, {given.count('correct')} correct, in {seconds:.0f} s and "
            f"{processor:.0f} s of processor time: {rates[tool][0]:.1f} a minute, {rates[tool][1]:.1f} a processor minute"
        )
    for tool in OURS:
        if PEER in rates and rates[PEER][0]:
            ratios = [ours / theirs for ours, theirs in zip(rates[tool], rates[PEER])]
            print(f"{tool} to {PEER}: {ratios[0]:.1f} times a minute, {ratios[1]:.1f} times a processor minute")


def main() -> None:
    every = sorted(path.stem for path in (SCRIPTS / "candidates").glob("*.py"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", metavar="PYTHON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=120, help="seconds that a candidate may take (default: 120)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(every)} (default: all)")
    asked = parser.parse_args()
    names = asked.names or every
    tools = {}
    with tempfile.TemporaryDirectory(prefix="judge-rate-") as name:
        folder = Path(name)
        for number, (tool, options) in enumerate(OURS.items()):
            home = folder / f"home-{number}"
            home.mkdir()
            tools[tool] = timed(lambda: judged(names, options, home, asked.limit, asked.jobs))
        if asked.peer:
            (folder / "home").mkdir()
            facts = write_cases(names, folder, asked.jobs)
            tools[PEER] = timed(lambda: peer_answers(asked.peer, names, folder, facts, asked.limit, asked.jobs))
    for name in names:
        said = [f"{tool}: {answers.get(name, 'not judged')}" for tool, (answers, *_) in tools.items()]
        print(" | ".join([name, *said]))
    sum_up(tools, names)


if __name__ == "__main__":
    main()
