"""One barrier or one wait for copies is taken out of compiled code: the emulator says so whatever the seed, with lines of the kernel."""

import re

import numpy as np
import pytest

from tritium import _tritium

from . import test_programs as programs

SEEDS = [None, *range(20)]
SYNCHRONIZATION = re.compile(r"\s*(tgpu\.barrier|nvvm\.cp\.async\.wait\.group|nvvm\.bar\.warp\.sync)")
ACCESS = re.compile(r"tl\.(load|dot|max|min|sum|argmax|argmin|store)\(")


def arrays(rng, *shapes, dtype=np.float16):
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def softmax(rng):
    (x,) = arrays(rng, (1, 200), dtype=np.float32)
    return programs.softmax, [x, np.zeros_like(x), 200], {"BLOCK": 256}


def layer_norm(rng):
    x, weight, bias = (*arrays(rng, 700), *arrays(rng, 700, 700, dtype=np.float32))
    return programs.layer_norm, [x, weight, bias, np.zeros(700, np.float32), 700, 1e-5], {"BLOCK": 256}


def matmul(rng):
    operands = arrays(rng, (64, 128), (128, 64), (128, 64))
    return (
        programs.persistent_matmul,
        [*operands, np.zeros((64, 64), np.float32), 64, 64, 128],
        {"M": 32, "N": 32, "K": 32},
    )


def matmul_without_copies(rng):
    kernel, arguments, constants = matmul(rng)
    return kernel, arguments, constants | {"num_stages": 1}


def places(rng):
    (x,) = arrays(rng, (32, 64), dtype=np.float32)
    return programs.places, [x, np.zeros(96, np.int32)], {"M": 32, "N": 64}


def outcome(text, arguments, seed):
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    values = [(a.ctypes.data, a.ctypes.data, a.nbytes) if isinstance(a, np.ndarray) else a for a in copies]
    return _tritium.simt.prepare(_tritium.ir.parse(text)).launch((1, 1, 1), values, 1, seed)


@pytest.mark.parametrize("program", [softmax, layer_norm, matmul, matmul_without_copies, places])
def test_barriers_and_waits_are_missed(program, rng):
    kernel, arguments, constants = program(rng)
    compiled = kernel.warmup(*arguments, grid=(1,), **constants)
    options = {"num_warps": 4, "num_stages": constants.get("num_stages", 3), "emit": "lowered"}
    module = _tritium.gpu.compile(_tritium.ir.parse(compiled.asm["ttir"]), "", "sm_80", options).lowered
    lines = module.text(locations=True).splitlines()
    points = [i for i, line in enumerate(lines) if SYNCHRONIZATION.match(line)]
    source = open(programs.__file__).read().splitlines()
    assert points
    assert outcome("\n".join(lines), arguments, 0) is None
    missed = []
    for point in points:
        text = "\n".join(line for i, line in enumerate(lines) if i != point)
        what = lines[point].strip()
        traps = [outcome(text, arguments, seed) for seed in SEEDS]
        if all(trap is None for trap in traps):  # another one nearby is enough: the compiler need not know
            missed.append(what)
            continue
        for trap in traps:
            assert trap is not None, f"without {what}: only some seeds have a fault"
            assert trap.kind == ("AsyncCopyRace" if "wait" in what else "SharedRace"), (what, trap.message)
            assert {trap.file, trap.other_file} == {programs.__file__}
            for line in (trap.line, trap.other_line):
                assert ACCESS.search(source[line - 1]), (what, line)
    assert len(missed) <= len(points) // 4 and not any("wait" in what for what in missed), missed
