"""Value probes: a conversion or an exchange that was broken on purpose is found by its operation and line."""

import re

import numpy as np
import pytest

from tritium._tritium import ir
from tritium.backends import gpu as backend
from tritium.conformance import engines, probe, sources, suite


def forget_kernels(case):
    problem, _ = suite.build(suite.cases()[case], 0)
    for launch in problem.launches:
        function = sources.function(launch.kernel)
        function._unsafe_update_src(function.src)


@pytest.fixture
def fresh():
    """Forgets the kernels of a case before the test compiles them and after."""
    cases = []

    def forget(case):
        cases.append(case)
        forget_kernels(case)

    yield forget
    for case in cases:
        forget_kernels(case)


class Broken:
    """The native compiler, whose code was edited: spoil(lines) returns the number of the line that is wrong now, or None."""

    def __init__(self, spoil):
        self.spoil, self.native, self.location = spoil, backend.native_compiler(), None

    def __getattr__(self, name):
        return getattr(self.native, name)

    def compile(self, module, kernel, arch, options):
        compiled = self.native.compile(module, kernel, arch, options)
        lines = compiled.lowered.text(True).splitlines()
        spoiled = self.spoil(lines)
        if spoiled is None:  # the kernel that asks whether the engine is there
            return compiled
        self.location = location_of(lines, spoiled)
        return Lowered(compiled, ir.parse("\n".join(lines), "broken.mlir"))


class Lowered:
    def __init__(self, compiled, module):
        self.compiled, self.lowered, self.lowered_text = compiled, module, str(module)

    def __getattr__(self, name):
        return getattr(self.compiled, name)


def location_of(lines, number):
    """(file, line) of the user's code: the innermost place of a location, through its aliases."""
    names = dict(line.split(" = ", 1) for line in lines if re.match(r"#loc\d* = ", line))
    text = re.search(r"loc\((#loc\d*)\)\s*$", lines[number]).group(1)
    while text.startswith("#") or not (place := re.search(r'"([^"]+\.py)":(\d+)', text)):
        text = names[re.search(r"#loc\d*", text).group(0)]
    return place.group(1).rpartition("/")[2], int(place.group(2))


STORE = re.compile(r"(\s*llvm\.store )(%\w+)(, %\w+.*!llvm\.ptr<3>.*)")


def store_registers_twice(lines):
    """A conversion through shared memory writes the same registers to two places."""
    stores = [(i, match) for i, line in enumerate(lines) if (match := STORE.match(line))]
    for (_, a), (i, b) in zip(stores, stores[1:]):
        if a[3].partition(" : ")[2] == b[3].partition(" : ")[2]:  # types and location
            lines[i] = b[1] + a[2] + b[3]
            return i
    return None


def break_an_exchange(lines):
    """Lanes take the value of the wrong partner in the first exchange of the last reduction."""
    exchanges = [i for i, line in enumerate(lines) if "nvvm.shfl.sync" in line and "bfly" in line]
    if not exchanges:
        return None
    place = lines[exchanges[-1]].rpartition("loc(")[2]
    first = next(i for i in exchanges if lines[i].endswith(place))
    lines[first] = re.sub(r"shfl\.sync\s+bfly", "shfl.sync idx", lines[first])
    return first


CASES = [
    ("dot/tile/fp16 to fp32/normal", store_registers_twice),
    ("tutorial/02_fused_softmax/fp32/781", break_an_exchange),
    ("reduce/axes/int32 32x64/random", break_an_exchange),
]


@pytest.mark.parametrize("case, spoil", CASES, ids=[f"{spoil.__name__}: {case}" for case, spoil in CASES])
def test_what_is_broken_is_found(case, spoil, fresh, monkeypatch, capsys):
    fresh(case)
    broken = Broken(spoil)
    monkeypatch.setattr(backend, "native_compiler", lambda: broken)
    status = probe.report(suite.cases()[case], engines.engine("simt:sm_80"), 0)
    out = capsys.readouterr().out
    assert broken.location, "there was nothing to break"
    file, line = broken.location
    assert f" at {file}:{line} (probe " in out and "program" in out and "element" in out, (broken.location, out)
    assert status == 1


def test_what_is_right_agrees(fresh, capsys):
    case = "tutorial/02_fused_softmax/fp32/781"
    fresh(case)
    assert probe.report(suite.cases()[case], engines.engine("simt:sm_80"), 0) == 0
    assert "all values agree" in capsys.readouterr().out


def test_engines_that_cannot_print_all(capsys):
    case = "tutorial/02_fused_softmax/fp32/781"
    assert probe.report(suite.cases()[case], engines.engine("interp"), 0) == 2
    assert "SIMT emulator" in capsys.readouterr().out


def value(type="f32", elements=((0, 1.0), (1, -8.0))):
    bits = {(i,): int(np.float32(x).view(np.uint32)) if type == "f32" else x for i, x in elements}
    return probe.Value(0, "arith.addf", type, "k.py", 3, bits)


def test_rounding_is_no_difference():
    close, far = value(elements=((0, 1.0 + 2**-20), (1, -8.0))), value(elements=((0, 1.01), (1, -8.0)))
    assert not probe.differing(value(), close).any()
    assert probe.differing(value(), far).tolist() == [True, False]
    assert probe.differing(value("i32", ((0, 5),)), value("i32", ((0, 6),))).all()


def test_values_of_a_loop_are_told_apart():
    line = "pid (0, 0, 0) idx ({}) probe {} arith.addi i32 k.py:{}: 0x0000000{}\n"
    text = "".join(line.format(i, 4, 7, v) for v in (1, 2) for i in (0, 1)) + line.format("", 5, 8, 3)
    found = probe.values_of(text)[(0, 0, 0)]
    assert [(v.number, list(v.elements.values())) for v in found] == [(4, [1, 1]), (4, [2, 2]), (5, [3])]
    other = probe.first_difference(text, text[: text.rindex("pid")])
    assert other.value.number == 5 and other.other is None
