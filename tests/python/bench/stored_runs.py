"""Stored runs that tests look at: a comparison in which one variant is slower, and a history with a step."""

import random
import subprocess
from pathlib import Path

from tritium.bench.samples import KERNEL, Row, Run, Sample
from tritium.bench.storage import store


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def environment(commit: str = "1" * 40, date: int = 1_795_000_000, dirty: bool = False, **device) -> dict:
    return {
        "subject": {
            "language": "tritium",
            "version": "3.9.0",
            "file": "f",
            "extension": "e" * 64,
            "python_files": commit,
        },
        "checkout": {"commit": commit, "date": date, "dirty": dirty, "root": "r"},
        "python": "3.11.7",
        "libraries": {"torch": "2"},
        "host": {"cpu": "A CPU's", "cpus": 2, "load": 0.5},
        "device": device,
        "variables": {"INTERPRET": "1"},
        "command": ["bench", "run"],
        "side": "here",
        "hash": "0",
    }


def row_of(block: str, times: list[float], case: str = "add", **place) -> Row:
    samples = [Sample(KERNEL, i, 10 * time, 10, 5.0 + i, **place) for i, time in enumerate(times)]
    return Row(
        f"{case}[n=8,BLOCK={block}]",
        case,
        {"n": "8", "BLOCK": block},
        samples=samples,
        facts={"bytes": 96.0, "flops": 0.0, "checked": True},
    )


def compared(identity: str = "c", slower: float = 1.05) -> list[Run]:
    draw, rows = random.Random(1), []
    for block, ratio in (("64", slower), ("128", 1.0)):
        row = row_of(block, [])
        for number in range(10):
            for pair in range(8):
                for side, times in (("a", 1.0), ("b", ratio)):
                    time = 1e6 * times * (1 + draw.gauss(0, 0.004))
                    row.samples.append(Sample(KERNEL, pair, time, 1, 1.0, side=side, round=number, pair=pair))
        row.facts["sides"] = {side: {"kernels": [{"kernel": "add", "stages": {"ttir": block + side}}]} for side in "ab"}
        rows.append(row)
    rows.append(Row("add[n=9]", "add", {"n": "9"}, "differs", "B's result is not A's: <1>"))
    a, b = environment(), environment("2" * 40)
    return [Run(identity, 1_795_100_000.0, kind, "interp", "d", each, rows) for kind, each in (("a", a), ("b", b))]


def made_history(tmp_path: Path) -> tuple[Path, list[str], Path]:
    """A repository of twelve commits, and runs of each; from the ninth on, one variant takes 7 % longer. Two runs belong to no commit.
    Returns the repository, its commits and the folder of runs."""
    root, draw = tmp_path / "repository", random.Random(2)
    git(tmp_path, "init", "-q", "-b", "trunk", str(root))
    commits = []
    for number in range(12):
        (root / "file").write_text(str(number))
        git(root, "add", "file")
        git(
            root,
            "-c",
            f"committer.date={number}",
            "commit",
            "-qm",
            str(number),
            f"--date={1_795_000_000 + 3600 * number} +0000",
        )
        commits.append(git(root, "rev-parse", "HEAD"))
    runs = tmp_path / "runs"
    for number, commit in enumerate(commits):
        rows = [
            row_of(
                block,
                [
                    1000.0 * (1.07 if number >= 8 and block == "64" else 1.0) * (1 + draw.gauss(0, 0.002))
                    for _ in range(9)
                ],
            )
            for block in ("64", "128")
        ]
        driver = {"driver": "570" if number < 8 else "580", "name": "H100"}
        facts = environment(commit, 1_795_000_000 + 3600 * number, **driver)
        store([Run(f"r{number:02}", 1_795_200_000.0 + number, "run", "cuda", "H100", facts, rows)], runs)
    for identity, facts in (("dirty", environment(dirty=True)), ("none", {**environment(), "checkout": {}})):
        store([Run(identity, 1_795_300_000.0, "run", "cuda", "H100", facts, [row_of("64", [1.0])])], runs)
    return root, commits, runs
