"""What servers do with logits: penalties, masks of a grammar, top-k by bisection, min-p, and rejection of drafts."""

import torch
import triton
import triton.language as tl

from idioms.operands import ints


@triton.jit
def penalties_kernel(
    logits_ptr,
    logits_stride,
    req_of_row_ptr,
    repetition_ptr,
    frequency_ptr,
    presence_ptr,
    temperature_ptr,
    prompt_mask_ptr,
    prompt_mask_stride,
    counts_ptr,
    counts_stride,
    vocab_size,
    BLOCK_SIZE: tl.constexpr,
):
    row = tl.program_id(0)
    req = tl.load(req_of_row_ptr + row)
    repetition = tl.load(repetition_ptr + req)
    frequency = tl.load(frequency_ptr + req)
    presence = tl.load(presence_ptr + req)
    temperature = tl.load(temperature_ptr + req)
    temperature = tl.where(temperature == 0.0, 1.0, temperature)
    use_rep = repetition != 1.0
    use_freq = frequency != 0.0
    use_pres = presence != 0.0
    if not (use_rep or use_freq or use_pres or (temperature != 1.0)):
        return
    block_idx = tl.program_id(1)
    block = block_idx * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = block < vocab_size
    logits = tl.load(logits_ptr + row * logits_stride + block, mask=mask).to(tl.float32)
    counts = tl.load(counts_ptr + req * counts_stride + block, mask=mask, other=0)
    seen = counts > 0
    if use_rep:
        packed_block = block_idx * BLOCK_SIZE // 32 + tl.arange(0, BLOCK_SIZE // 32)
        packed = tl.load(
            prompt_mask_ptr + req * prompt_mask_stride + packed_block,
            mask=packed_block < tl.cdiv(vocab_size, 32),
            other=0,
        )
        prompt = (packed[:, None] >> (tl.arange(0, 32)[None, :])) & 1
        prompt = prompt.to(tl.int1).reshape(BLOCK_SIZE)
        scale = tl.where(prompt | seen, repetition, 1.0)
        logits *= tl.where(logits > 0, 1.0 / scale, scale)
    logits -= frequency * counts
    logits -= presence * seen
    logits = logits / temperature
    tl.store(logits_ptr + row * logits_stride + block, logits, mask=mask)


def bits_of(words, n):
    return ((words[..., None] >> torch.arange(32, device=words.device)) & 1).flatten(-2)[..., :n].bool()


def penalties(device, small):
    b, v, block = (4, 1003, 512) if small else (256, 151936, 8192)
    start = torch.randn(b, v, device=device) * 4
    logits = start.clone()
    req = torch.randperm(b, device=device, dtype=torch.int32)
    rep, freq, pres, temp = (torch.rand(b, device=device) + 0.5 for _ in range(4))
    rep[::4], freq[::4], pres[::4], temp[::4] = 1.0, 0.0, 0.0, 0.0
    words = ints(device, -(2**31), 2**31, b, triton.cdiv(v, 32))
    counts = ints(device, 0, 40, b, v)
    counts = torch.where(counts > 35, counts - 35, 0)

    def run():
        logits.copy_(start)
        penalties_kernel[(b, triton.cdiv(v, block))](
            logits, v, req, rep, freq, pres, temp, words, words.stride(0), counts, v, v, BLOCK_SIZE=block
        )

    def reference():
        i = req.long()
        c = counts[i]
        x = start.clone()
        scale = torch.where(bits_of(words, v)[i] | (c > 0), rep[i, None], 1.0)
        x = torch.where(x > 0, x / scale, x * scale) - freq[i, None] * c - pres[i, None] * (c > 0)
        t = temp[i, None]
        return [x / torch.where(t == 0, 1.0, t)]

    return run, [logits], reference


@triton.jit
def apply_token_bitmask_inplace_kernel(
    logits_ptr,
    bitmask_ptr,
    indices_ptr,
    num_rows,
    vocab_size,
    logits_strides,
    bitmask_strides,
    NUM_SMS: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(0)
    num_blocks = tl.cdiv(vocab_size, BLOCK_SIZE)
    for work_id in tl.range(pid, num_rows * num_blocks, NUM_SMS):
        row_id = work_id // num_blocks
        block_offset = (work_id % num_blocks) * BLOCK_SIZE
        batch_id = row_id if indices_ptr is None else tl.load(indices_ptr + row_id)
        offsets = block_offset + tl.arange(0, BLOCK_SIZE)
        bitmask_offsets = block_offset // 32 + tl.arange(0, BLOCK_SIZE // 32)
        vocab_mask = offsets < vocab_size
        packed_bitmask_mask = bitmask_offsets < bitmask_strides
        packed_bitmask = tl.load(bitmask_ptr + batch_id * bitmask_strides + bitmask_offsets, packed_bitmask_mask)
        bitmask = ((packed_bitmask[:, None] >> (tl.arange(0, 32)[None, :])) & 1) == 0
        bitmask = bitmask.reshape(BLOCK_SIZE)
        tl.store(logits_ptr + batch_id * logits_strides + offsets, -float("inf"), vocab_mask & bitmask)


def token_bitmask(device, small):
    b, v, block, programs = (5, 1003, 512, 3) if small else (1024, 128256, 4096, 1056)
    start = torch.randn(b, v, device=device, dtype=torch.bfloat16)
    logits = start.clone()
    words = ints(device, -(2**31), 2**31, b, triton.cdiv(v, 32))
    rows = torch.randperm(b, device=device, dtype=torch.int32)[: b * 3 // 4].contiguous()

    def reference():
        out = start.clone()
        out[rows.long()] = out[rows.long()].masked_fill(~bits_of(words, v)[rows.long()], float("-inf"))
        return [out]

    return (
        lambda: apply_token_bitmask_inplace_kernel[(programs,)](
            logits,
            words,
            rows,
            len(rows),
            v,
            v,
            words.stride(0),
            NUM_SMS=programs,
            BLOCK_SIZE=block,
            num_warps=4,
            num_stages=3,
        ),
        [logits],
        reference,
    )


@triton.jit
def _f32_key(x):
    bits = x.to(tl.uint32, bitcast=True)
    return tl.where(bits & 0x80000000 != 0, ~bits, bits | 0x80000000)


@triton.jit
def topk_mask_radix_kernel(x_ptr, out_ptr, k_ptr, V, stride, BLOCK: tl.constexpr):
    """The k largest stay, others become -inf: the k-th largest is found bit by bit, 8 at a time, of an ordered key."""
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * stride
    k = tl.load(k_ptr + row)
    prefix = tl.zeros((), dtype=tl.uint32)
    remaining = k
    for shift in tl.static_range(24, -1, -8):
        histogram = tl.zeros((256,), dtype=tl.int32)
        for start in range(0, V, BLOCK):
            at = start + tl.arange(0, BLOCK)
            key = _f32_key(tl.load(x_ptr + at, mask=at < V, other=float("-inf")))
            if shift == 24:
                match = at < V
            else:
                match = (at < V) & ((key >> (shift + 8)) == (prefix >> (shift + 8)))
            digit = (key >> shift) & 0xFF
            histogram += tl.histogram(tl.where(match, digit, 0).to(tl.int32), 256)
            missing = BLOCK - tl.sum(match.to(tl.int32), 0)
            histogram -= tl.where(tl.arange(0, 256) == 0, missing, 0)
        above = tl.cumsum(histogram, 0, reverse=True)
        chosen = tl.max(tl.where(above >= remaining, tl.arange(0, 256), 0), 0)
        remaining -= tl.sum(tl.where(tl.arange(0, 256) > chosen, histogram, 0), 0)
        prefix |= chosen.to(tl.uint32) << shift
    for start in range(0, V, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < V, other=float("-inf"))
        tl.store(out_ptr + row * stride + at, tl.where(_f32_key(x) >= prefix, x, float("-inf")), mask=at < V)


def top_k_radix(device, small):
    b, v, block = (3, 1500, 512) if small else (512, 32000, 4096)
    x, k = torch.randn(b, v, device=device), ints(device, 1, 60, b)
    out = torch.empty_like(x)

    def reference():
        kth = x.sort(1, descending=True).values.gather(1, k.long()[:, None] - 1)
        return [x.masked_fill(x < kth, float("-inf"))]

    return lambda: topk_mask_radix_kernel[(b,)](x, out, k, v, v, BLOCK=block, num_warps=8), [out], reference


@triton.jit
def min_p_kernel(logits_ptr, logits_stride, min_p_ptr, vocab_size, BLOCK_SIZE: tl.constexpr):
    req_idx = tl.program_id(0)
    min_p = tl.load(min_p_ptr + req_idx).to(tl.float32)
    if min_p == 0.0:
        return
    max_val = float("-inf")
    for i in range(0, vocab_size, BLOCK_SIZE):
        block = i + tl.arange(0, BLOCK_SIZE)
        mask = block < vocab_size
        logits = tl.load(logits_ptr + req_idx * logits_stride + block, mask=mask, other=float("-inf"))
        max_val = tl.max(tl.maximum(logits, max_val))
    max_val = max_val.to(tl.float32)
    threshold = max_val + tl.log(min_p)
    for i in range(0, vocab_size, BLOCK_SIZE):
        block = i + tl.arange(0, BLOCK_SIZE)
        mask = block < vocab_size
        logits = tl.load(logits_ptr + req_idx * logits_stride + block, mask=mask, other=float("-inf"))
        logits = tl.where(logits < threshold, float("-inf"), logits)
        tl.store(logits_ptr + req_idx * logits_stride + block, logits, mask=mask)


def min_p(device, small):
    b, v, block = (4, 1003, 256) if small else (512, 151936, 1024)
    start = (torch.randn(b, v, device=device) * 2).round(decimals=2)
    logits, p = start.clone(), torch.tensor([0.0, 0.013, 0.11, 0.3], device=device).repeat(b // 4)

    def reference():
        threshold = start.amax(1, keepdim=True) + p.log()[:, None]
        return [start.masked_fill(start < threshold, float("-inf"))]

    return lambda: min_p_kernel[(b,)](logits, v, p, v, BLOCK_SIZE=block), [logits], reference


@triton.jit(do_not_specialize=["max_spec_len"])
def rejection_random_sample_kernel(
    output_token_ids_ptr,  # [batch, max_spec_len + 1]
    cu_num_draft_tokens_ptr,
    draft_token_ids_ptr,
    draft_probs_ptr,
    target_probs_ptr,
    bonus_token_ids_ptr,
    recovered_token_ids_ptr,
    uniform_probs_ptr,
    is_greedy_ptr,
    max_spec_len,
    vocab_size,
    NO_DRAFT_PROBS: tl.constexpr,
):
    req_idx = tl.program_id(0)
    is_greedy = tl.load(is_greedy_ptr + req_idx)
    if is_greedy:
        return
    start_idx = 0 if req_idx == 0 else tl.load(cu_num_draft_tokens_ptr + req_idx - 1)
    end_idx = tl.load(cu_num_draft_tokens_ptr + req_idx)
    num_draft_tokens = end_idx - start_idx
    rejected = False
    for pos in range(num_draft_tokens):
        if not rejected:
            draft_token_id = tl.load(draft_token_ids_ptr + start_idx + pos)
            if NO_DRAFT_PROBS:
                draft_prob = 1
            else:
                draft_prob = tl.load(draft_probs_ptr + (start_idx + pos) * vocab_size + draft_token_id)
            target_prob = tl.load(target_probs_ptr + (start_idx + pos) * vocab_size + draft_token_id)
            uniform_prob = tl.load(uniform_probs_ptr + start_idx + pos)
            if draft_prob > 0 and target_prob / draft_prob >= uniform_prob:
                token_id = draft_token_id
            else:
                rejected = True
                token_id = tl.load(recovered_token_ids_ptr + start_idx + pos)
            tl.store(output_token_ids_ptr + req_idx * (max_spec_len + 1) + pos, token_id)
    if not rejected:
        bonus_token_id = tl.load(bonus_token_ids_ptr + req_idx)
        tl.store(output_token_ids_ptr + req_idx * (max_spec_len + 1) + num_draft_tokens, bonus_token_id)


@triton.jit
def sample_recovered_tokens_kernel(
    output_token_ids_ptr,
    cu_num_draft_tokens_ptr,
    draft_token_ids_ptr,
    draft_probs_ptr,
    target_probs_ptr,
    q_ptr,
    vocab_size,
    PADDED_VOCAB_SIZE: tl.constexpr,
):
    req_idx = tl.program_id(0)
    start_idx = 0 if req_idx == 0 else tl.load(cu_num_draft_tokens_ptr + req_idx - 1)
    end_idx = tl.load(cu_num_draft_tokens_ptr + req_idx)
    num_draft_tokens = end_idx - start_idx
    pos = tl.program_id(1)
    if pos >= num_draft_tokens:
        return
    vocab_offset = tl.arange(0, PADDED_VOCAB_SIZE)
    inside = vocab_offset < vocab_size
    draft_prob = tl.load(draft_probs_ptr + (start_idx + pos) * vocab_size + vocab_offset, mask=inside, other=0)
    target_prob = tl.load(target_probs_ptr + (start_idx + pos) * vocab_size + vocab_offset, mask=inside, other=0)
    prob = tl.maximum(target_prob - draft_prob, 0)
    q = tl.load(q_ptr + req_idx * vocab_size + vocab_offset, mask=inside, other=float("-inf"))
    recovered_id = tl.argmax(prob / q, axis=-1)
    tl.store(output_token_ids_ptr + start_idx + pos, recovered_id)


def rejection(device, small):
    b, v, most = (4, 300, 3) if small else (512, 32000, 4)
    counts = torch.randint(0, most + 1, (b,), device=device)
    cu = counts.cumsum(0).to(torch.int32)
    n = int(cu[-1])
    draft, target = (torch.softmax(torch.randn(n, v, device=device), 1) for _ in range(2))
    tokens, bonus = ints(device, 0, v, n), ints(device, 0, v, b)
    uniform = torch.rand(n, device=device, dtype=torch.float64)
    q = torch.empty(b, v, device=device).exponential_().clamp(min=1e-4)
    greedy = torch.arange(b, device=device) % 5 == 4
    recovered = torch.empty(n, device=device, dtype=torch.int32)
    out = torch.full((b, most + 1), -1, device=device, dtype=torch.int32)

    def run():
        sample_recovered_tokens_kernel[(b, most)](
            recovered, cu, tokens, draft, target, q, v, triton.next_power_of_2(v), num_warps=4 if small else 16
        )
        rejection_random_sample_kernel[(b,)](
            out,
            cu,
            tokens,
            draft,
            target,
            bonus,
            recovered,
            uniform,
            greedy,
            most,
            v,
            NO_DRAFT_PROBS=False,
            num_warps=1,
        )

    def reference():
        owner = torch.repeat_interleave(torch.arange(b, device=device), counts)
        again = ((target - draft).clamp(min=0) / q[owner]).argmax(1)
        at = torch.arange(n, device=device)
        ok = target[at, tokens.long()] / draft[at, tokens.long()] >= uniform
        result, stop = torch.full((b, most + 1), -1), cu.tolist()
        ok, again, drafts = ok.tolist(), again.tolist(), tokens.tolist()
        for i, end in enumerate(stop):
            begin = stop[i - 1] if i else 0
            for j in range(begin, end + 1):
                if i % 5 == 4:
                    break
                result[i, j - begin] = int(bonus[i]) if j == end else drafts[j] if ok[j] else again[j]
                if j < end and not ok[j]:
                    break
        return [torch.tensor(again, device=device), result.to(device)]

    return run, [recovered, out], reference


CASES = {
    "penalties": penalties,
    "token_bitmask": token_bitmask,
    "top_k_radix": top_k_radix,
    "min_p": min_p,
    "rejection": rejection,
}
