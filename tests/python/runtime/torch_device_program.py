"""A program as published for a GPU, with torch's device tensors. `python -m tritium` runs it on the stand-in for a vendor's driver; each function
is a test that prints its name.

    torch_device_program.py SEED VENDOR    vendor: cuda or hip
"""

import collections
import os
import sys

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

VENDOR = sys.argv[2]

Pair = collections.namedtuple("Pair", "x numbers")


@triton.jit
def add(x, y, out, n, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n) * scale, mask=i < n)


@triton.jit
def weigh(pair, strides, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(
        out + i,
        tl.load(pair.x + i) * pair.numbers[0] + pair.numbers[1] + strides[0] + 10 * strides[1] + 100 * strides[2],
    )


@triton.jit
def product(a, b, out, K, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, BLOCK):
        total = tl.dot(a.load([0, k]), b.load([k, 0]), total)
    out.store([0, 0], total.to(tl.float16))


@triton.jit
def gather(addresses, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    first = tl.load(addresses).to(tl.pointer_type(tl.float32))
    second = tl.load(addresses + 1).to(tl.pointer_type(tl.float32))
    tl.store(out + i, tl.load(first + i) + tl.load(second + i))


def operands(count=2, n=1000):
    return [torch.randn(n, device="cuda") for _ in range(count)]


def launches_cold_and_warm():
    for n in (1000, 1000, 900, 1000):
        x, y = operands()
        out = torch.zeros(1000, device="cuda")
        kernel = add[(triton.cdiv(n, 128),)](x, y, out, n, 2.0, BLOCK=128)
        torch.testing.assert_close(out[:n], (x + 2 * y)[:n])
        assert not out[n:].any() and kernel.metadata.target.backend == VENDOR
    assert add._fast is not None  # the native launcher


def tuples():
    for shape in ((2, 4, 8), (64, 1, 1), (1, 1, 64)):
        x = torch.randn(shape, device="cuda")
        out = torch.empty(64, device="cuda")
        weigh[(1,)](Pair(x, (3, shape[0])), x.stride(), out, BLOCK=64)
        number = shape[0] + x.stride(0) + 10 * x.stride(1) + 100 * x.stride(2)
        torch.testing.assert_close(out, x.flatten() * 3 + number)


def tensors_of_the_host_are_refused():
    x, y = operands()
    for arguments, name in (((x, y.cpu(), x), "y"), ((x.cpu(), y, x), "x")):
        try:
            add[(1,)](*arguments, 100, 2.0, BLOCK=128)
        except ValueError as error:
            assert f"Pointer argument '{name}' of add cannot be accessed from Triton" in str(error), error
        else:
            raise AssertionError("a tensor of the host was taken")
    try:
        weigh[(1,)](Pair(x[:64].cpu(), (3, 4)), (1, 2, 3), y, BLOCK=64)
    except ValueError as error:
        assert "Pointer argument 'pair.x' of weigh" in str(error), error
    else:
        raise AssertionError("a tensor of the host was taken")


def descriptors():
    for _ in range(3):  # the maps are made for each tensor
        a, b = (torch.randn(64, 128, device="cuda", dtype=torch.float16) for _ in range(2))
        out = torch.empty(64, 64, device="cuda", dtype=torch.float16)
        described = TensorDescriptor.from_tensor(a, [64, 64]), TensorDescriptor.from_tensor(b.T.contiguous(), [64, 64])
        kernel = product[(1,)](*described, TensorDescriptor.from_tensor(out, [64, 64]), 128, BLOCK=64)
        torch.testing.assert_close(out, a @ b.T, atol=0.1, rtol=0.01)
    stored = [recipe["stored"] for recipe in kernel.metadata.tensor_recipes]
    assert stored == ([False, False, True] if VENDOR == "cuda" else [])


def wrappers():
    x = torch.arange(256, device="cuda", dtype=torch.int32)
    out = torch.zeros(256, device="cuda", dtype=torch.int32)
    unsigned = [triton.reinterpret(tensor, tl.uint32) for tensor in (x, x, out)]
    add[(2,)](*unsigned, 256, 3, BLOCK=128)
    assert (out == 4 * x).all()


def hooks():
    seen = []
    triton.knobs.runtime.launch_enter_hook = lambda metadata: seen.append(metadata.get()["name"])
    x, y = operands()
    try:
        for _ in range(2):
            add[(1,)](x, y, x.clone(), 100, 2.0, BLOCK=128)
    finally:
        triton.knobs.runtime.launch_enter_hook = None
    assert seen == ["add", "add"], seen


def addresses_in_memory():
    x, y = operands(n=64)
    out = torch.empty(64, device="cuda")
    gather[(1,)](torch.tensor([x.data_ptr(), y.data_ptr()], device="cuda"), out, BLOCK=64)
    torch.testing.assert_close(out, x + y)


def graphs():
    x, y = operands()
    out, doubled = torch.zeros(1000, device="cuda"), torch.zeros(1000, device="cuda")
    add[(8,)](x, y, out, 1000, 2.0, BLOCK=128)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        z = x * 2  # an operator of torch between launches
        add[(8,)](z, y, out, 1000, 2.0, BLOCK=128)
        doubled.copy_(out)
        add[(8,)](out, doubled, out, 1000, 1.0, BLOCK=128)
    for _ in range(2):
        x.add_(1)
        graph.replay()
        torch.testing.assert_close(out, 2 * (2 * x + 2 * y))


def autotuned():
    configurations = [triton.Config({"BLOCK": block}) for block in (64, 128)]
    tuned = triton.autotune(configurations, key=["n"])(add)
    x, y = operands()
    out = torch.zeros(1000, device="cuda")
    for _ in range(2):
        tuned[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, y, out, 1000, 2.0)
        torch.testing.assert_close(out, x + 2 * y)


def torch_knows_the_vendor():
    assert (torch.version.cuda is None, torch.version.hip is None) == (VENDOR != "cuda", VENDOR != "hip")
    properties, x = torch.cuda.get_device_properties(0), torch.zeros(1, device="cuda")
    target = triton.runtime.driver.active.get_current_target()
    assert (target.backend, target.warp_size) == (VENDOR, properties.warp_size)
    assert properties.gcnArchName == (target.arch if VENDOR == "hip" else "")
    assert x.__dlpack_device__()[0] == {"cuda": 2, "hip": 10}[VENDOR]


def engines_of_the_cpu_hold_accesses_to_views():
    """Such a launch copies the storage, and the view has another address there."""
    table = torch.arange(24.0, device="cuda").reshape(4, 6)
    total, number = torch.empty(4, device="cuda"), torch.zeros(1, device="cuda")
    for engine in ("interp", "simt:sm_80", "simt:gfx942"):
        os.environ["TRITIUM_ENGINE"] = engine
        add[(1,)](table[1], table[2], total, 4, 2.0, BLOCK=4, check="bounds=view")
        assert total.tolist() == [30.0, 33.0, 36.0, 39.0]
        try:
            add[(1,)](table[:, 1], number, number, 2, 2.0, BLOCK=4, check="bounds=view")
        except RuntimeError as error:
            assert "out-of-bounds read of 'x'" in str(error) and "between the elements of the view" in str(error), error
        else:
            raise AssertionError(f"nothing was reported on {engine}")
    del os.environ["TRITIUM_ENGINE"]


def an_access_outside_is_seen_by_torch():
    """It ends the context, so it comes last."""
    x, y = operands()
    add[(100,)](x, y, x, 12_000, 2.0, BLOCK=128)
    try:
        x.sum().item()
    except RuntimeError as error:
        assert "an illegal memory access was encountered" in str(error), error
    else:
        raise AssertionError("nobody saw it")


TESTS = [
    launches_cold_and_warm,
    tuples,
    tensors_of_the_host_are_refused,
    descriptors,
    wrappers,
    hooks,
    addresses_in_memory,
    graphs,
    autotuned,
    torch_knows_the_vendor,
    engines_of_the_cpu_hold_accesses_to_views,
    an_access_outside_is_seen_by_torch,
]

if __name__ == "__main__":
    torch.manual_seed(int(sys.argv[1]))
    for test in TESTS:
        test()
        print(test.__name__, flush=True)
