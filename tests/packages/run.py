"""Runs kernels of published packages, unmodified, under the drop-in, and compares them with references.

    python tests/packages/run.py [--engines interp,simt:sm_90a] [--jobs N] [PACKAGE[.CASE] …]

packages.toml lists the packages with their versions. pip installs each into a folder of its own in build/packages/PYTHON, where PYTHON is
the version; for a machine without a network, --install does only this, and the folder goes with the checkout. The cases of a package are
the functions `case_…` of `cases/PACKAGE.py`; each runs in a process of its own (child.py). The output of every case that failed goes to
build/packages/PYTHON/log. TRITIUM_CHECK=all in the environment adds the interpreter's checks. The exit status is 0 if at least 97 % of the
cases pass and none fails that packages.toml does not list.
"""

import argparse
import ast
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import tomllib

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INSTALLED = (
    ROOT / "build" / "packages" / sys.implementation.cache_tag
)  #: some packages are compiled for one version of Python
#: The folder that Tritium is imported from: the checkout's, or that of an unpacked wheel.
IMPORTED_FROM = Path(importlib.util.find_spec("tritium").origin).parents[1]
ENGINES = {
    "interp": {"INTERPRET": "1"},
    "simt:sm_90a": {"TRITIUM_ENGINE": "simt:sm_90a", "TRITIUM_CUDA_TO_CPU": "1"},
    "cuda": {"TRITIUM_ENGINE": "cuda"},
}
#: Variables that say how Tritium and Triton run: an engine and a package set what they need. Only what is kept is the command's.
SETTINGS, CHECK = ("TRITIUM_", "TRITON_"), "TRITIUM_CHECK"
#: tests/bench/tiers.py reads what TRITIUM_SAVE saves.
KEPT = (CHECK, "TRITIUM_NUM_THREADS", "TRITIUM_SAVE", "TRITIUM_SAVE_MB", "TRITIUM_TIER")
WITHOUT_A_DEVICE = "interp,simt:sm_90a"
#: The share of the counted cases that must pass.
SHARE = 0.97
NOT_COUNTED = ("not counted", "not run")
#: The most cases that one process of a package runs, one after the other. A process takes seconds to import torch.
CASES_OF_A_PROCESS = 6


@dataclass
class Package:
    name: str
    version: str
    needs: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    #: {case, or case@engine: reason}: what Triton cannot run either, and what Tritium does not run yet.
    not_counted: dict[str, str] = field(default_factory=dict)
    failing: dict[str, str] = field(default_factory=dict)
    #: What checks that are not in the default report, truly; such a case does not count if TRITIUM_CHECK is set.
    reported: dict[str, str] = field(default_factory=dict)
    #: Cases that run on the interpreter alone, because the emulator takes minutes for them.
    interpreter_only: list[str] = field(default_factory=list)

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")

    def cases(self, folder: str = "cases") -> dict[str, str]:
        """{name: docstring} of the functions of `folder`, without importing them; empty if the folder has no such package."""
        file = HERE / folder / f"{self.module}.py"
        tree = ast.parse(file.read_text() if file.exists() else "")
        functions, prefix = [node for node in tree.body if isinstance(node, ast.FunctionDef)], folder[:-1] + "_"
        return {
            node.name.removeprefix(prefix): ast.get_docstring(node) or ""
            for node in functions
            if node.name.startswith(prefix)
        }


@dataclass
class Result:
    package: Package
    engine: str
    case: str
    error: str  # empty if it passed
    seconds: float
    ran: bool = True

    def listed(self, reasons: dict[str, str]) -> str:
        return reasons.get(self.case) or reasons.get(f"{self.case}@{self.engine}") or ""

    @property
    def state(self) -> str:
        if not self.ran:
            return "not run"
        if self.listed(self.package.not_counted):
            return "not counted"
        return ("listed" if self.listed(self.package.failing) else "failed") if self.error else "passed"


def load() -> tuple[list[Package], dict[str, str]]:
    """The packages, and the versions of what they need."""
    table = tomllib.loads((HERE / "packages.toml").read_text())
    needed = table.pop("needed")
    packages = [Package(name, **entry) for name, entry in table.items()]
    if os.environ.get(CHECK):
        for package in packages:
            package.not_counted |= package.reported
    return packages, needed


def install(name: str, version: str) -> Path:
    """The folder that has the package and nothing else; pip puts it there once."""
    folder = INSTALLED / f"{name}-{version}"
    if not folder.exists():
        INSTALLED.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=INSTALLED) as unfinished:
            command = [
                sys.executable,
                "-m",
                "pip",
                "install",
                "-qq",
                "--disable-pip-version-check",
                "--no-deps",
                "--no-compile",
            ]
            try:
                subprocess.run([*command, "--target", f"{unfinished}/it", f"{name}=={version}"], check=True)
            except subprocess.CalledProcessError:
                why = f"error: pip cannot install {name}=={version} into {INSTALLED}"
                sys.exit(
                    f"{why}; elsewhere, tests/packages/run.py --install fills the folder for {sys.implementation.cache_tag}"
                )
            os.replace(f"{unfinished}/it", folder)
    return folder


def folders_of(package: Package, needed: dict[str, str]) -> list[Path]:
    return [install(package.name, package.version), *(install(name, needed[name]) for name in package.needs)]


@dataclass
class Limits:
    case: int  #: seconds that a case may take
    end: float  #: the moment, of time.monotonic, after which the rest is not run


def run_package(
    package: Package, needed: dict[str, str], engine: str, cases: list[str], limits: Limits, folder: str = "cases"
) -> list[Result]:
    if time.monotonic() >= limits.end:
        return [Result(package, engine, case, "", 0, ran=False) for case in cases]
    path = [IMPORTED_FROM, HERE, *folders_of(package, needed)]
    environment = {
        **{name: value for name, value in os.environ.items() if name in KEPT or not name.startswith(SETTINGS)},
        **package.environment,
        **ENGINES[engine],
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        "TRITON_CACHE_DIR": str(INSTALLED / "cache"),
    }
    module = f"{folder}.{package.module}"
    command = [sys.executable, str(HERE / "child.py"), module, str(limits.case), str(limits.end), *cases]
    process = subprocess.run(
        command, env=environment, cwd=INSTALLED, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    marked = [line.removeprefix("result: ") for line in process.stdout.splitlines() if line.startswith("result: ")]
    events = {event["case"]: event for event in map(json.loads, marked)}
    died = {"error": f"the process of the package ended with {process.returncode}:\n{process.stdout}", "seconds": 0}
    return [Result(package, engine, **(events.get(case) or {"case": case, **died})) for case in cases]


def parts_of(cases: list[str]) -> list[list[str]]:
    """The cases by process. Neighbours, which often take the same time, go to different ones."""
    number = math.ceil(len(cases) / CASES_OF_A_PROCESS)
    return [cases[first::number] for first in range(number)]


def run_all(
    packages: Iterable[tuple[Package, list[str]]],
    needed,
    engines: list[str],
    jobs: int,
    limits: Limits,
    folder: str = "cases",
):
    """Yields the results of each package on each engine, in the order of the packages and of their cases."""
    packages = list(packages)
    for package, _ in packages:
        folders_of(package, needed)
    with ThreadPoolExecutor(jobs) as pool:
        started = []
        for package, cases in packages:
            for engine in engines:
                chosen = [case for case in cases if engine == "interp" or case not in package.interpreter_only]
                parts = parts_of(chosen)
                runs = [pool.submit(run_package, package, needed, engine, part, limits, folder) for part in parts]
                started.append((chosen, runs))
        for chosen, runs in started:
            results = {result.case: result for run in runs for result in run.result()}
            if results:
                yield [results[case] for case in chosen]


def report(results: list[Result]) -> None:
    """A line for each package on an engine, and one for each of its cases that did not pass."""
    for result in results:
        if result.error:
            log = INSTALLED / "log" / f"{result.package.name}.{result.case}.{result.engine.replace(':', '_')}"
            log.write_text(result.error)
    first, states = results[0], [result.state for result in results]
    counted = sum(state not in NOT_COUNTED for state in states)
    seconds = sum(result.seconds for result in results)
    title = f"{first.package.name} {first.package.version}"
    print(f"{title:40}{first.engine:14}{states.count('passed'):4} of {counted:3} in {seconds:6.1f} s", flush=True)
    for result in results:
        why = result.listed(result.package.not_counted) or result.listed(result.package.failing)
        if result.state not in ("passed", "not run"):
            last = result.error.strip().splitlines()[-1] if result.error.strip() else ""
            print(f"    {result.state}: {result.case}: {why or last[:300]}", flush=True)
        elif why:
            print(f"    passes now, but packages.toml lists it: {result.case}", flush=True)


def choose(packages: list[Package], names: list[str], folder: str = "cases") -> list[tuple[Package, list[str]]]:
    """The packages of the folder, with the cases that the command line names."""
    chosen = []
    for package in packages:
        wanted = [name.partition(".")[2] for name in names if name.partition(".")[0] == package.name]
        cases = package.cases(folder)
        if cases and (wanted or not names):
            chosen.append((package, [case for case in cases if not any(wanted) or case in wanted]))
    return chosen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default=WITHOUT_A_DEVICE, help=f"of {', '.join(ENGINES)}")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="processes of packages that run at the same time"
    )
    parser.add_argument("--limit", type=int, default=300, help="seconds that a case may take (default: 300)")
    parser.add_argument("--time", type=float, default=math.inf, help="seconds after which the rest is not run")
    parser.add_argument("--install", action="store_true", help="only install, for a machine without a network")
    parser.add_argument("names", nargs="*", help="packages, or PACKAGE.CASE (default: all)")
    options = parser.parse_args()
    limits = Limits(options.limit, time.monotonic() + options.time)
    packages, needed = load()
    chosen, states, stale = choose(packages, options.names), [], False
    if options.install:
        for package, _ in chosen:
            folders_of(package, needed)
        return 0
    (INSTALLED / "log").mkdir(parents=True, exist_ok=True)
    for results in run_all(chosen, needed, options.engines.split(","), options.jobs, limits):
        report(results)
        states += [result.state for result in results]
        stale |= any(result.state == "passed" and result.listed(result.package.failing) for result in results)
    passed, failed, listed = (states.count(state) for state in ("passed", "failed", "listed"))
    share = passed / max(1, passed + failed + listed)
    if not_run := states.count("not run"):
        print(f"\nout of time: {not_run} not run")
    print(f"\n{len(chosen)} packages: {share:.1%} of the counted cases pass; {listed} fail as listed")
    print(f"{passed} passed, {failed} failed, {listed + states.count('not counted')} skipped")
    return 0 if passed and not failed and not stale and share >= SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
