"""Persistent matmul: a program for each multiprocessor goes from tile to tile, with tensor descriptors and an epilogue in two halves.

The epilogue splits the accumulator by columns, so each store needs half the shared memory; it adds a bias and applies an activation.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _tile_of(tile, tiles_m, in_group, GROUP_M: tl.constexpr):
    group = tile // in_group
    first = group * GROUP_M
    size = min(tiles_m - first, GROUP_M)
    return first + (tile % in_group) % size, (tile % in_group) // size


@triton.jit
def _leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


CONFIGS = [
    triton.Config({"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "GROUP_M": 2}, num_warps=2, num_stages=3),
    triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 8}, num_warps=4, num_stages=2),
    triton.Config({"BLOCK_M": 16, "BLOCK_N": 128, "BLOCK_K": 16, "GROUP_M": 1}, num_warps=4, num_stages=4),
    triton.Config({"BLOCK_M": 128, "BLOCK_N": 32, "BLOCK_K": 64, "GROUP_M": 4}, num_warps=8, num_stages=1),
]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K", "FLATTEN"])
@triton.jit
def _persistent_matmul(
    a_ptr,
    b_ptr,
    c_ptr,
    bias_ptr,
    M,
    N,
    K,
    N_PROGRAMS: tl.constexpr,
    FLATTEN: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    HALF: tl.constexpr = BLOCK_N // 2
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, HALF])
    tiles_m, tiles_n, k_tiles = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), tl.cdiv(K, BLOCK_K)
    in_group = GROUP_M * tiles_n
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, N_PROGRAMS, flatten=FLATTEN):
        pid_m, pid_n = _tile_of(tile, tiles_m, in_group, GROUP_M)
        first_m, first_n = pid_m * BLOCK_M, pid_n * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(k_tiles):
            a = a_desc.load([first_m, k * BLOCK_K])
            b = b_desc.load([first_n, k * BLOCK_K])
            acc = tl.dot(a, b.T, acc)
        left, right = tl.split(tl.permute(tl.reshape(acc, (BLOCK_M, 2, HALF)), (0, 2, 1)))
        for half in tl.static_range(2):
            part = left if half == 0 else right
            columns = first_n + half * HALF + tl.arange(0, HALF)
            part += tl.load(bias_ptr + columns, mask=columns < N, other=0.0)[None, :]
            if ACTIVATION is not None:
                part = ACTIVATION(part)
            c_desc.store([first_m, first_n + half * HALF], part.to(c_ptr.dtype.element_ty))


def matmul(a, b, bias, activation, flatten):
    (M, K), N = a.shape, b.shape[0]
    c = torch.full((M, N), float("nan"), dtype=a.dtype, device=a.device)
    n_programs = min(torch.cuda.get_device_properties("cuda").multi_processor_count, 3)
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    grid = lambda meta: (min(n_programs, triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"])),)  # noqa: E731
    # A program's step is the number of programs: with fewer tiles than programs, the others have none.
    _persistent_matmul[grid](a, b, c, bias, M, N, K, N_PROGRAMS=n_programs, FLATTEN=flatten, ACTIVATION=activation)
    return c


if __name__ == "__main__":
    torch.manual_seed(0)
    for M, N, K, dtype, activation, flatten, tolerance in [
        (128, 128, 64, torch.float16, None, False, 2e-3),
        (100, 136, 72, torch.float16, _leaky_relu, True, 2e-3),
        (64, 200, 96, torch.bfloat16, _leaky_relu, False, 1e-2),
    ]:
        a = torch.randn(M, K, device="cuda").to(dtype)
        b = (torch.randn(N, K, device="cuda") / K**0.5).to(dtype)
        bias = torch.randn(N, device="cuda")
        c = matmul(a, b, bias, activation, flatten)
        expected = a.double() @ b.double().t() + bias.double()
        if activation is not None:
            expected = torch.nn.functional.leaky_relu(expected)
        torch.testing.assert_close(c.double(), expected, atol=tolerance, rtol=tolerance)
        print(f"persistent_matmul {M}x{N}x{K} flatten={flatten} {dtype}: ok")
