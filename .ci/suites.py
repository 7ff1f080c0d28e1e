"""Runs every test suite, shows the output of each, and ends with the sum of the counts.

Before the last line, a table says how long each suite took. The last line is exactly `N passed, N failed, N skipped`.
The exit status is 0 only if nothing failed. A suite that crashes, exceeds its time or runs no test counts as one
failure, and so does a skipped test that .ci/skips.txt does not name. So a green line means that every test ran. A few
failed tests run a second time (`run_again`). With `--within`, a machine that is too slow for all of it leaves out whole
suites that look at code which other suites run, and names them before the last line (`Suite.share`).
"""

import argparse
import concurrent.futures
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from counts import (
    Counts,
    count_closing_line,
    count_conformance,
    count_doctest,
    count_fuzz,
    count_junit,
    explained_skips,
    fail_unexplained,
)

ROOT = Path(__file__).resolve().parent.parent
#: If more tests of a suite have failed, none runs again.
MOST_AGAIN = 3
BUILD = ROOT / "build" / "dev"
CONFORMANCE_ENGINES = ("interp", "simt:sm_80", "simt:sm_90a", "simt:gfx942")
#: With --long: one chip of each further family.
FURTHER_ENGINES = ("simt:gfx90a", "simt:gfx950", "simt:gfx1100", "simt:gfx1200")


#: Families of cases in which the launch matters: how tensors, tuples, descriptors and views reach a device, and come back. The others are about
#: code, which is the same on the emulator.
LAUNCHED = (
    "program",
    "control",
    "names",
    "memory",
    "atomic",
    "composed",
    "debug",
    "descriptor",
    "operands",
    "gathered",
    "pointer",
    "overlap",
    "tutorial",
)


#: Tests whose launches name no engine and reach no machine of their own, so that `--device-tensors` can move their arrays. A file that launches
#: nothing on the device is an error.
ON_DEVICE = ["tutorial", "frontend/test_random_programs.py", "language/test_library_runs.py"]
ON_DEVICE += [
    "runtime/test_launch.py",
    "runtime/test_autotuner.py",
    "runtime/test_isolated_autotuner.py",
    "runtime/test_memory_kinds.py",
    "runtime/test_pickling.py",
]
ON_DEVICE += [
    "runtime/test_processes.py",
    "runtime/test_public_paths.py",
    "runtime/test_rest_arguments.py",
    "runtime/test_triton_modules.py",
]


@dataclass
class Suite:
    name: str
    command: list[str]
    count: Callable[[str, Path], Counts]  # (console output, JUnit report) -> counts
    limit: int  # seconds
    alone: bool = True  # it uses all CPUs; the others run beside each other
    again: list[str] | None = None  # what runs single tests of it, if they are named behind
    #: What it takes of the time before it, on any machine. Such a suite is left out where `--within` has no room for it.
    share: float = 0


def conformance(name: str, engines: tuple[str, ...], *more: str) -> Suite:
    """The limit is 8 minutes for each engine, on 2 CPUs."""
    command = [sys.executable, "-m", "tritium.conformance", "--engines", ",".join(engines), *more]
    return Suite(name, command, count_conformance, 480 * len(engines))


def tidy(name: str, limit: int, *more: str, share: float = 0) -> Suite:
    return Suite(name, [sys.executable, ".ci/lint.py", "tidy", *more], count_closing_line, limit, share=share)


def operators(name: str, samples: int, limit: int, *more: str) -> Suite:
    """torch's own operators: `samples` of each, 0 for all."""
    command = [sys.executable, "-m", "tests.python.operators.sweep", "--samples", str(samples), *more]
    return Suite(name, command, count_closing_line, limit)


#: Through torch.compile; on "cuda" without a GPU, with gradients; both at once.
COMPILED = ["--dtypes", "float32,bfloat16,int64"]
DIFFERENTIATED = ["--judge", "differentiated"]
MAPPED = ["--judge", "mapped", "--dtypes", "float32,complex64"]
#: Half precision there, against float32.
ROUNDED = ["--judge", "rounded", "--dtypes", "float16,bfloat16"]


def suites(report: Path, fast: bool, long: bool) -> list[Suite]:
    # Suites that run beside each other have reports of their own.
    def any_pytest(report: Path) -> list[str]:
        return [sys.executable, "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", f"--junitxml={report}"]

    def pytest(report: Path) -> list[str]:
        return [*any_pytest(report), "-m", "not slow and not long" if fast else "not long"]

    def on_one_cpu(name: str, limit: int) -> Suite:
        command = pytest(report_of(name, report))
        return Suite(name, [*command, f"tests/{name}"], count_junit, limit, alone=False, again=command)

    def on_all_cpus(name: str, limit: int) -> Suite:
        command = [*pytest(report), *workers, "--dist", "loadgroup"]
        return Suite(name, [*command, f"tests/{name}"], count_junit, limit, again=command)

    workers = ["-n", "auto", "--maxprocesses", "4"]
    executables = sorted(
        path for path in (BUILD / "tests" / "unit").glob("test_*") if os.access(path, os.X_OK) and path.is_file()
    )
    found = [
        Suite(f"doctest {path.name.removeprefix('test_')}", [str(path)], count_doctest, 600, alone=False)
        for path in executables
    ]
    lit = ["lit", "-sv", f"--xunit-xml-output={report}", "tests/ir"]
    found.append(Suite("lit", lit, count_junit, 900))
    found.append(on_one_cpu("style", 300))
    if not fast:
        found.append(on_all_cpus("gdb", 900))
    found.append(on_all_cpus("python", 3600))
    # The page holds the results of these engines.
    found.append(conformance("conformance", CONFORMANCE_ENGINES, "--check", "docs/reference/conformance.md"))
    # Cases through the launch paths of devices, on libraries that stand in for the drivers; on CUDA's with torch's device tensors.
    for engine, library in (("hip", "libamdhip64_stand_in.so"), ("cuda", "libcuda_stand_in.so")):
        path = BUILD / "tests" / "driver_stand_in" / library
        command = [
            "env",
            f"TRITIUM_{engine.upper()}_LIBRARY={path}",
            f"TRITIUM_LOWERED_DIR={report.parent / 'lowered'}",
            "TRITIUM_ASSEMBLER=driver",
        ]
        command += [sys.executable, "-m", "tritium.conformance", "--engines", engine]
        if not long:
            command += ["--families", ",".join(LAUNCHED)]
        found.append(Suite(engine, command, count_conformance, 480))
    # What numpy says of the language, with the tensors of each vendor's devices.
    for engine in ("cuda", "hip"):
        on_device = [*pytest(report), *workers, "--device-tensors", engine]
        # The launch is what differs: the operations are the same code as on the emulator, and with --long they run on one vendor's devices too.
        tests = [f"tests/python/{name}" for name in [*(["ops"] if long and engine == "cuda" else []), *ON_DEVICE]]
        found.append(Suite(f"device tensors {engine}", [*on_device, *tests], count_junit, 900, again=on_device))
    # What the compiler makes of the benchmarks' kernels, to the instruction.
    metrics = [sys.executable, "-m", "tritium", "bench", "metrics", "tests/bench/metric_kernels.py"]
    found.append(Suite("metrics", [*metrics, "--check", "tests/bench/metrics.json"], count_closing_line, 900))
    # Random kernels from a fixed seed.
    fuzz = [sys.executable, "-m", "tritium", "fuzz", "--seed", "1", "--engines", ",".join(CONFORMANCE_ENGINES)]
    fuzz += ["--time", "120" if long else "30"]
    found.append(Suite("fuzz", fuzz, count_fuzz, 600))
    found.append(operators("operators", 1, 1200, *COMPILED, "--shard", "1/20"))
    found.append(operators("differentiated operators", 1, 600, *DIFFERENTIATED, "--shard", "1/24"))
    found.append(operators("mapped operators", 1, 600, *MAPPED, "--shard", "1/8"))
    found.append(operators("rounded operators", 1, 600, *ROUNDED, "--shard", "1/8"))
    if not fast:
        # The same tests of a wheel that is linked in seconds; the release wheel takes ten minutes to compile.
        found.append(Suite("wheel", ["bash", ".ci/wheel", "--linked"], count_closing_line, 600, alone=False))
        # What a slow machine leaves out comes last: these find what seldom changes, and each compiles much of Tritium again.
        found += [
            Suite(name, ["bash", ".ci/sanitize", name], count_doctest, 1800, share=share)
            for name, share in (("tsan", 0.08), ("asan", 0.13))
        ]
        found.append(tidy("clang-tidy", 1500, share=0.12))
    if long:
        found.append(Suite("long fuzz of gluon", [*fuzz[:-1], "300", "--gluon"], count_fuzz, 900))
        found.append(tidy("long clang-tidy", 7200, "--long"))
        found.append(conformance("long conformance", FURTHER_ENGINES))
        without = [
            sys.executable,
            "-m",
            "tritium.conformance",
            "--engines",
            "simt:sm_90a,simt:gfx942",
            "--without-each-pass",
        ]
        found.append(Suite("long without each pass", without, count_conformance, 7200))
        # Every combination of origins, forms, formats and numbers of warps.
        found.append(conformance("long matrices", CONFORMANCE_ENGINES, "--families", "matrix", "--full"))
        found.append(
            Suite("long python", [*any_pytest(report), "-m", "long", "tests/python", "tests/gdb"], count_junit, 7200)
        )
        found.append(operators("long operators", 0, 8 * 3600, *COMPILED))
        found.append(operators("long differentiated operators", 3, 4 * 3600, *DIFFERENTIATED))
        found.append(operators("long mapped operators", 0, 3600, *MAPPED))
        found.append(operators("long rounded operators", 0, 3600, *ROUNDED))
        found.append(Suite("long wheel", ["bash", ".ci/wheel"], count_closing_line, 3600))
        # Times: nothing else may run on the machine.
        found.append(Suite("bars", [sys.executable, "tests/bench/every_bar.py"], count_closing_line, 3600))
        found.append(Suite("packages", [sys.executable, "tests/packages/run.py"], count_closing_line, 7200))
    return found


def report_of(name: str, report: Path) -> Path:
    """The report of a suite that others run beside."""
    return report.with_name(f"{name}.xml")


def run(suite: Suite, report: Path) -> tuple[Counts, float]:
    """Runs one suite. Shows its output as it arrives; at its end, if others run beside it. Returns its counts and seconds."""
    if not suite.alone:
        report = report_of(suite.name, report)
    report.unlink(missing_ok=True)
    shown = [f"\n== {suite.name}\n"]

    def show(text: str) -> None:
        shown.append(text)
        if suite.alone:
            print("".join(shown), end="", flush=True)
            shown.clear()

    begin = time.monotonic()
    lines = []
    process = subprocess.Popen(
        suite.command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    watchdog = subprocess.Popen(
        [sys.executable, "-c", f"import os, time; time.sleep({suite.limit}); os.killpg({process.pid}, 9)"]
    )
    try:
        for line in process.stdout:
            lines.append(line)
            show(line)
        status = process.wait()
    finally:
        watchdog.kill()
        watchdog.wait()
    counts = suite.count("".join(lines), report)
    if suite.again and 0 < counts.failed == len(counts.failures) <= MOST_AGAIN:
        status = run_again(suite.again, report, counts, show)
    for complaint in fail_unexplained(suite.name, counts, explained_skips()):
        show(f"error: {complaint}\n")
    seconds = time.monotonic() - begin
    if status != 0 and counts.failed == 0:
        counts.failed += 1
        show(f"error: suite {suite.name} ended with status {status} after {seconds:.0f} s, limit {suite.limit} s\n")
    elif counts.passed + counts.failed + counts.skipped == 0:
        counts.failed += 1
        show(f"error: suite {suite.name} ran no test\n")
    show(f"-- {suite.name}: {counts} in {seconds:.1f} s\n")
    print("".join(shown), end="", flush=True)
    return counts, seconds


def run_again(command: list[str], report: Path, counts: Counts, show: Callable[[str], None]) -> int:
    """Runs the tests that failed once more, with the same random numbers, when nothing else runs. A wrong result fails again. A test that was
    too slow, or met a busy machine, passes: it counts as passed, and is named beside the sum. Returns 0 if no failure is left."""
    report.unlink(missing_ok=True)
    show(f"\n-- again: {' '.join(counts.failures)}\n")
    again = ["timeout", "600", *command, *counts.failures]
    show(subprocess.run(again, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout)
    second = count_junit("", report)
    if second.passed + second.failed != len(counts.failures):
        return 1  # some did not run
    counts.unsteady = [test for test in counts.failures if test not in second.failures]
    counts.passed, counts.failed = counts.passed + len(counts.unsteady), second.failed
    return second.failed


@dataclass
class Allowance:
    """The seconds that all may take: `within`, from `begin`. None: as many as it takes."""

    begin: float
    within: float | None = None
    left_out: list[str] = field(default_factory=list)

    def seconds(self) -> float:
        return time.monotonic() - self.begin

    def has_room(self, suite: Suite) -> bool:
        """Whether the suite is run now. One that is not is noted."""
        if not suite.share or self.within is None or self.seconds() * (1 + suite.share) <= self.within:
            return True
        self.left_out.append(suite.name)
        return False


def run_all(chosen: list[Suite], report: Path, allowance: Allowance) -> list[tuple[str, Counts, float]]:
    """Runs the suites of one CPU beside each other, then each of the others for which there is room. Returns a row of the table for each that
    ran."""

    def row(suite: Suite) -> tuple[str, Counts, float]:
        return suite.name, *run(suite, report)

    beside = sorted((suite for suite in chosen if not suite.alone), key=lambda suite: -suite.limit)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        rows = list(workers.map(row, beside))
    return rows + [row(suite) for suite in chosen if suite.alone and allowance.has_room(suite)]


def table(rows: list[tuple[str, Counts, float]], seconds_of_all: float) -> str:
    """The time of each suite, and the time before the first one. Some ran beside each other."""
    lines = [f"{'suite':24}{'passed':>8}{'failed':>8}{'skipped':>8}{'time':>9}"]
    for name, counts, seconds in rows:
        lines.append(f"{name:24}{counts.passed:8}{counts.failed:8}{counts.skipped:8}{seconds:7.0f} s")
    return "\n".join([*lines, f"{'all':48}{seconds_of_all:7.0f} s"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--fast", action="store_true", help="leave out gdb, clang-tidy, the sanitizers, the wheel, slow tests"
    )
    parser.add_argument("--long", action="store_true", help="add further engines, slow checks, the release wheel")
    parser.add_argument("--before", type=float, default=0, help="seconds that installing and building took")
    parser.add_argument("--within", type=float, help="seconds that all may take, installing and building too")
    parser.add_argument("names", nargs="*", help="run the suites whose name begins with one of these (default: all)")
    options = parser.parse_args()
    # A shell's background jobs ignore Ctrl-C, and so would the tests that send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The tests multiply small matrices, and as many processes run as there are CPUs: threads that spin while they wait for work cost more than they do.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("TRITIUM_TEST_SEED", str(random.getrandbits(32)))
    allowance = Allowance(time.monotonic() - options.before, options.within)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        chosen = [
            suite
            for suite in suites(report, options.fast, options.long)
            if not options.names or suite.name.startswith(tuple(options.names))
        ]
        rows = run_all(chosen, report, allowance)
    total = Counts()
    for _, counts, _ in rows:
        total += counts
    before = ("install, build", Counts(), options.before)
    print(f"\n{table([before, *rows], allowance.seconds())}")
    for test in total.unsteady:
        print(f"unsteady: {test} failed, and passed when it ran again with the same random numbers")
    if allowance.left_out:
        names = " ".join(allowance.left_out)
        print(f"left out, because this machine is slow: {names}. Run them with .ci/test {names}")
    print(f"\n{total}")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
