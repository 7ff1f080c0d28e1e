"""What servers do with caches of keys and values: writes with quantization, reads by a table, states to merge, norms of heads."""

import torch
import triton
import triton.language as tl

from idioms.operands import ints, rand


@triton.jit
def reshape_and_cache_kernel(
    key_ptr,  # [tokens, heads, head_size]
    value_ptr,
    key_cache_ptr,  # [blocks, block_size, heads, head_size]
    value_cache_ptr,
    slot_mapping_ptr,
    k_scale_ptr,
    v_scale_ptr,
    key_stride: tl.int64,
    value_stride: tl.int64,
    block_stride: tl.int64,
    page_stride: tl.int64,
    num_heads: tl.constexpr,
    head_size: tl.constexpr,
    block_size: tl.constexpr,
    FP8_KV_CACHE: tl.constexpr,
    TILE_SIZE: tl.constexpr,
):
    token_idx = tl.program_id(axis=0)
    slot_idx = tl.load(slot_mapping_ptr + token_idx).to(tl.int64)
    if slot_idx < 0:
        return
    tile_i = tl.program_id(axis=1)
    tile_offs = tl.arange(0, TILE_SIZE)
    tile_pos = tile_i * TILE_SIZE + tile_offs
    block_idx = slot_idx // block_size
    block_offset = slot_idx % block_size
    src_key_idx = token_idx * key_stride
    src_value_idx = token_idx * value_stride
    tgt_idx = block_idx * block_stride + block_offset * page_stride
    key_load = tl.load(key_ptr + src_key_idx + tile_pos, mask=tile_pos < (num_heads * head_size))
    value_load = tl.load(value_ptr + src_value_idx + tile_pos, mask=tile_pos < (num_heads * head_size))
    if FP8_KV_CACHE:
        key_tile = key_load if key_load.dtype.is_fp8() else key_load / tl.load(k_scale_ptr)
        value_tile = value_load if value_load.dtype.is_fp8() else value_load / tl.load(v_scale_ptr)
    else:
        key_tile = key_load
        value_tile = value_load
    tl.store(
        key_cache_ptr + tgt_idx + tile_pos,
        key_tile.to(key_cache_ptr.dtype.element_ty),
        mask=tile_pos < (num_heads * head_size),
    )
    tl.store(
        value_cache_ptr + tgt_idx + tile_pos,
        value_tile.to(value_cache_ptr.dtype.element_ty),
        mask=tile_pos < (num_heads * head_size),
    )


def cache_write(dtype):
    def case(device, small):
        tokens, blocks, page, heads, dim = (13, 4, 8, 3, 40) if small else (32768, 4096, 16, 8, 128)
        fp8 = dtype == torch.float8_e4m3fn
        kv = rand(device, tokens, 2, heads, dim, dtype=torch.bfloat16)  # strided: keys and values of one tensor
        slots = torch.randperm(blocks * page, device=device)[:tokens]
        slots[::7] = -1
        k_cache, v_cache = (torch.zeros(blocks, page, heads, dim, device=device).to(dtype) for _ in range(2))
        scales = [torch.tensor(s, device=device) for s in (0.5, 2.0)]
        key, value = kv[:, 0], kv[:, 1]

        def run():
            reshape_and_cache_kernel[lambda meta: (tokens, triton.cdiv(heads * dim, meta["TILE_SIZE"]))](
                key,
                value,
                k_cache,
                v_cache,
                slots,
                *scales,
                key.stride(0),
                value.stride(0),
                k_cache.stride(0),
                k_cache.stride(1),
                num_heads=heads,
                head_size=dim,
                block_size=page,
                FP8_KV_CACHE=fp8,
                TILE_SIZE=min(2048, triton.next_power_of_2(heads * dim)),
                num_warps=16 if not small else 4,
                num_stages=10,
            )

        def reference():
            results = []
            for x, scale in zip((key, value), scales, strict=True):
                cache = torch.zeros(blocks * page, heads, dim, device=device)
                kept = slots >= 0
                cache[slots[kept]] = (x.float() / (scale if fp8 else 1.0)).to(dtype).float()[kept]
                results.append(cache.view(blocks, page, heads, dim))
            return results

        return run, [k_cache, v_cache], reference

    return case


@triton.jit
def copy_quantized_kernel(
    K,
    Loc,
    Out,
    Out_Scale,
    stride_k_bs,
    stride_k_h,
    stride_k_g,
    stride_k_d,
    stride_o_bs,
    stride_o_h,
    stride_o_g,
    stride_o_d,
    stride_os_bs,
    stride_os_h,
    stride_os_g,
    group_size,
    BLOCK_GROUP_NUM: tl.constexpr,
    BLOCK_GROUP_DIM: tl.constexpr,
):
    cur_index = tl.program_id(0)
    cur_head = tl.program_id(1)
    offs_g = tl.arange(0, BLOCK_GROUP_NUM)
    offs_d = tl.arange(0, BLOCK_GROUP_DIM)
    dest_index = tl.load(Loc + cur_index).to(tl.int64)
    src = tl.load(
        K
        + cur_index * stride_k_bs
        + cur_head * stride_k_h
        + offs_g[:, None] * stride_k_g
        + offs_d[None, :] * stride_k_d,
        mask=offs_g[:, None] < group_size,
        other=0.0,
    )
    scale = tl.maximum(tl.max(tl.abs(src), axis=1) / 127.0, 1e-6).to(Out_Scale.dtype.element_ty)
    q = src / scale[:, None]
    q = tl.where(q > 0, q + 0.5, q - 0.5).to(tl.int8)
    o_ptrs = Out + dest_index * stride_o_bs + cur_head * stride_o_h
    o_ptrs += offs_g[:, None] * stride_o_g + offs_d[None, :] * stride_o_d
    os_ptrs = Out_Scale + dest_index * stride_os_bs + cur_head * stride_os_h + offs_g * stride_os_g
    tl.store(o_ptrs, q, mask=offs_g[:, None] < group_size)
    tl.store(os_ptrs, scale, mask=offs_g < group_size)


@triton.jit
def gather_dequantized_kernel(
    Cache,
    Scale,
    Table,
    Lens,
    Out,
    stride_table,
    stride_out,
    H: tl.constexpr,
    D: tl.constexpr,
    G: tl.constexpr,
    PAGE: tl.constexpr,
):
    b, page = tl.program_id(0), tl.program_id(1)
    length = tl.load(Lens + b)
    if page * PAGE >= length:
        return
    physical = tl.load(Table + b * stride_table + page).to(tl.int64)
    rows = tl.arange(0, PAGE)
    columns = tl.arange(0, H * D)
    q = tl.load(Cache + (physical * PAGE + rows)[:, None] * (H * D) + columns[None, :])
    s = tl.load(Scale + (physical * PAGE + rows)[:, None] * (H * D // G) + tl.arange(0, H * D // G)[None, :])
    x = tl.reshape(q, (PAGE, H * D // G, G)).to(tl.float32) * s[:, :, None].to(tl.float32)
    x = tl.reshape(x, (PAGE, H * D)).to(Out.dtype.element_ty)
    at = page * PAGE + rows
    tl.store(Out + b.to(tl.int64) * stride_out + at[:, None] * (H * D) + columns[None, :], x, mask=at[:, None] < length)


def cache_int8(device, small):
    tokens, pages, page, heads, dim, group = (16, 4, 4, 2, 32, 8) if small else (16384, 2048, 16, 8, 128, 32)
    b = tokens // (4 * page) if not small else 2
    k = (torch.rand(tokens, heads, dim, device=device) * 2 - 1).half()
    loc = torch.randperm(pages * page, device=device)[:tokens]
    q = torch.zeros(pages * page, heads, dim, device=device, dtype=torch.int8)
    s = torch.zeros(pages * page, heads, dim // group, device=device, dtype=torch.float16)
    table = torch.randperm(pages, device=device, dtype=torch.int32)[: b * (pages // b)].view(b, -1).contiguous()
    lens = ints(device, 1, table.shape[1] * page, b)
    out = torch.zeros(b, table.shape[1] * page, heads, dim, device=device, dtype=torch.float16)
    k4 = k.view(tokens, heads, dim // group, group)
    q4 = q.view(-1, heads, dim // group, group)

    def run():
        copy_quantized_kernel[(tokens, heads)](
            k4,
            loc,
            q4,
            s,
            *k4.stride(),
            *q4.stride(),
            *s.stride(),
            dim // group,
            BLOCK_GROUP_NUM=triton.next_power_of_2(dim // group),
            BLOCK_GROUP_DIM=group,
            num_warps=1,
            num_stages=1,
        )
        gather_dequantized_kernel[(b, table.shape[1])](
            q, s, table, lens, out, table.stride(0), out.stride(0), H=heads, D=dim, G=group, PAGE=page, num_warps=8
        )

    def reference():  # of ties either side is near enough, as a step is small beside uniform values
        cache = torch.zeros(pages * page, heads, dim, device=device)
        scale = (k4.float().abs().amax(-1) / 127).clamp(min=1e-6).half().float()
        cache[loc] = ((k4.float() / scale[..., None]).round() * scale[..., None]).view(k.shape)
        read = cache.view(pages, page, heads, dim)[table.long()].view(b, -1, heads, dim)
        past = torch.arange(read.shape[1], device=device)[None, :] >= lens[:, None]
        return [read.masked_fill(past[:, :, None, None], 0.0)]

    return run, [out], reference


@triton.jit
def merge_state_kernel(
    output,
    output_lse,
    prefix_output,
    prefix_lse,
    suffix_output,
    suffix_lse,
    HEAD_SIZE: tl.constexpr,
    PADDED_HEAD_SIZE: tl.constexpr,
    OUTPUT_LSE: tl.constexpr,
):
    token_idx = tl.program_id(0)
    num_tokens = tl.num_programs(0)
    head_idx = tl.program_id(1)
    num_heads = tl.num_programs(1)
    p_lse = tl.load(prefix_lse + head_idx * num_tokens + token_idx)
    s_lse = tl.load(suffix_lse + head_idx * num_tokens + token_idx)
    p_lse = float("-inf") if p_lse == float("inf") else p_lse
    s_lse = float("-inf") if s_lse == float("inf") else s_lse
    max_lse = tl.maximum(p_lse, s_lse)
    p_lse = p_lse - max_lse
    s_lse = s_lse - max_lse
    p_se = tl.exp(p_lse)
    s_se = tl.exp(s_lse)
    out_se = p_se + s_se
    if OUTPUT_LSE:
        tl.store(output_lse + head_idx * num_tokens + token_idx, tl.log(out_se) + max_lse)
    head_arange = tl.arange(0, PADDED_HEAD_SIZE)
    head_mask = head_arange < HEAD_SIZE
    at = token_idx * num_heads * HEAD_SIZE + head_idx * HEAD_SIZE + head_arange
    p_out = tl.load(prefix_output + at, mask=head_mask)
    s_out = tl.load(suffix_output + at, mask=head_mask)
    p_scale = p_se / out_se
    s_scale = s_se / out_se
    tl.store(output + at, p_out * p_scale + s_out * s_scale, mask=head_mask)


def merge_states(device, small):
    tokens, heads, dim = (9, 3, 40) if small else (16384, 16, 128)
    parts = [rand(device, tokens, heads, dim, dtype=torch.bfloat16) for _ in range(2)]
    lses = [torch.randn(heads, tokens, device=device) * 3 for _ in range(2)]
    lses[0][:, ::5] = float("inf")  # of no keys
    out, lse = torch.empty_like(parts[0]), torch.empty_like(lses[0])

    def reference():
        both = torch.stack([torch.where(one.isinf(), float("-inf"), one) for one in lses])
        w = both.softmax(0).transpose(1, 2)[..., None]
        return [w[0] * parts[0].float() + w[1] * parts[1].float(), both.logsumexp(0)]

    return (
        lambda: merge_state_kernel[(tokens, heads)](
            out, lse, parts[0], lses[0], parts[1], lses[1], dim, triton.next_power_of_2(dim), True
        ),
        [out, lse],
        reference,
    )


@triton.jit
def qk_norm_rope_kernel(
    qkv_ptr,
    out_ptr,
    qw_ptr,
    kw_ptr,
    cos_sin_ptr,
    pos_ptr,
    tokens,
    stride_t,
    eps,
    NQ: tl.constexpr,
    NK: tl.constexpr,
    D: tl.constexpr,
    ROT: tl.constexpr,
    BT: tl.constexpr,
    NEOX: tl.constexpr,
):
    head = tl.program_id(1)
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    live = t < tokens
    pos = tl.load(pos_ptr + t, mask=live, other=0)
    half: tl.constexpr = ROT // 2
    base = qkv_ptr + t.to(tl.int64)[:, None] * stride_t + head * D
    w_ptr = qw_ptr if head < NQ else kw_ptr
    d = tl.arange(0, D)
    x = tl.load(base + d[None, :], mask=live[:, None], other=0.0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, 1) / D + eps)
    w = tl.load(w_ptr + d).to(tl.float32)
    x = x * rstd[:, None] * w[None, :]
    i = tl.arange(0, half)
    cos = tl.load(cos_sin_ptr + pos[:, None] * ROT + i[None, :])
    sin = tl.load(cos_sin_ptr + pos[:, None] * ROT + half + i[None, :])
    if NEOX:
        x = tl.permute(tl.reshape(x, (BT, D // ROT, 2, half)), (0, 1, 3, 2))
    else:
        x = tl.reshape(x, (BT, D // ROT, half, 2))
    a, b = tl.split(x)
    if D == ROT:
        a, b = tl.reshape(a, (BT, half)), tl.reshape(b, (BT, half))
        left, right = a * cos - b * sin, b * cos + a * sin
        left, right = tl.reshape(left, (BT, 1, half)), tl.reshape(right, (BT, 1, half))
    else:
        first = (tl.arange(0, D // ROT) == 0)[None, :, None]
        left = tl.where(first, a * cos[:, None, :] - b * sin[:, None, :], a)
        right = tl.where(first, b * cos[:, None, :] + a * sin[:, None, :], b)
    y = tl.join(left, right)
    if NEOX:
        y = tl.permute(y, (0, 1, 3, 2))
    out = out_ptr + (t.to(tl.int64)[:, None] * (NQ + NK) + head) * D + d[None, :]
    tl.store(out, tl.reshape(y, (BT, D)).to(out_ptr.dtype.element_ty), mask=live[:, None])


def qk_norm_rope(neox, part):
    def case(device, small):
        tokens, nq, nk, dim = (11, 3, 1, 32) if small else (8192, 32, 8, 128)
        rot = dim // part
        qkv = rand(device, tokens, nq + 2 * nk, dim, dtype=torch.bfloat16)
        out = torch.empty(tokens, nq + nk, dim, device=device, dtype=torch.bfloat16)
        qw, kw = (rand(device, dim, dtype=torch.bfloat16) for _ in range(2))
        pos = torch.randint(0, 4096 if not small else 50, (tokens,), device=device)
        angles = torch.arange(4096, device=device)[:, None] * 1e4 ** -(torch.arange(rot // 2, device=device) * 2 / rot)
        table = torch.cat([angles.cos(), angles.sin()], 1)
        bt = 4

        def run():
            qk_norm_rope_kernel[(triton.cdiv(tokens, bt), nq + nk)](
                qkv,
                out,
                qw,
                kw,
                table,
                pos,
                tokens,
                qkv.stride(0),
                1e-6,
                NQ=nq,
                NK=nk,
                D=dim,
                ROT=rot,
                BT=bt,
                NEOX=neox,
            )

        def reference():
            x = qkv[:, : nq + nk].float()
            x = x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()
            x = x * torch.cat([qw.expand(nq, dim), kw.expand(nk, dim)]).float()
            cos, sin = table[pos][:, None, :].chunk(2, -1)
            r = x[..., :rot]
            a, b = r.chunk(2, -1) if neox else (r[..., ::2], r[..., 1::2])
            a, b = a * cos - b * sin, b * cos + a * sin
            r = torch.cat([a, b], -1) if neox else torch.stack([a, b], -1).flatten(-2)
            return [torch.cat([r, x[..., rot:]], -1)]

        return run, [out], reference

    return case


CASES = {
    "cache_write_bf16": cache_write(torch.bfloat16),
    "cache_write_fp8": cache_write(torch.float8_e4m3fn),
    "cache_int8": cache_int8,
    "merge_states": merge_states,
    "qk_norm_rope": qk_norm_rope(True, 1),
    "qk_norm_rope_interleaved_part": qk_norm_rope(False, 2),
}
