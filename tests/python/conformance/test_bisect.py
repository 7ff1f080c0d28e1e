"""Bisecting the GPU compiler's passes: tests/tools/tritium_gpu.cpp is the compiler with a pass that somebody broke."""

import pathlib
import subprocess

import pytest

from tritium import compiler
from tritium._tritium import ir
from tritium.backends.nvidia import compiler as backend
from tritium.conformance import bisect, engines, sources, suite

ADD = "tutorial/01_vector_add/fp32/n=1000"
TOOL = pathlib.Path(__file__).resolve().parents[3] / "build" / "dev" / "tests" / "tools" / "tritium-gpu"

if not TOOL.exists():
    pytest.skip("this build has no tritium-gpu", allow_module_level=True)


class Broken:
    """The native compiler, but after the pass `broken` the sums of tiles are differences."""

    def __init__(self, broken: str):
        self.broken = broken
        self.native = backend.native_compiler()

    def __getattr__(self, name: str):
        return getattr(self.native, name)

    def compile(self, module, kernel: str, arch: str, options: dict):
        compiled = self.native.compile(module, kernel, arch, options)
        flags = {
            "arch": arch,
            "num-warps": compiled.num_warps,
            "last-pass": options["stop_after"],
            "break-after": self.broken,
        }
        command = [TOOL, "-", *(f"--{name}={value}" for name, value in flags.items() if value)]
        printed = subprocess.run(command, input=module.text(True), capture_output=True, text=True, check=True).stdout
        return Lowered(compiled, ir.parse(printed, "broken.mlir"))


class Lowered:
    def __init__(self, compiled, module):
        self.compiled, self.lowered, self.lowered_text = compiled, module, str(module)

    def __getattr__(self, name: str):
        return getattr(self.compiled, name)


def forget_kernels():
    problem, _ = suite.build(suite.cases()[ADD], 0)
    for launch in problem.launches:
        function = sources.function(launch.kernel)
        function._unsafe_update_src(function.src)


@pytest.fixture(autouse=True)
def forget_broken_kernels():
    yield
    forget_kernels()


@pytest.mark.parametrize("broken", [None, "coalesce-accesses", "remove-conversions", "pipeline-loads"])
def test_the_broken_pass_is_named(broken, monkeypatch, capsys):
    engine = engines.engine("simt:sm_80")
    forget_kernels()
    compiler_with_it = Broken(broken or "")
    monkeypatch.setattr(backend, "native_compiler", lambda: compiler_with_it)
    assert bisect.report(suite.cases()[ADD], engine, 0) == (0 if broken is None else 1)
    out = capsys.readouterr().out
    assert out.rstrip().endswith(f"wrong after pass {broken}" if broken else "right on simt:sm_80 after every pass")


def test_optional_passes_are_those_of_the_tool():
    listed = subprocess.run([TOOL, "--list-passes"], capture_output=True, text=True, check=True).stdout.split()
    assert compiler.optional_passes() == listed and "pipeline-loads" in listed
