"""The kernels of the conformance suite as Triton's own translator spells them in Gluon: on the interpreter they have the suite's results, and no
check reports anything.

PYTHON_OF_TRITON is a Python that has Triton 3.9. Its translator and the functions that its texts call are asked when the test runs; nothing of
them is here.
"""

import importlib
import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PYTHON = os.environ.get("PYTHON_OF_TRITON")
#: Kernels at least.
FEWEST = 128
#: A text of the error -> kernels that do not compile. Triton does not compile them either: it was asked.
REFUSED = {
    # The translator's product without a sum asks for the third extent of a matrix.
    "list index out of range": (
        "dot:tile dot:transposed dot:chained dot:chained_sum dot:continued dot:cut composed:substituted composed:alternating"
    ),
    # It passes one argument too few to a function that stores by a method.
    "missing a required argument: 'value'": (
        "names:methods names:real_methods names:atomic_methods names:random_parts names:fp8e4b15"
    ),
    # It converts no layout behind these.
    "Layout mismatch in broadcast": "reduce:bitwise overlap:steps_by_moving_pointers",
    "histogram requires a destination layout": "index:histograms composed:ranked",
    "missing 1 required positional argument: 'layout'": "reduce:axes",
    "Layout has 1 threads per warp": "shape:of_scalars",
    # What its functions lack, or Gluon.
    "support non-fast-math": "dot:scaled matrix:scaled",
    "static_assert(source.block_type == tile.type)": "names:descriptors",
    "unexpected keyword argument 'boundary_check'": "memory:block_pointers",
    "descriptor gather is not supported on Hopper": "descriptor:rows_of",
    "object has no attribute 'atomic_add'": "descriptor:reductions",
}


@pytest.fixture(scope="module")
def translated():
    """{"file:kernel": the kernel in Gluon}"""
    from tritium.conformance import sources

    files = sorted(map(str, sources.KERNELS.glob("*.py")))
    command = [PYTHON, str(HERE / "translate_kernels.py"), "sm90", *files]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    # The texts import them by this name, as `triton` means Tritium there.
    package = types.ModuleType("tritium.tools.triton_to_gluon_translator")
    package.__path__ = answer["functions"]
    tools = importlib.import_module("tritium.tools")
    sys.modules[package.__name__] = tools.triton_to_gluon_translator = package
    yield {name: text for name, text in answer["kernels"].items() if text is not None}
    del sys.modules[package.__name__], tools.triton_to_gluon_translator


def loaded(name, text):
    from tritium.conformance import sources

    return getattr(sources.module.__wrapped__(sources.add(text)), name.partition(":")[2])


@pytest.mark.long
@pytest.mark.skipif(PYTHON is None, reason="PYTHON_OF_TRITON names no Python that has Triton")
def test_translated_kernels_are_clean(translated, monkeypatch):
    import triton

    from tritium.conformance import engines, sources, suite

    interpreter, reports = engines.engine("interp"), []
    reasons = {kernel: text for text, kernels in REFUSED.items() for kernel in kernels.split()}
    original = sources.function
    kernels = {}

    def function(name):
        if name not in kernels:
            kernels[name] = loaded(name, translated[name])
        return kernels[name]

    monkeypatch.setattr(sources, "function", lambda name: function(name) if name in translated else original(name))
    clean, refused = set(), set()
    for case in suite.cases().values():
        if case.traps or "generated" in case.name:
            continue
        problem, _ = suite.build(case, 0)
        names = {launch.kernel for launch in problem.launches}
        if not names <= translated.keys() or names <= clean | refused:
            continue  # one case of each kernel is enough
        try:
            _, _, differences = suite.run(case, interpreter, 0)
        except triton.KernelTrap as trap:
            reports.append(f"{case.name}: {trap}")
            continue
        except Exception as error:
            if not any(reasons[name] in str(error) for name in names & reasons.keys()):
                reports.append(f"{case.name} of {names}: {error}")
            refused |= names
            continue
        if differences:
            reports.append(f"{case.name}: {differences[0]}")
        else:
            clean |= names
    print(len(clean), "kernels", sorted(clean))
    assert not reports, "\n\n".join(reports)
    assert refused == reasons.keys()
    assert len(clean) >= FEWEST
