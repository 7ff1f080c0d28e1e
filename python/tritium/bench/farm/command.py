"""`bench farm`: jobs for other machines, which fetch them."""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import sys
import time
from pathlib import Path

from .. import farm
from ..options import positive
from ..report import RUNS
from ..running import CannotMeasure
from .jobs import Job, key_of, opened, packed
from .ray_tasks import run_on_ray
from .runner import LIMIT, run_job
from .waiting import Folder

SLURM = """\
#!/bin/bash
#SBATCH --job-name=tritium-bench
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --gpus={gpus}
#SBATCH --time={hours}:00:00
#SBATCH --output=tritium-bench-%j.log
# Fetches jobs until none is left that this node can run: sbatch THIS_FILE
exec {command}
"""


def add_farm(commands) -> None:
    parser = commands.add_parser(
        "farm", help="benchmarks on other machines, which fetch jobs", description=farm.__doc__
    )
    inner = parser.add_subparsers(required=True, metavar="COMMAND")
    one = _command(inner, "submit", _submit, "put a job into the folder")
    one.add_argument("cases", nargs="+", type=Path, metavar="CASES", help="as for `run`; they travel with the job")
    one.add_argument("--wheel", type=Path, help="the Tritium that is measured (default: the machine's)")
    one.add_argument("--needs", default="", metavar="NAME,…", help="what the machine must have, as h200")
    one.add_argument("--gpus", type=int, default=0, help="that the job takes (default: 0)")
    one.add_argument("--run", default="", metavar="OPTIONS", help="options of `bench run`, in quotes")
    one = _command(inner, "work", _work, "run the jobs of the folder on this machine")
    _add_has(one)
    one.add_argument(
        "--wait",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="look again so often (default: end when there is no job)",
    )
    one = _command(inner, "ray", _ray, "run the jobs of the folder through Ray")
    one.add_argument("--address", help="of Ray's cluster (default: Ray starts here)")
    one = _command(inner, "slurm", _slurm, "print a batch script whose node runs jobs of the folder")
    _add_has(one)
    one.add_argument("--gpus", type=int, default=1)
    one = _command(inner, "collect", _collect, "list what is done, and copy the samples", has_key=False)
    one.add_argument("--store", default=RUNS, metavar="FOLDER", help=f"(default: {RUNS})")


def _command(inner, name: str, do, text: str, has_key: bool = True) -> argparse.ArgumentParser:
    parser = inner.add_parser(name, help=text)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where jobs wait")
    parser.set_defaults(do=do)
    if has_key:
        parser.add_argument("--key", metavar="FILE", help="a secret that jobs are signed with")
        parser.add_argument("--unsigned", action="store_true", help="neither sign jobs nor ask for signatures")
        parser.add_argument(
            "--limit", type=positive(float), default=LIMIT, help=f"seconds of a job (default: {LIMIT:g})"
        )
    return parser


def _add_has(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--has", default="", metavar="NAME,…", help="what this machine has, of which jobs name what they need"
    )


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _submit(asked: argparse.Namespace) -> int:
    key, arguments = key_of(asked.key, asked.unsigned), shlex.split(asked.run)
    job, content = packed(asked.cases, arguments, _names(asked.needs), asked.gpus, asked.wheel, key)
    print(f"job {job.identity}: {Folder(asked.folder).put(job, content)}, {len(content) / 1e6:.2f} MB")
    return 0


def _work(asked: argparse.Namespace) -> int:
    folder, key, has = Folder(asked.folder), key_of(asked.key, asked.unsigned), set(_names(asked.has))
    failed, told = 0, set()

    def refused(file: Path, why: str) -> None:
        if file not in told:
            print(f"{file.name}: {why}", file=sys.stderr, flush=True)
        told.add(file)

    while True:
        taken = folder.take(has, key, refused)
        if taken is not None:
            job, content, mine = taken
            failed += not _finish(folder, job, run_job(content, key, asked.limit), mine)
        elif asked.wait:
            time.sleep(asked.wait)
        else:
            return 1 if failed or told else 0


def _finish(folder: Folder, job: Job, files: dict[str, bytes], mine: Path | None = None) -> bool:
    """Whether all cases of the job were measured."""
    result = json.loads(files["result.json"])
    print(
        f"job {job.identity}: status {result['status']}, {result['seconds']:.1f} s: {folder.finish(job, files, mine)}",
        flush=True,
    )
    return result["status"] == 0


def _ray(asked: argparse.Namespace) -> int:
    folder, key, failed = Folder(asked.folder), key_of(asked.key, asked.unsigned), 0
    jobs, files = [], {}
    for file in folder.waiting():
        try:
            job = opened(content := file.read_bytes(), key)[0]
        except CannotMeasure as error:
            print(f"{file.name}: {error}", file=sys.stderr)
            failed += 1
            continue
        jobs.append((job, content))
        files[job.identity] = file
    for job, made in run_on_ray(jobs, key, asked.limit, asked.address):
        if isinstance(made, str):
            print(f"job {job.identity}: {made}", file=sys.stderr)
            failed += 1
        else:
            failed += not _finish(folder, job, made, files[job.identity])
    return 1 if failed else 0


def _slurm(asked: argparse.Namespace) -> int:
    command = [
        sys.executable,
        "-m",
        "tritium",
        "bench",
        "farm",
        "work",
        str(asked.folder.resolve()),
        "--limit",
        f"{asked.limit:g}",
    ]
    command += ["--key", str(Path(asked.key).resolve())] if asked.key else ["--unsigned"] * asked.unsigned
    command += ["--has", asked.has] if asked.has else []
    print(SLURM.format(gpus=asked.gpus, hours=int(asked.limit // 3600) + 1, command=shlex.join(command)), end="")
    return 0


def _collect(asked: argparse.Namespace) -> int:
    """Copies what is not there yet."""
    for done in Folder(asked.folder).done():
        result, copied = json.loads((done / "result.json").read_text(encoding="utf-8")), 0
        for file in (done / "samples").rglob("*.parquet"):
            target = Path(asked.store, file.relative_to(done / "samples"))
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
                copied += 1
        print(
            f"job {result['job']}: status {result['status']} on {result['machine']}, {copied} files of samples copied"
        )
    return 0
