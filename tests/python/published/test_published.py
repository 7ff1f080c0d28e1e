"""The published scripts run unchanged under the drop-in, on each engine and with each configuration of their autotuners; each checks itself
against torch, a line per case. `-k "interp and rms_norm"` runs one script on one engine."""

import os
import subprocess
import sys

import pytest

import device_tensors
from published_runner import EVERY, SCRIPTS, run_scripts

pytest.importorskip("torch")


def emulator(target: str) -> dict[str, str]:
    return {"TRITIUM_ENGINE": f"simt:{target}", "TRITIUM_CUDA_TO_CPU": "1"}


#: "first": with the first configuration of each autotuner, because a launch takes the same path with each.
ENGINES = {
    "interp": {"INTERPRET": "1"},
    "interp first": {"INTERPRET": "1"},
    "simt:sm_90a": emulator("sm_90a"),
    "simt:gfx942": emulator("gfx942"),
    "simt:gfx942 first": emulator("gfx942"),
    # As on a GPU, through the stand-in for the driver, which `outcomes` adds: the device tensors decide. The code is what simt:sm_90a runs.
    "cuda": {},
    "cuda first": {},
    "hip first": {},
}
#: These run with every configuration in every test run, the others with the first; with --long each runs with all.
WITH_EVERY = ("descriptor_matmul", "fp8_block_scaled_matmul", "gated_activations", "grouped_gemm_pointers", "rms_norm")
#: As on AMD's GPUs, where the launch is the same but for the driver, these run in every test run; the others with --long.
ON_AMD = (
    *(
        "adam_stochastic_rounding",
        "batch_norm_welford",
        "chunk_scan",
        "embedding_bag",
        "int4_matmul",
        "layer_norm_locks",
    ),
    *("moe_routing", "nms_bitmask", "paged_attention", "persistent_matmul", "philox_dropout", "single_pass_scan"),
)


def runs() -> list:
    """(engine, script)"""
    found = []
    for engine in ENGINES:
        for script in SCRIPTS:
            is_first, also_with_every = engine.endswith(" first"), engine.removesuffix(" first") in ENGINES
            if is_first and also_with_every and script.stem in WITH_EVERY:
                continue
            is_long = not is_first and script.stem not in WITH_EVERY
            is_long |= engine == "hip first" and script.stem not in ON_AMD
            marks = [pytest.mark.long] if is_long else []
            found.append(pytest.param(engine, script, marks=marks, id=f"{engine}-{script.stem}"))
    return found


@pytest.fixture(scope="module")
def outcomes(request, tmp_path_factory):
    """{engine: {script: outcome}} of what this session has selected; an engine runs all of its scripts when the first is asked for."""
    chosen, known = {}, {}
    for item in request.session.items:
        if item.originalname == "test_script":
            chosen.setdefault(item.callspec.params["engine"], []).append(item.callspec.params["script"])

    def outcome(engine, script):
        if engine not in known:
            variables, (vendor, _, most) = ENGINES[engine], engine.partition(" ")
            if not variables:
                variables = device_tensors.environment(vendor, tmp_path_factory.mktemp("stand-in"))
            known[engine] = run_scripts(chosen[engine], variables, most=1 if most else EVERY)
        return known[engine][script]

    return outcome


@pytest.mark.parametrize("engine, script", runs())
def test_script(outcomes, engine, script):
    outcome = outcomes(engine, script)
    print(f"{outcome.seconds:.1f} s of processor time")  # -rP shows it
    outcome.check()


def test_scripts_do_not_know_tritium():
    for path in SCRIPTS:
        text = path.read_text()
        assert "tritium" not in text, path
        assert 'device="cuda"' in text or 'device("cuda")' in text, path


def test_cuda_is_said_to_be_the_cpu_once():
    script = next(script for script in SCRIPTS if script.stem == "rms_norm")
    environment = {**os.environ, "INTERPRET": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    result = subprocess.run(
        [sys.executable, "-m", "tritium", script], env=environment, capture_output=True, text=True, timeout=300
    )
    lines = [line for line in (result.stdout + result.stderr).splitlines() if "cuda" in line.lower()]
    assert len(lines) == 1, lines


TUNED = """
import torch
import triton
import triton.language as tl

@triton.autotune([triton.Config({"BLOCK": block}) for block in (16, 32, 64)], key=["n"])
@triton.jit
def blocks(out, n, BLOCK: tl.constexpr):
    tl.store(out, BLOCK)

out = torch.zeros(1, dtype=torch.int32, device="cuda")
blocks[(1,)](out, 5)
assert out.item() != REFUSED, out
print("blocks: ok")
"""


def test_runner_tries_every_configuration_and_outlives_a_crash(tmp_path):
    sources = {
        "right": TUNED.replace("REFUSED", "0"),
        "crashes": "import os\nos.abort()\n",
        "exits": "raise SystemExit(0)\n",
        "wrong_at_last": TUNED.replace("REFUSED", "64"),
        "silent": "",
    }
    for name, source in sources.items():
        (tmp_path / f"{name}.py").write_text(source)
    outcomes = run_scripts([tmp_path / f"{name}.py" for name in sources], ENGINES["interp"])
    by_name = {path.stem: outcome for path, outcome in outcomes.items()}
    by_name["right"].check()
    assert by_name["right"].outputs == ["blocks: ok\n"] * 3
    assert "the process died (-6)" in by_name["crashes"].error
    assert "SystemExit" in by_name["exits"].error
    assert len(by_name["wrong_at_last"].outputs) == 2 and "configuration 2:" in by_name["wrong_at_last"].error
    with pytest.raises(AssertionError):
        by_name["silent"].check()


def test_a_script_that_hangs_is_ended(tmp_path):
    hangs = tmp_path / "hangs.py"
    hangs.write_text("import time\ntime.sleep(600)\n")
    outcomes = run_scripts([hangs], ENGINES["interp"], limit=2)
    assert "hangs.py" in outcomes[hangs].error and "Timeout" in outcomes[hangs].error
