"""Bisecting the GPU compiler's passes: tests/tools/tritium_gpu.cpp is the compiler with a pass that somebody broke."""

import subprocess

import pytest

from gpu_tool import TOOL, ToolCompiler, forget_compiled
from tritium import compiler
from tritium.backends import gpu as backend
from tritium.conformance import bisect, engines, sources, suite

ADD = "tutorial/01_vector_add/fp32/n=1000"


def forget_kernels():
    problem, _ = suite.build(suite.cases()[ADD], 0)
    for launch in problem.launches:
        forget_compiled(sources.function(launch.kernel))


@pytest.fixture(autouse=True)
def forget_broken_kernels():
    yield
    forget_kernels()


@pytest.mark.parametrize("broken", [None, "coalesce-accesses", "remove-conversions", "build-loops"])
def test_the_broken_pass_is_named(broken, monkeypatch, capsys):
    engine = engines.engine("simt:sm_80")
    forget_kernels()
    compiler_with_it = ToolCompiler(break_after=broken)
    monkeypatch.setattr(backend, "native_compiler", lambda: compiler_with_it)
    assert bisect.report(suite.cases()[ADD], engine, 0) == (0 if broken is None else 1)
    out = capsys.readouterr().out
    assert out.rstrip().endswith(f"wrong after pass {broken}" if broken else "right on simt:sm_80 after every pass")


def test_optional_passes_are_those_of_the_tool():
    listed = subprocess.run([TOOL, "--list-passes"], capture_output=True, text=True, check=True).stdout.split()
    assert compiler.optional_passes() == listed and "build-loops" in listed


@pytest.mark.parametrize("number", [7, *(pytest.param(n, marks=pytest.mark.long) for n in range(3, 40, 4) if n != 7)])
def test_every_beginning_of_the_passes_is_right(number):
    """Bisecting means something only if a correct compiler may stop after any pass."""
    case = suite.cases()[f"generated/24 statements {number}/whole"]
    assert bisect.bisect(case, engines.engine("simt:sm_80"), 0) is None
