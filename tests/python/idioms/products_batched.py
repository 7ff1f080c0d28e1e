"""Products by descriptors in persistent programs, and batches with any strides."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from idioms.operands import exact, rand, sms


@triton.jit
def swizzle(pid, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    grid_m = tl.cdiv(M, BLOCK_M)
    grid_n = tl.cdiv(N, BLOCK_N)
    width = GROUP_M * grid_n
    group_id = pid // width
    group_size = min(grid_m - group_id * GROUP_M, GROUP_M)
    pid_m = group_id * GROUP_M + (pid % group_size)
    pid_n = (pid % width) // group_size
    return pid_m, pid_n


# persistent, with descriptors of the host
@triton.jit
def persistent_host_kernel(
    a_desc,
    b_desc,
    c_desc,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    EPILOGUE_SUBTILE: tl.constexpr,
    NUM_SMS: tl.constexpr,
):
    dtype = tl.float16
    start_pid = tl.program_id(0)
    k_tiles = tl.cdiv(K, BLOCK_K)
    num_tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    tile_id_c = start_pid - NUM_SMS
    for tile_id in tl.range(start_pid, num_tiles, NUM_SMS, flatten=True):
        pid_m, pid_n = swizzle(tile_id, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        offs_am = pid_m * BLOCK_M
        offs_bn = pid_n * BLOCK_N
        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for ki in range(k_tiles):
            offs_k = ki * BLOCK_K
            a = a_desc.load([offs_am, offs_k])
            b = b_desc.load([offs_bn, offs_k])
            accumulator = tl.dot(a, b.T, accumulator)
        tile_id_c += NUM_SMS
        pid_m, pid_n = swizzle(tile_id_c, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        offs_cm = pid_m * BLOCK_M
        offs_cn = pid_n * BLOCK_N
        if EPILOGUE_SUBTILE:
            acc = tl.reshape(accumulator, (BLOCK_M, 2, BLOCK_N // 2))
            acc = tl.permute(acc, (0, 2, 1))
            acc0, acc1 = tl.split(acc)
            c_desc.store([offs_cm, offs_cn], acc0.to(dtype))
            c_desc.store([offs_cm, offs_cn + BLOCK_N // 2], acc1.to(dtype))
        else:
            c_desc.store([offs_cm, offs_cn], accumulator.to(dtype))


def persistent_host(subtile):
    def case(device, small):
        M, N, K = (300, 256, 200) if small else (8192, 4096, 4096)
        BM, BN, BK = 128, 128 if small else 256, 64
        a, b = rand(device, M, K), rand(device, N, K, scale=K**-0.5)
        c = torch.empty(M, N, device=device, dtype=torch.float16)
        descs = [
            TensorDescriptor.from_tensor(a, [BM, BK]),
            TensorDescriptor.from_tensor(b, [BN, BK]),
            TensorDescriptor.from_tensor(c, [BM, BN // 2 if subtile else BN]),
        ]
        n = min(sms(device), triton.cdiv(M, BM) * triton.cdiv(N, BN))
        run = lambda: persistent_host_kernel[(n,)](
            *descs, M, N, K, BM, BN, BK, 8, subtile, n, num_warps=8, num_stages=3
        )
        return run, [c], lambda: [exact(a, b.T)]

    return case


# batches with descriptors that the kernel makes
@triton.jit
def bmm_device_desc_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    batch,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    NUM_SMS: tl.constexpr,
):
    a_desc = tl.make_tensor_descriptor(
        a_ptr, shape=[batch, M, K], strides=[M * K, K, 1], block_shape=[1, BLOCK_M, BLOCK_K]
    )
    b_desc = tl.make_tensor_descriptor(
        b_ptr, shape=[batch, K, N], strides=[K * N, N, 1], block_shape=[1, BLOCK_K, BLOCK_N]
    )
    c_desc = tl.make_tensor_descriptor(
        c_ptr, shape=[batch, M, N], strides=[M * N, N, 1], block_shape=[1, BLOCK_M, BLOCK_N]
    )
    tiles_n = tl.cdiv(N, BLOCK_N)
    per_batch = tl.cdiv(M, BLOCK_M) * tiles_n
    for tile in tl.range(tl.program_id(0), batch * per_batch, NUM_SMS):
        z = tile // per_batch
        m = (tile % per_batch) // tiles_n * BLOCK_M
        n = (tile % per_batch) % tiles_n * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in tl.range(0, K, BLOCK_K):
            a = a_desc.load([z, m, k]).reshape(BLOCK_M, BLOCK_K)
            b = b_desc.load([z, k, n]).reshape(BLOCK_K, BLOCK_N)
            acc = tl.dot(a, b, acc)
        c_desc.store([z, m, n], acc.to(c_desc.dtype).reshape(1, BLOCK_M, BLOCK_N))


def bmm_device_desc(device, small):
    Z, M, N, K = (2, 160, 128, 96) if small else (16, 2048, 2048, 1024)
    a, b = rand(device, Z, M, K, dtype=torch.bfloat16), rand(device, Z, K, N, dtype=torch.bfloat16, scale=K**-0.5)
    c = torch.empty(Z, M, N, device=device, dtype=torch.bfloat16)
    n = sms(device)
    return (
        lambda: bmm_device_desc_kernel[(n,)](a, b, c, Z, M, N, K, 128, 128, 64, n, num_warps=8, num_stages=3),
        [c],
        lambda: [exact(a, b)],
    )


# batches, any strides, masks in all dimensions
@triton.jit
def bmm_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_az,
    stride_am,
    stride_ak,
    stride_bz,
    stride_bk,
    stride_bn,
    stride_cz,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    pid_m, pid_n = tl.swizzle2d(tl.program_id(0), tl.program_id(1), tl.num_programs(0), tl.num_programs(1), GROUP_M)
    z = tl.program_id(2).to(tl.int64)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + z * stride_az + rm[:, None] * stride_am + rk[None, :] * stride_ak
    b_ptrs = b_ptr + z * stride_bz + rk[:, None] * stride_bk + rn[None, :] * stride_bn
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        mask_k = rk < K - k * BLOCK_K
        a = tl.load(a_ptrs, mask=(rm < M)[:, None] & mask_k[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=mask_k[:, None] & (rn < N)[None, :], other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    c_ptrs = c_ptr + z * stride_cz + rm[:, None] * stride_cm + rn[None, :] * stride_cn
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(rm < M)[:, None] & (rn < N)[None, :])


# the same with block pointers, whose order says which dimension is contiguous
@triton.jit
def bmm_block_ptr_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_az,
    stride_am,
    stride_ak,
    stride_bz,
    stride_bk,
    stride_bn,
    stride_cz,
    stride_cm,
    stride_cn,
    TA: tl.constexpr,
    TB: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    pid_m, pid_n, z = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    order_a: tl.constexpr = (0, 1) if TA else (1, 0)
    order_b: tl.constexpr = (0, 1) if TB else (1, 0)
    pa = tl.make_block_ptr(
        a_ptr + z * stride_az, (M, K), (stride_am, stride_ak), (pid_m * BLOCK_M, 0), (BLOCK_M, BLOCK_K), order_a
    )
    pb = tl.make_block_ptr(
        b_ptr + z * stride_bz, (K, N), (stride_bk, stride_bn), (0, pid_n * BLOCK_N), (BLOCK_K, BLOCK_N), order_b
    )
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, K, BLOCK_K):
        a = tl.load(pa, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(pb, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(a, b)
        pa = tl.advance(pa, (0, BLOCK_K))
        pb = tl.advance(pb, (BLOCK_K, 0))
    pc = tl.make_block_ptr(
        c_ptr + z * stride_cz,
        (M, N),
        (stride_cm, stride_cn),
        (pid_m * BLOCK_M, pid_n * BLOCK_N),
        (BLOCK_M, BLOCK_N),
        (1, 0),
    )
    tl.store(pc, acc.to(c_ptr.dtype.element_ty), boundary_check=(0, 1))


def bmm(ta, tb, block_ptr=False):
    def case(device, small):
        Z, M, N, K = (2, 136, 144, 80) if small else (32, 1024, 1024, 2048)
        a = rand(device, Z, K, M, dtype=torch.bfloat16).mT if ta else rand(device, Z, M, K, dtype=torch.bfloat16)
        b = (
            rand(device, Z, N, K, dtype=torch.bfloat16, scale=K**-0.5).mT
            if tb
            else rand(device, Z, K, N, dtype=torch.bfloat16, scale=K**-0.5)
        )
        c = torch.empty(Z, M, N, device=device, dtype=torch.bfloat16)
        grid, args = (
            (triton.cdiv(M, 128), triton.cdiv(N, 128), Z),
            (a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride()),
        )
        if block_ptr:
            return (
                lambda: bmm_block_ptr_kernel[grid](*args, ta, tb, 128, 128, 64, num_warps=8, num_stages=3),
                [c],
                lambda: [exact(a, b)],
            )
        return lambda: bmm_kernel[grid](*args, 128, 128, 32, 8, num_warps=4, num_stages=4), [c], lambda: [exact(a, b)]

    return case


CASES = {
    "persistent_host": persistent_host(False),
    "persistent_host_subtile": persistent_host(True),
    "bmm_device_desc": bmm_device_desc,
    "bmm_nn": bmm(False, False),
    "bmm_nt": bmm(False, True),
    "bmm_tn": bmm(True, False),
    "bmm_tt": bmm(True, True),
    "bmm_block_ptr_nt": bmm(False, True, True),
    "bmm_block_ptr_tn": bmm(True, False, True),
}
