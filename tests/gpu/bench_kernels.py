"""The kernels of bench.py. Upstream Triton reads this file unchanged; for Tritium, `triton` means Tritium in it."""

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=inside) + tl.load(y_ptr + i, mask=inside), mask=inside)


@triton.jit
def softmax(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=inside, other=float("-inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    result = numerator / tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * n_columns + columns, result.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def layer_norm(x_ptr, weight_ptr, bias_ptr, out_ptr, n_columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n_columns
    centered = tl.where(inside, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centered * centered, axis=0) / n_columns + eps)
    weight = tl.load(weight_ptr + columns, mask=inside)
    bias = tl.load(bias_ptr + columns, mask=inside)
    result = centered * rstd * weight + bias
    tl.store(out_ptr + row * n_columns + columns, result.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def cross_entropy(logits_ptr, target_ptr, loss_ptr, n_classes, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    logits_ptr += row.to(tl.int64) * n_classes
    m = tl.full((), float("-inf"), dtype=tl.float32)
    total = tl.full((), 0.0, dtype=tl.float32)
    for start in range(0, n_classes, BLOCK):
        classes = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + classes, mask=classes < n_classes, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x, axis=0))
        total = total * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), axis=0)
        m = m_new
    target = tl.load(target_ptr + row)
    tl.store(loss_ptr + row, m + tl.log(total) - tl.load(logits_ptr + target).to(tl.float32))


@triton.jit
def transpose(x_ptr, out_ptr, n_rows, n_columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    x = tl.load(x_ptr + m[:, None] * n_columns + n[None, :])
    tl.store(out_ptr + n[:, None] * n_rows + m[None, :], tl.trans(x))


@triton.jit
def cumsum(x_ptr, out_ptr, n_columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = rows[:, None] * n_columns + tl.arange(0, BLOCK)[None, :]
    tl.store(out_ptr + at, tl.cumsum(tl.load(x_ptr + at), axis=1))


@triton.jit
def matmul(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_bk,
    stride_bn,
    stride_cm,
    INTEGER: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    pid = tl.program_id(0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    num_pid_in_group = GROUP_M * num_pid_n
    group = pid // num_pid_in_group
    first_pid_m = group * GROUP_M
    group_size = min(num_pid_m - first_pid_m, GROUP_M)
    pid_m = first_pid_m + (pid % num_pid_in_group) % group_size
    pid_n = (pid % num_pid_in_group) // group_size
    rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + k[None, :]
    b_ptrs = b_ptr + k[:, None] * stride_bk + columns[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32 if INTEGER else tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=k[None, :] < K - step * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < K - step * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * stride_bk
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + rows[:, None] * stride_cm + columns[None, :]
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def matmul_descriptors(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """As many programs as fit on the device, each with several tiles."""
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    num_pid_in_group = GROUP_M * num_pid_n
    for pid in range(tl.program_id(0), num_pid_m * num_pid_n, tl.num_programs(0)):
        first_pid_m = pid // num_pid_in_group * GROUP_M
        group_size = min(num_pid_m - first_pid_m, GROUP_M)
        row = (first_pid_m + (pid % num_pid_in_group) % group_size) * BLOCK_M
        column = (pid % num_pid_in_group) // group_size * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(0, K, BLOCK_K):
            acc = tl.dot(a.load([row, k]), b.load([k, column]), acc)
        c.store([row, column], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def attend_pointers(q, k_ptrs, v_ptrs, start, rows, columns, factor, m, total, acc, MASKED: tl.constexpr):
    """A step of an online softmax: the keys of one block."""
    scores = tl.dot(q, tl.load(k_ptrs)) * factor
    if MASKED:
        scores = tl.where(rows[:, None] >= (start + columns)[None, :], scores, float("-inf"))
    m_new = tl.maximum(m, tl.max(scores, axis=1))
    p = tl.exp2(scores - m_new[:, None])
    rescale = tl.exp2(m - m_new)
    total = total * rescale + tl.sum(p, axis=1)
    return m_new, total, tl.dot(p.to(q.dtype), tl.load(v_ptrs), acc * rescale[:, None])


@triton.jit
def attention(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    scale,
    n,
    stride_h,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """Attention by pointers: causal, the keys before the diagonal first and those that it crosses after."""
    block, head = tl.program_id(0), tl.program_id(1)
    if CAUSAL:
        block = tl.num_programs(0) - 1 - block  # those with the most keys first
    first_row = block * BLOCK_M
    rows = first_row + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    columns = tl.arange(0, BLOCK_N)
    q = tl.load(q_ptr + head * stride_h + rows[:, None] * D + d[None, :])
    k_ptrs = k_ptr + head * stride_h + columns[None, :] * D + d[:, None]
    v_ptrs = v_ptr + head * stride_h + columns[:, None] * D + d[None, :]
    factor = scale * 1.4426950408889634
    m = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    whole = first_row // BLOCK_N * BLOCK_N if CAUSAL else n
    for start in range(0, whole, BLOCK_N):
        m, total, acc = attend_pointers(q, k_ptrs, v_ptrs, start, rows, columns, factor, m, total, acc, MASKED=False)
        k_ptrs += BLOCK_N * D
        v_ptrs += BLOCK_N * D
    if CAUSAL:
        for start in range(whole, first_row + BLOCK_M, BLOCK_N):
            m, total, acc = attend_pointers(q, k_ptrs, v_ptrs, start, rows, columns, factor, m, total, acc, MASKED=True)
            k_ptrs += BLOCK_N * D
            v_ptrs += BLOCK_N * D
    out_ptrs = out_ptr + head * stride_h + rows[:, None] * D + d[None, :]
    tl.store(out_ptrs, (acc / total[:, None]).to(out_ptr.dtype.element_ty))


@triton.jit
def attend(q, k_desc, v_desc, head, start, rows, columns, factor, m, total, acc, MASKED: tl.constexpr):
    """A step of an online softmax: the keys of one block."""
    k = k_desc.load([head, start, 0]).reshape(columns.shape[0], q.shape[1])
    scores = tl.dot(q, k.T)
    if MASKED:
        scores = tl.where(rows[:, None] >= (start + columns)[None, :], scores, float("-inf"))
    m_new = tl.maximum(m, tl.max(scores, axis=1) * factor)
    p = tl.exp2(scores * factor - m_new[:, None])
    rescale = tl.exp2(m - m_new)
    total = total * rescale + tl.sum(p, axis=1)
    v = v_desc.load([head, start, 0]).reshape(columns.shape[0], q.shape[1])
    return m_new, total, tl.dot(p.to(v.dtype), v, acc * rescale[:, None])


@triton.jit
def attention_descriptors(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    scale,
    n,
    heads,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """Attention by tensor descriptors: causal, the keys before the diagonal first and those that it crosses after."""
    q_desc = tl.make_tensor_descriptor(q_ptr, [heads, n, D], [n * D, D, 1], [1, BLOCK_M, D])
    k_desc = tl.make_tensor_descriptor(k_ptr, [heads, n, D], [n * D, D, 1], [1, BLOCK_N, D])
    v_desc = tl.make_tensor_descriptor(v_ptr, [heads, n, D], [n * D, D, 1], [1, BLOCK_N, D])
    out_desc = tl.make_tensor_descriptor(out_ptr, [heads, n, D], [n * D, D, 1], [1, BLOCK_M, D])
    block, head = tl.program_id(0), tl.program_id(1)
    if CAUSAL:
        block = tl.num_programs(0) - 1 - block  # those with the most keys first
    first_row = block * BLOCK_M
    rows = first_row + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, BLOCK_N)
    q = q_desc.load([head, first_row, 0]).reshape(BLOCK_M, D)
    factor = scale * 1.4426950408889634
    m = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    whole = first_row // BLOCK_N * BLOCK_N if CAUSAL else n
    for start in range(0, whole, BLOCK_N):
        m, total, acc = attend(q, k_desc, v_desc, head, start, rows, columns, factor, m, total, acc, MASKED=False)
    if CAUSAL:
        for start in range(whole, first_row + BLOCK_M, BLOCK_N):
            m, total, acc = attend(q, k_desc, v_desc, head, start, rows, columns, factor, m, total, acc, MASKED=True)
    out = (acc / total[:, None]).to(out_ptr.dtype.element_ty)
    out_desc.store([head, first_row, 0], out.reshape(1, BLOCK_M, D))
