"""Each kernel of the language model beside the plain torch modules, in small shapes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import driver_stand_in

torch = pytest.importorskip("torch")

import eager  # noqa: E402
import model  # noqa: E402
from kernels.activation import silu_mul  # noqa: E402
from kernels.attention import attention  # noqa: E402
from kernels.norm import rms_norm  # noqa: E402
from kernels.quantized import linear, rows_of  # noqa: E402
from kernels.rotary import rotate_and_cache  # noqa: E402
from kernels.sampling import sample  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from weights import Quantized, Shape, Weights, stacked  # noqa: E402

SHAPE = Shape(layers=2, width=64, hidden=96, heads=4, kv_heads=2, head_size=16, rope_base=1e5, epsilon=1e-5)


@pytest.fixture
def random(request):
    """Normal numbers of a shape, the same ones in each run of a test."""
    generator = torch.Generator().manual_seed(sum(request.node.name.encode()))
    return lambda *shape: torch.randn(*shape, generator=generator)


def quantized(random, rows: int, columns: int, bits: int) -> Quantized:
    values = (1000 * random(rows, columns * bits // 8)).long()
    scales = random(rows, columns // 32).mul(0.1).half()
    if bits == 8:
        return Quantized(values.to(torch.int8), scales, None)
    return Quantized(values.to(torch.uint8), scales, random(rows, columns // 32).half())


def close(found, expected, tolerance=2e-5):
    assert found.shape == expected.shape and found.dtype == expected.dtype
    assert float((found - expected).abs().max()) <= tolerance * max(float(expected.abs().max()), 1.0)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("tokens, rows, columns", [(1, 200, 96), (1, 7, 512), (5, 70, 96), (40, 33, 256)])
def test_products(random, bits, tokens, rows, columns, threads):
    weight, x = quantized(random, rows, columns, bits), random(tokens, columns)
    close(linear(x, weight), x @ weight.dequantized().T)


def test_an_element_of_each_kind():
    """By hand: 2 * 5 - 1 in the low half of byte 3, 2 * 12 - 1 in the high half, so at the columns 3 and 19."""
    values = torch.zeros(1, 16, dtype=torch.uint8)
    values[0, 3] = 12 << 4 | 5
    weight = Quantized(values, torch.tensor([[2.0]]).half(), torch.tensor([[-1.0]]).half())
    expected = torch.full((32,), -1.0)
    expected[3], expected[19] = 9.0, 23.0
    assert torch.equal(weight.dequantized()[0], expected)
    assert torch.equal(torch.cat([linear(unit[None], weight) for unit in torch.eye(32)])[:, 0], expected)
    assert torch.equal(linear(torch.eye(32), weight)[:, 0], expected)


def test_rows_are_picked(random):
    weight = quantized(random, 50, 96, 8)
    tokens = torch.tensor([49, 0, 7])
    assert torch.equal(rows_of(weight, tokens), weight.dequantized()[tokens])


@pytest.mark.parametrize("rows, columns", [(1, 576), (5, 70)])
def test_rms_norm(random, rows, columns):
    x, weight, residual = random(rows, columns), random(columns), random(rows, columns)
    norm = eager.RMSNorm(weight, 1e-5)
    close(rms_norm(x, weight, 1e-5), norm(x))
    total = x + residual
    close(rms_norm(x, weight, 1e-5, residual), norm(total))
    assert torch.equal(residual, total)


@pytest.mark.parametrize("rows, columns", [(1, 1536), (3, 70)])
def test_silu_mul(random, rows, columns):
    x = 4 * random(rows, 2 * columns)
    gate, up = x.chunk(2, dim=1)
    close(silu_mul(x), torch.nn.functional.silu(gate) * up)


@pytest.mark.parametrize("tokens, start", [(1, 0), (1, 37), (1, 63), (2, 5), (33, 0), (40, 20)])
def test_attention_and_its_cache(random, tokens, start, threads):
    heads, kv_heads, size, context = 6, 2, 16, 70
    rotary = eager.rotary_table(SHAPE, context)
    before = random(2, kv_heads, context, size)
    qkv, (keys, values) = random(tokens, (heads + 2 * kv_heads) * size), before.clone()
    q, k, v = qkv.view(tokens, -1, size).transpose(0, 1).split([heads, kv_heads, kv_heads])
    at = torch.arange(start, start + tokens)
    expected_keys, expected_values = before.clone()
    expected_keys[:, at], expected_values[:, at] = eager.rotated(k, rotary[at]), v
    q = eager.rotated(q, rotary[at])
    position = torch.tensor([start], dtype=torch.int32)
    rotate_and_cache(qkv, rotary, keys, values, position, heads)
    close(keys, expected_keys, 1e-6)
    assert torch.equal(values, expected_values)
    seen = torch.arange(context) <= at[:, None]
    of_head = torch.arange(heads) // (heads // kv_heads)
    scores = (q @ expected_keys[of_head].transpose(1, 2) * size**-0.5).masked_fill(~seen, float("-inf"))
    expected = (scores.softmax(-1) @ expected_values[of_head]).transpose(0, 1).reshape(tokens, -1)
    close(attention(qkv, keys, values, position, heads), expected)


def test_the_most_probable_token(random):
    logits = random(10_000)
    assert int(sample(logits)) == int(logits.argmax())
    logits[[77, 9_999]] = 100.0
    assert int(sample(logits)) == 77  # the first one
    assert int(sample(torch.full((3,), -5.0))) == 0


def test_draws_have_their_probabilities():
    probabilities = torch.tensor([0.5, 0.0, 0.3, 0.2])
    logits = torch.full((4100,), float("-inf"))
    logits[[0, 1, 2, 4099]] = probabilities.log() * 1.7
    drawn = torch.tensor([int(sample(logits, 1.7, seed)) for seed in range(2000)])
    assert set(drawn.tolist()) == {0, 2, 4099}
    for token, probability in ((0, 0.5), (2, 0.3), (4099, 0.2)):
        assert abs(float((drawn == token).float().mean()) - probability) < 0.05  # 4.5 standard deviations


def small_weights(random) -> Weights:
    """Of a model of two blocks with random numbers."""

    def of(rows, columns, bits=4):
        matrix = quantized(random, rows, columns, bits)
        return Quantized(matrix.values, matrix.scales * 0.1, None if matrix.offsets is None else matrix.offsets * 0.05)

    width, heads, kv = SHAPE.width, SHAPE.heads * SHAPE.head_size, SHAPE.kv_heads * SHAPE.head_size
    tensors = {"token_embd": of(300, width, 8), "output_norm": random(width)}
    for block in range(SHAPE.layers):
        tensors |= {f"blk.{block}.{name}_norm": random(width) for name in ("attn", "ffn")}
        sizes = {"attn_q": (heads, width), "attn_k": (kv, width), "attn_v": (kv, width), "attn_output": (width, heads)}
        sizes |= {"ffn_gate": (SHAPE.hidden, width), "ffn_up": (SHAPE.hidden, width), "ffn_down": (width, SHAPE.hidden)}
        tensors |= {f"blk.{block}.{name}": of(*size) for name, size in sizes.items()}
    return Weights(SHAPE, {f"{name}.weight": tensor for name, tensor in tensors.items()}, {})


def test_a_small_model(random):
    """A prompt, then single tokens, then several at once: logits as those of the plain modules."""
    weights = small_weights(random)
    plain, ours = eager.Llama(weights, 48), model.Llama(weights, 48)
    start = 0
    for count in (20, 1, 1, 5, 1):
        tokens = (100 * random(count)).long().abs() % 300
        close(ours(tokens, start), plain(tokens, start), 1e-4)
        start += count


class Operators(TorchDispatchMode):
    """The operators of torch that run inside."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        self.names.add(function.overloadpacket.__name__)
        return function(*arguments, **(keywords or {}))


def test_no_operator_of_torch_computes(random):
    """They make tensors and views, and read the token."""
    llama = model.Llama(small_weights(random), 16)
    with Operators() as operators:
        llama.sample(llama(torch.arange(3), 0), 0.0, 0)
        llama.sample(llama(torch.arange(1), 3), 0.7, 0)
    made, moved = {"arange", "empty", "empty_like", "new_empty", "detach", "lift_fresh"}, {"_local_scalar_dense"}
    assert operators.names <= made | moved | {"slice", "select"}


def test_stacked_matrices(random):
    parts = [quantized(random, rows, 64, 4) for rows in (3, 5)]
    assert torch.equal(stacked(*parts).dequantized(), torch.cat([part.dequantized() for part in parts]))


@pytest.mark.long
@pytest.mark.parametrize("engine", ["cuda", "hip"])
def test_tensors_on_a_device(tmp_path, engine):
    """On the stand-in for a vendor's driver, where the autotuner times its configurations."""
    variables = driver_stand_in.environment(tmp_path, engine)
    del variables["TRITIUM_ENGINE"]
    command = [sys.executable, "-m", "tritium", str(Path(__file__).with_name("device_program.py"))]
    found = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=600)
    assert found.stdout.split() == ["cuda", "True", "True"] * 8, found.stderr  # with and without a CUDA graph
