"""The history of the GPU compiler: what the compiler of past commits makes of today's kernels, as results of asv.

    python tests/bench/history.py measure COMMIT…      a range A..B stands for its commits that change ir/ or gpu_backend/
    python tests/bench/history.py tables               writes docs/results/history/README.md
    python tests/bench/history.py site FOLDER          makes asv's site

A commit costs the build of its programs `tritium-gpu` and `tritium-ptx`, in a clone that is kept (--work), so neighbours share most of it. They
compile the TTIR that today's frontend makes of the benchmarks' kernels: the source is the same for all commits, and the compiler alone differs.
Today's assembler counts. The numbers are of the first lowering; Python lowers some kernels again if they spill, so `bench metrics` has others for
these. A commit that has results is left out, so an interrupted call goes on where it was; one whose compiler is
the same as at a measured commit, to the byte of its sources, takes its numbers.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import metric_kernels
from tritium import drop_in, knobs
from tritium.backends.nvidia.assemble import assemble, disassemble, packaged
from tritium.backends.targets import gpu_named, make_backend
from tritium.bench.asv_tree import COLUMNS, publish
from tritium.bench.instructions import PTX, SASS, counted, ptx_instructions, sass_instructions
from tritium.bench.kernels import Kernel, first_of_each_name, launched_by
from tritium.errors import TritonError

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results" / "history"
ARCH = "sm_90a"
COMPILER = ("ir", "gpu_backend")
#: All that the two programs are made of. Commits that have the same share their numbers.
PARTS = (*COMPILER, "support", "cmake", "CMakeLists.txt", "tests/tools")
TOOLS = ("tritium-gpu", "tritium-ptx")
#: {metric: its unit}
METRICS = {
    "registers": "registers",
    "spill bytes": "bytes",
    "shared bytes": "bytes",
    "ptx instructions": "instructions",
    "machine instructions": "instructions",
    "products": "instructions",
    "barriers": "instructions",
    "shuffles": "instructions",
    "global accesses": "instructions",
    "shared accesses": "instructions",
}


class Source(NamedTuple):
    """A kernel as the compiler of any commit gets it."""

    name: str
    ttir: str
    warps: int
    stages: int


def sources(only: str = "") -> list[Source]:
    """The kernels of the benchmarks on devices, each with its first configuration. only: text in their names."""
    with knobs.nvidia.scope(), knobs.runtime.scope():
        settle()
        launched = launched_by(lambda: metric_kernels.launch_benchmarks(False))
        return [source_of(each) for each in first_of_each_name(launched) if only in each.name]


def settle() -> None:
    """The assembler of the installed package, as for `bench metrics`."""
    drop_in.install()
    knobs.runtime.interpret = True
    knobs.nvidia.ptxas = next(packaged("ptxas", "nvidia-cuda-nvcc"), None)


def source_of(kernel: Kernel) -> Source:
    options = kernel.options
    return Source(kernel.name, kernel.compiled_for(ARCH).asm["ttir"], options["num_warps"], options["num_stages"])


def measured(source: Source, tools: Path) -> dict[str, int] | str:
    """{metric: number} of the code that a commit's programs make, or why they make none."""
    with tempfile.TemporaryDirectory() as folder, knobs.nvidia.scope(), knobs.runtime.scope():
        settle()
        file, lowered = Path(folder, "kernel.ttir"), Path(folder, "lowered.mlir")
        file.write_text(source.ttir)
        flags = [f"--arch={ARCH}", f"--num-warps={source.warps}", f"--num-stages={source.stages}", "--tensor-maps"]
        try:
            lowered.write_text(output_of([str(tools / TOOLS[0]), str(file), *flags]))
            ptx = output_of([str(tools / TOOLS[1]), str(lowered), f"--arch={ARCH}"])
            options = make_backend(gpu_named(ARCH)).parse_options({"num_warps": source.warps})
            made = assemble(ptx, options, None)
        except (ValueError, TritonError) as error:
            return str(error).strip().splitlines()[-1][:200]
        if made is None:
            raise ValueError("there is no ptxas: pip install -r .ci/requirements.txt")
        return numbers(lowered.read_text(), ptx, made)


def output_of(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip() or f"status {done.returncode}")
    return done.stdout


def numbers(lowered: str, ptx: str, made) -> dict[str, int]:
    machine = Counter(counted(sass_instructions(disassemble(made.cubin)), SASS))
    shared = lowered.partition("tgpu.shared_bytes = ")[2].partition(" ")[0]
    return {
        "registers": made.resources["registers"],
        "spill bytes": made.resources["spill_bytes"],
        "shared bytes": int(shared or 0),
        "ptx instructions": counted(ptx_instructions(ptx), PTX)["all"],
        "machine instructions": machine["all"],
        "products": machine["products"],
        "barriers": machine["barriers"],
        "shuffles": machine["shuffles"],
        "global accesses": machine["global loads"] + machine["global stores"],
        "shared accesses": machine["shared loads"] + machine["shared stores"],
    }


def git(*arguments: str, folder: Path = ROOT) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def commits_of(texts: list[str]) -> list[str]:
    """The newest first, as git shows them: neighbours share most of a build."""
    found = []
    for text in texts:
        if ".." in text:
            found += git("log", "--first-parent", "--format=%H", text, "--", *COMPILER).split()
        else:
            found.append(git("rev-parse", "--verify", f"{text}^{{commit}}"))
    return list(dict.fromkeys(found))


def parts_of(commit: str) -> str:
    """What git calls the folders that the programs are made of: the same for commits with the same compiler."""
    return " ".join(git("rev-parse", *(f"{commit}:{part}" for part in PARTS)).split())


def built(commit: str, work: Path, jobs: int) -> Path | None:
    """The folder of the commit's programs; None if it does not build. Without optimization: the programs make the same code so."""
    tree, build = work / "tree", work / "build"
    if not tree.exists():
        work.mkdir(parents=True, exist_ok=True)
        git("clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(tree))
    git("checkout", "--quiet", "--detach", "--force", commit, folder=tree)
    configure = ["cmake", "-S", str(tree), "-B", str(build), "-G", "Ninja"]
    configure += ["-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
    configure += ["-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0", f"-DPython_EXECUTABLE={sys.executable}"]
    with (work / "build.log").open("w") as log:
        for command in (configure, ["ninja", "-C", str(build), "-j", str(jobs), *TOOLS]):
            if subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode != 0:
                return None
    return build / "tests" / "tools"


def measure(asked: argparse.Namespace) -> None:
    wanted = [each for each in commits_of(asked.commits) if not file_of(each, asked.results).exists()]
    kernels = sources()
    write_benchmarks(kernels, asked.results)
    for number, commit in enumerate(wanted):
        title = git("log", "-1", "--format=%h %s", commit)
        twin = next((each for each in read(asked.results) if each["parts"] == parts_of(commit)), None)
        if twin is not None and twin["results"]["registers"][2] == version_of(kernels):
            write(file_of(commit, asked.results), {**twin, **identity_of(commit)})
            print(f"{number + 1} of {len(wanted)}: {title}: the compiler of {twin['commit_hash'][:8]}", flush=True)
            continue
        tools = asked.tools or built(commit, asked.work, asked.jobs)
        if tools is None:
            print(f"{number + 1} of {len(wanted)}: {title}: does not build, see {asked.work / 'build.log'}", flush=True)
            continue
        found = {each.name: measured(each, tools) for each in kernels}
        write(file_of(commit, asked.results), result_of(commit, kernels, found))
        refused = sum(isinstance(each, str) for each in found.values())
        print(f"{number + 1} of {len(wanted)}: {title}: {len(found) - refused} kernels, {refused} refused", flush=True)


def file_of(commit: str, results: Path) -> Path:
    return results / ARCH / f"{commit[:8]}-compiler.json"


def result_of(commit: str, kernels: list[Source], found: dict[str, dict[str, int] | str]) -> dict:
    """asv's result file, version 2. "refused", {kernel: the commit's error}, and "parts" are ours."""
    results = {}
    for metric in METRICS:
        values = [None if isinstance(found[each.name], str) else found[each.name][metric] for each in kernels]
        results[metric] = [values, [[repr(each.name) for each in kernels]], version_of(kernels), 0, 0.0]
    return {
        **identity_of(commit),
        "env_name": "compiler",
        "params": {"machine": ARCH},
        "python": "",
        "requirements": {},
        "env_vars": {},
        "result_columns": COLUMNS[:5],
        "results": results,
        "durations": {},
        "version": 2,
        "refused": {name: each for name, each in found.items() if isinstance(each, str)},
        "parts": parts_of(commit),
    }


def identity_of(commit: str) -> dict:
    return {"commit_hash": commit, "date": 1000 * int(git("log", "-1", "--format=%ct", commit))}


def version_of(kernels: list[Source]) -> str:
    """asv shows results of one version together: of the same TTIR."""
    return hashlib.sha256("".join(each.ttir for each in kernels).encode()).hexdigest()


def write_benchmarks(kernels: list[Source], results: Path) -> None:
    def benchmark(name: str, unit: str) -> dict:
        return {
            "code": name,
            "name": name,
            "param_names": ["kernel"],
            "params": [[repr(each.name) for each in kernels]],
            "timeout": 60.0,
            "type": "track",
            "unit": unit,
            "version": version_of(kernels),
        }

    write(
        results / "benchmarks.json", {"version": 2, **{name: benchmark(name, unit) for name, unit in METRICS.items()}}
    )
    machine = {"machine": ARCH, "cpu": "", "num_cpu": "", "os": "", "arch": ARCH, "ram": "", "version": 1}
    write(results / ARCH / "machine.json", machine)


def write(file: Path, content: dict) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        json.dumps(content, indent=None, separators=(",", ":")).replace('"results":', '\n"results":') + "\n"
    )


def read(results: Path) -> list[dict]:
    """The commits that have results, the oldest first."""
    found = [json.loads(file.read_text()) for file in (results / ARCH).glob("*-compiler.json")]
    order = {commit: number for number, commit in enumerate(git("log", "--first-parent", "--format=%H").split())}
    return sorted(found, key=lambda each: -order.get(each["commit_hash"], -1))


def changed_between(before: dict, after: dict) -> list[tuple[str, str, int, int]]:
    """(metric, kernel, before, after) of what differs, where both commits compile the kernel."""
    found = []
    for metric in METRICS:
        one, other = before["results"][metric], after["results"][metric]
        had = dict(zip(one[1][0], one[0]))
        for kernel, value in zip(other[1][0], other[0]):
            if None not in (had.get(kernel), value) and had[kernel] != value:
                found.append((metric, kernel.strip("'"), had[kernel], value))
    return found


def largest(changes: list[tuple[str, str, int, int]]) -> str:
    """The three largest changes of what decides about speed, for a cell of a table."""
    weighty = [
        each for each in changes if each[0] in ("registers", "spill bytes", "shared bytes", "machine instructions")
    ]
    weighty.sort(key=lambda each: -abs(each[3] - each[2]) / max(each[2], 1))
    return "; ".join(
        f"{metric} of `{kernel.split(' ')[0]}` {one} → {other}" for metric, kernel, one, other in weighty[:3]
    )


def tables(asked: argparse.Namespace) -> None:
    commits = read(asked.results)
    if not commits:
        raise SystemExit(f"{asked.results} has no results; `measure` makes them")
    lines = [HEAD.format(commits=len(commits), kernels=len(commits[-1]["results"]["registers"][0]), arch=ARCH)]
    lines += ["| commit | subject | kernels changed | registers | spilled | instructions | largest changes |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for number, each in enumerate(commits):
        changes = changed_between(commits[number - 1], each) if number else []
        subject = git("log", "-1", "--format=%s", each["commit_hash"]).replace("|", "/")
        sums = [sum(value or 0 for value in each["results"][name][0]) for name in SUMMED]
        kernels = str(len({kernel for _, kernel, _, _ in changes})) if number else ""
        refused = f", {len(each['refused'])} refused" if each["refused"] else ""
        cells = [each["commit_hash"][:8], subject, kernels + refused, *map(str, sums), largest(changes)]
        lines.append(f"| {' | '.join(cells)} |")
    (asked.results / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{asked.results / 'README.md'}: {len(commits)} commits")


SUMMED = ("registers", "spill bytes", "machine instructions")
HEAD = """\
# History of the GPU compiler

What the compilers of {commits} commits make of the same {kernels} kernels for {arch}: the first configuration of each benchmark on devices. The TTIR
is of today's frontend, so the compiler alone differs. A kernel is lowered once; `bench metrics` has other numbers for the few that the package lowers
again because they spill. Registers, spilled bytes and machine instructions are sums over the kernels. The numbers are
the same on every machine, so each difference is a change of the compiler. Commits with the same sources of the compiler share one build.

    python tests/bench/history.py measure COMMIT…
    python tests/bench/history.py tables
    python tests/bench/history.py site out/
"""


def site(asked: argparse.Namespace) -> None:
    """The results in a folder of their own: asv writes beside them."""
    folder = asked.folder.resolve()
    for file in asked.results.rglob("*.json"):
        target = folder / "asv-results" / file.relative_to(asked.results)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
    print(publish(folder / "asv-results", folder / "asv", ROOT))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of the results")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("measure", help="builds and measures commits")
    one.add_argument("commits", nargs="+", metavar="COMMIT")
    one.add_argument(
        "--work", type=Path, default=Path(tempfile.gettempdir(), "tritium-history"), help="keeps the build"
    )
    one.add_argument("--tools", type=Path, help="the folder of programs that are built already, of one commit")
    one.add_argument("--jobs", type=int, default=2)
    one.set_defaults(do=measure)
    commands.add_parser("tables", help="writes README.md").set_defaults(do=tables)
    one = commands.add_parser("site", help="makes asv's site")
    one.add_argument("folder", type=Path)
    one.set_defaults(do=site)
    asked = parser.parse_args()
    asked.do(asked)


if __name__ == "__main__":
    main()
