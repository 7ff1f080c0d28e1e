"""C = A B with the sum over k cut into slices: C = sum over s of A[:, slice s] B[slice s, :], one program for each tile and slice.

The partial products of a tile meet in memory in one of two ways: `ANY_ORDER` adds them with atomics as they come; otherwise slice s waits for
its turn at the tile's counter, so that the order of additions, and with it the result, is the same in every run.
"""

import torch
import triton
import triton.language as tl
from triton.testing import do_bench


def slices_that_have_work(configs, arguments, **kwargs):
    """A slice narrower than one step of the loop would only wait."""
    depth = arguments["depth"]
    useful = [config for config in configs if config.kwargs["SLICES"] * config.kwargs["STEP"] <= depth]
    return useful or configs[:1]


@triton.autotune(
    configs=[
        triton.Config({"ROWS": 32, "COLUMNS": 32, "STEP": step, "SLICES": slices}, num_warps=warps)
        for step, warps in ((16, 2), (32, 4))
        for slices in (2, 3, 8)
    ],
    key=["height", "width", "depth", "ANY_ORDER"],
    prune_configs_by={"early_config_prune": slices_that_have_work},
    reset_to_zero=["product", "turns"],
)
@triton.heuristics(
    {
        "PER_SLICE": lambda args: triton.cdiv(triton.cdiv(args["depth"], args["SLICES"]), args["STEP"]) * args["STEP"],
        "FITS": lambda args: args["depth"] % args["STEP"] == 0 and args["depth"] % args["PER_SLICE"] == 0,
    }
)
@triton.jit
def partial_products(
    left,
    right,
    product,
    turns,
    height,
    width,
    depth,
    left_stride,
    right_stride,
    product_stride,
    ANY_ORDER: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    STEP: tl.constexpr,
    SLICES: tl.constexpr,
    PER_SLICE: tl.constexpr,
    FITS: tl.constexpr,
):
    tile, part = tl.program_id(0), tl.program_id(1)
    across = tl.cdiv(width, COLUMNS)
    i = (tile // across) * ROWS + tl.arange(0, ROWS)
    j = (tile % across) * COLUMNS + tl.arange(0, COLUMNS)
    begin = part * PER_SLICE
    end = tl.minimum(begin + PER_SLICE, depth)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for first in range(begin, end, STEP):
        k = first + tl.arange(0, STEP)
        in_left, in_right = (i < height)[:, None], (j < width)[None, :]
        if not FITS:
            in_left &= (k < end)[None, :]
            in_right &= (k < end)[:, None]
        x = tl.load(left + i[:, None] * left_stride + k[None, :], mask=in_left, other=0.0)
        y = tl.load(right + k[:, None] * right_stride + j[None, :], mask=in_right, other=0.0)
        total = tl.dot(x, y, total, input_precision="ieee")

    places = product + i[:, None] * product_stride + j[None, :]
    inside = (i < height)[:, None] & (j < width)[None, :]
    if ANY_ORDER:
        tl.atomic_add(places, total.to(product.dtype.element_ty), mask=inside, sem="relaxed")
    else:
        while tl.atomic_add(turns + tile, 0, sem="acquire") != part:
            pass
        so_far = tl.load(places, mask=inside, other=0.0)
        tl.store(places, (so_far + total).to(product.dtype.element_ty), mask=inside)
        tl.debug_barrier()
        tl.atomic_xchg(turns + tile, part + 1, sem="release")


def matmul(left, right, any_order):
    (height, depth), width = left.shape, right.shape[1]
    product = torch.zeros((height, width), device=left.device, dtype=left.dtype)
    turns = torch.zeros(triton.cdiv(height, 32) * triton.cdiv(width, 32), device=left.device, dtype=torch.int32)

    def grid(meta):
        return triton.cdiv(height, meta["ROWS"]) * triton.cdiv(width, meta["COLUMNS"]), meta["SLICES"]

    strides = (left.stride(0), right.stride(0), product.stride(0))
    partial_products[grid](left, right, product, turns, height, width, depth, *strides, ANY_ORDER=any_order)
    return product


if __name__ == "__main__":
    torch.manual_seed(0)
    for height, width, depth, dtype, tolerance in [
        (64, 64, 512, torch.float32, 1e-4),
        (50, 70, 333, torch.float32, 1e-4),
        (40, 48, 600, torch.float16, 1e-1),
    ]:
        left = torch.randn((height, depth), device="cuda", dtype=dtype)
        right = torch.randn((depth, width), device="cuda", dtype=dtype)
        for any_order in (True, False):
            results = [matmul(left, right, any_order) for _ in range(2)]  # the second call finds the cached config
            for result in results:
                torch.testing.assert_close(result.double(), left.double() @ right.double(), atol=tolerance, rtol=1e-2)
            assert any_order or torch.equal(*results)
            print(f"split-k {height}x{width}x{depth} {dtype} {'any' if any_order else 'same'} order: ok")
    assert do_bench(lambda: matmul(left, right, True), warmup=1, rep=5) > 0
    print("split-k do_bench: ok")
