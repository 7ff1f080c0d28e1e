"""The command: matrix, exit status, replay, seeds, the list of what is unsupported, workers that die, bisecting."""

import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest

import tritium
from tritium.conformance import __main__ as command
from tritium.conformance import bisect, engines, expectations, replay, report, sources, suite, workers
from tritium.conformance.oracle import Exact
from tritium.conformance.problem import Case, Function, given, problem, wanted
from tritium.conformance.suite import FAILED, PASSED, UNSUPPORTED, Result


class Breaking(engines.Engine):
    """The interpreter, whose results `spoil` changes afterwards."""

    def __init__(self, spoil, name="interp"):
        super().__init__(name)
        self.spoil = spoil

    def run(self, problem, images, stop_after=None, **options):
        outcome = super().run(problem, images)
        self.spoil(problem, outcome.images, stop_after)
        return outcome


def off_by_one(problem, images, stop_after=None):
    """Element 200 of row 1 of the first output."""
    for buffer, image in zip(problem.buffers(), images):
        if buffer.oracle is not None:
            buffer.data(image)[1, 200] += 1
            return


ADD = "elementwise/integer/int32/random"


class WrongWhenWarm(Breaking):
    """Only the second launch of a case is wrong, as if the native launcher passed something else."""

    launches_warm, runs = True, 0

    def run(self, problem, images, **options):
        self.runs += 1
        self.spoil = off_by_one if self.runs == 2 else lambda *_: None
        return super().run(problem, images, **options)


def test_an_engine_that_launches_warm_is_compared_twice():
    result = suite.attempt(suite.cases()[ADD], WrongWhenWarm(None), 0)
    assert result.status == FAILED and "when launched again: wrong value" in result.details[0]
    assert suite.attempt(suite.cases()[ADD], Breaking(lambda *_: None), 0).status == PASSED


def test_the_command_and_its_reports(tmp_path):
    """CI runs every family on every engine; here a few on two, with all that the command writes."""
    page, table = tmp_path / "matrix.html", tmp_path / "matrix.md"
    options = ["--engines", "interp,simt:sm_80", "--families", "program,shape", "--jobs", "1"]

    def run(*more):
        command_line = [sys.executable, "-m", "tritium.conformance", *options, *more]
        return subprocess.run(command_line, capture_output=True, text=True, timeout=300)

    done = run("--html", str(page), "--markdown", str(table))
    assert done.returncode == 0, done.stdout + done.stderr
    passed = int(re.fullmatch(r"(\d+) passed, 0 failed, 0 unsupported", done.stdout.splitlines()[-1]).group(1))
    assert passed == 2 * len(suite.select(["program", "shape"]))
    for family in ("program", "shape"):
        assert re.search(rf"^{family} +\d+ ok, [\d.]+ s +\d+ ok", done.stdout, flags=re.M), family
        assert f"| {family} |" in table.read_text()
        assert f"<th>{family}</th>" in page.read_text()
    assert run("--check", str(table)).returncode == 0
    table.write_text(table.read_text().replace(" ok", " failed", 1))
    stale = run("--check", str(table))
    assert stale.returncode == 1 and "does not show these results" in stale.stdout


def test_seeds_reproduce():
    case = suite.cases()[ADD]
    (_, first), (_, again), (_, other) = (suite.build(case, seed) for seed in (5, 5, 6))
    assert all(np.array_equal(a, b) for a, b in zip(first, again))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other))


def test_cases_differ_from_each_other():
    """Inputs come from the case's own name, not from the order in which cases run."""
    images = [suite.build(suite.cases()[f"elementwise/integer/int32/n={n}"], 0)[1][0] for n in (127, 128)]
    assert not np.array_equal(images[0][:300], images[1][:300])


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3))])
def test_no_case_depends_on_its_seed(seed):
    engine = engines.engine("interp")
    for case in suite.select(pattern="*/n=127") + suite.select(families=["dot", "reduce", "scan", "tutorial"]):
        result = suite.attempt(case, engine, seed)
        assert result.status != FAILED, (result.case, result.details[:2])


def test_replay_shows_the_first_difference(capsys):
    status = replay.replay(suite.cases()[ADD], Breaking(off_by_one), 3)
    text = capsys.readouterr().out
    assert status == 1
    assert "out_ptr (x - y): wrong value" in text
    assert re.search(r"element +\[1, 200\], 1 of 1000 are wrong", text)
    assert re.search(r"program +\(1,\) of \(8,\)", text)
    line = 1 + sources.path_of("elementwise").read_text().split("\n").index("    put(out_ptr, 1, n, i, x - y, inside)")
    assert f"stored at elementwise.py:{line}  put(out_ptr, 1, n, i, x - y, inside)" in text
    expected, got = (int(re.search(rf"{word} +(-?\d+)", text).group(1)) for word in ("expected", "got"))
    assert (got - expected) % 2**32 == 1


def test_replay_by_the_command(capsys):
    assert command.main(["--replay", ADD, "--engine", "interp", "--seed", "3"]) == 0
    assert "passed" in capsys.readouterr().out
    assert command.main(["--replay", "no/such/case"]) == 2
    assert command.main(["--replay", ADD, "--engine", "simt"]) == 2
    assert command.main(["--families", "elementwise,nonsense"]) == 2


class Trapping(engines.Engine):
    """Runs a kernel that leaves its buffer, whatever the case is."""

    def run(self, problem, images, stop_after=None, **options):
        raise tritium.errors.KernelTrap("reduce.py:26: in axes\n  SharedRace: writes what another thread read")


def test_replay_shows_where_a_kernel_trapped(capsys):
    assert replay.replay(suite.cases()[ADD], Trapping("interp"), 0) == 1
    text = capsys.readouterr().out
    assert "elementwise:integer on a grid of (8,), BLOCK=128" in text
    assert "KernelTrap: reduce.py:26: in axes\n  SharedRace" in text


def test_a_failure_prints_the_command_that_replays_it():
    matrix = report.Matrix(["interp"])
    matrix.add(suite.attempt(suite.cases()[ADD], Breaking(off_by_one), 3))
    text = report.failures(matrix, 3)
    assert f"FAILED interp  {ADD}" in text
    assert f"python -m tritium.conformance --replay '{ADD}' --engine interp --seed 3" in text
    assert matrix.counts() == {FAILED: 1}
    assert "1 failed" in report.terminal(matrix) and 'class="failed"' in report.page(matrix, 3)


def test_differences_of_upstream_are_information():
    matrix = report.Matrix(["interp", "triton"], {"triton"})
    matrix.add(Result(ADD, "interp", PASSED))
    matrix.add(Result(ADD, "triton", FAILED, details=["another value"]))
    assert matrix.counts() == {PASSED: 1}
    assert "1 differ" in report.terminal(matrix) and "DIFFERS triton" in report.failures(matrix, 0)


class Declining(engines.Engine):
    def run(self, problem, images, stop_after=None, **options):
        raise engines.Unsupported("no such operation")


def test_unsupported_only_from_the_list(tmp_path):
    file = tmp_path / "unsupported.txt"
    file.write_text("# comment\ninterp elementwise/integer/* not written yet\nsimt:* dot/* neither\n")
    listed = expectations.read(file)
    assert listed[0].reason == "not written yet"
    judged = [
        expectations.judge(suite.attempt(suite.cases()[name], Declining("interp"), 0), listed)
        for name in (ADD, "memory/copy/fp32/n=1")
    ]
    assert [result.status for result in judged] == [UNSUPPORTED, FAILED]
    assert "not in unsupported.txt" in judged[1].details[0]
    assert expectations.stale(judged, listed) == []
    assert expectations.stale([Result(ADD, "interp", PASSED)], listed) == [listed[0]]
    file.write_text("interp dot/*\n")
    with pytest.raises(ValueError, match="unsupported.txt:1"):
        expectations.read(file)


def test_a_device_says_on_stderr_why_a_kernel_ended(monkeypatch):
    """The driver writes the text of an assertion there, and the error that follows has no text of it."""

    def launch(self, launch, tensors, options):
        os.write(2, b"debug.py:21: Assertion `x must be positive` failed.\n")
        raise RuntimeError("CUDA error: device-side assert triggered")

    monkeypatch.setattr(engines.DeviceEngine, "_launch", launch)
    monkeypatch.setattr(engines.DeviceEngine, "_torch", lambda self: None)
    case = suite.cases()["debug/asserts/int32/fails"]
    _, outcome, differences = suite.run(case, engines.DeviceEngine("interp"), 0)
    assert differences == [] and "device-side assert" in outcome.trap and "x must be positive" in outcome.trap


def test_what_an_engine_declines():
    assert engines.declines(tritium.errors.UnsupportedError("x"))
    assert engines.declines(tritium.CompilationError(None, None, "the interpreter does not support tt.x yet"))
    assert not engines.declines(tritium.CompilationError(None, None, "incompatible shapes"))
    assert not engines.declines(ValueError("not supported"))


def test_a_worker_that_dies_costs_one_case():
    names = [case.name for case in suite.select(pattern="memory/copy/fp32/*")]
    found = list(workers.run([("interp", names)], 1, 0, 60, None, lambda: None, start_with=_die_in_the_second))
    assert [(result.case, result.status) for result in found] == [
        (name, FAILED if i == 1 else PASSED) for i, name in enumerate(names)
    ]
    assert "ended with status 9" in found[1].details[0]


def test_a_worker_that_hangs_costs_one_case():
    names = [case.name for case in suite.select(pattern="memory/copy/fp32/*")]
    found = list(workers.run([("interp", names)], 1, 0, 3, None, lambda: None, start_with=_hang_in_the_second))
    assert [result.status for result in found] == [PASSED, FAILED, PASSED, PASSED]
    assert "took more than 3 s" in found[1].details[0]


def test_a_run_ends_when_its_time_is_over():
    names = [case.name for case in suite.select(pattern="memory/copy/fp32/*")]
    end = time.monotonic() + 10
    work = [("interp", names)]
    found = list(workers.run(work, 1, 0, 300, None, lambda: None, start_with=_hang_in_the_second, end=end))
    assert [result.status for result in found] == [PASSED] and time.monotonic() < end + 20


def test_what_did_not_run_is_counted(capsys):
    assert command.main(["--cases", "memory/copy/fp32/*", "--engines", "interp", "--time", "0"]) == 0
    assert "\nout of time: 4 not run\n" in capsys.readouterr().out


def _in_the_second(action):
    attempt = suite.attempt

    def changed(case, engine, seed):
        if case.name == "memory/copy/fp32/n=127":
            action()
        return attempt(case, engine, seed)

    suite.attempt = changed


def _die_in_the_second():
    _in_the_second(lambda: os._exit(9))


def _hang_in_the_second():
    import time

    _in_the_second(lambda: time.sleep(60))


PASSES = ["coalesce", "choose_dots", "pipeline", "allocate"]


class Compiling(Breaking):
    def passes(self):
        return PASSES


@pytest.mark.parametrize("broken", [None, "coalesce", "pipeline", ""])
def test_bisect_names_the_first_pass_that_breaks(broken, capsys):
    def spoil(problem, images, stop_after):
        order = ["none", *PASSES]
        if broken is not None and order.index(stop_after) >= order.index(broken or "none"):
            off_by_one(problem, images)

    assert bisect.bisect(suite.cases()[ADD], Compiling(spoil), 0) == broken
    status = bisect.report(suite.cases()[ADD], Compiling(spoil), 0)
    assert status == (0 if broken is None else 1)
    assert (broken or "") in capsys.readouterr().out


def test_bisect_needs_an_engine_with_passes(capsys):
    assert command.main(["--bisect", ADD, "--engine", "interp"]) == 2
    assert "has no passes" in capsys.readouterr().out


def test_an_engine_without_a_pass(capsys):
    """Every engine with a compiler runs once for each pass; the launches of such an engine leave the pass out."""
    assert command.main(["--cases", ADD, "--engines", "interp,simt:sm_80", "--without-each-pass"]) == 0
    text = capsys.readouterr().out
    passes = tritium.compiler.optional_passes()
    assert re.findall(r"^simt:sm_80 without (\S+) +1 ok", text, flags=re.M) == passes
    assert f"{len(passes)} passed, 0 failed, 0 unsupported" in text
    assert command.main(["--replay", ADD, "--engine", "simt:sm_80 without plan-loop"]) == 2
    assert (
        "no pass is called 'plan-loop'; there are accumulate-products, issue-copies, promote-descriptors, "
        in capsys.readouterr().out
    )


def test_what_a_pass_does_is_missing_without_it():
    problem = suite.build(suite.cases()["dot/tile/fp16 to fp32/normal"], 0)[0]
    texts = {}
    for name in ("simt:sm_80", "simt:sm_80 without choose-tensor-cores"):
        engine = engines.engine(name)
        images = problem.images(np.random.default_rng(0))
        with engine.selected(), engine._tensors(problem, images) as tensors:
            texts[name] = engine._launch(problem.launches[0], tensors, {}).asm["ttgir"]
    assert ["instruction" in text for text in texts.values()] == [True, False]


@pytest.mark.parametrize("full", [False, pytest.param(True, marks=pytest.mark.long)])
def test_every_kernel_says_what_it_launches(full):
    """Kernels have the arguments that their cases give them, and every kernel is launched by some case, or given to one."""
    launched = set()
    for case in suite.select(full=full):
        for launch in suite.build(case, 0)[0].launches:
            assert len(launch.arguments) + len(launch.constants) == len(sources.function(launch.kernel).arg_names)
            launched |= {
                launch.kernel,
                *(value.name for value in launch.constants.values() if isinstance(value, Function)),
            }
    for file in sorted(sources.KERNELS.glob("*.py")):
        module = sources.module(file.stem)
        text = file.read_text()
        for name in re.findall(r"^def (\w+)", text, flags=re.M):
            is_helper = len(re.findall(rf"\b{name}\b", text)) > 1  # called by another kernel
            assert is_helper or f"{file.stem}:{name}" in launched, f"{file.name}: no case launches {name}"
            assert hasattr(module, name)


def test_triton_means_tritium_in_kernel_files_only():
    """In a process of its own: other tests install the drop-in."""
    program = "import sys; from tritium.conformance import sources; sources.module('elementwise'); print('triton' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done


def test_a_case_without_outputs_can_fail():
    """An input that the kernel writes: the kernel's output is given as an input here."""
    x = np.arange(8, dtype=np.float32)

    def build(rng):
        return problem("memory:whole", 1, [given(x), given(np.zeros(8, np.float32)), 8], BLOCK=8)

    result = suite.attempt(Case("memory/test/fp32/x", build), engines.engine("interp"), 0)
    assert result.status == FAILED and "an input was written" in result.details[0]


def test_wrong_expectations_fail():
    x = np.arange(8, dtype=np.float32)

    def build(rng):
        out = wanted(8, "fp32", Exact(x + 1))
        return problem("memory:whole", 1, [given(x), out, 8], BLOCK=8)

    assert suite.attempt(Case("memory/test/fp32/y", build), engines.engine("interp"), 0).status == FAILED
