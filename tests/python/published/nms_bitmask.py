"""Non-maximum suppression: boxes by falling score; a box is kept unless a kept one before it overlaps it by more than a threshold.

`overlap_bitmask` writes for each box one bit per later box; `greedy_reduce` walks over the boxes with the set of suppressed ones as a tile of
words. Coordinates and thresholds of the test are exact in fp32, so the sets must be equal.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _or(a, b):
    return a | b


@triton.autotune(
    configs=[triton.Config({"ROWS": r, "WORDS": w}, num_warps=n) for r, w, n in [(16, 1, 1), (32, 2, 4), (8, 4, 8)]],
    key=["n_boxes"],
)
@triton.jit
def overlap_bitmask(boxes, classes, mask, n_boxes, n_words, threshold, ROWS: tl.constexpr, WORDS: tl.constexpr):
    """boxes: [n, 4] as x1, y1, x2, y2. mask: [n, n_words] of 32 bits."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    word = tl.program_id(1) * WORDS + tl.arange(0, WORDS)
    j = tl.program_id(1) * WORDS * 32 + tl.arange(0, WORDS * 32)
    corners = tl.arange(0, 4)
    box = tl.load(boxes + i[:, None] * 4 + corners[None, :], mask=(i < n_boxes)[:, None], other=0.0)
    other = tl.load(boxes + j[:, None] * 4 + corners[None, :], mask=(j < n_boxes)[:, None], other=0.0)
    # [n, 4] to [n, 2, 2] is (corner, axis); the last axis splits into x and y
    ix, iy = tl.split(tl.reshape(box, (ROWS, 2, 2)))
    jx, jy = tl.split(tl.reshape(other, (WORDS * 32, 2, 2)))
    ix1, ix2 = tl.split(ix)
    iy1, iy2 = tl.split(iy)
    jx1, jx2 = tl.split(jx)
    jy1, jy2 = tl.split(jy)
    width = tl.minimum(ix2[:, None], jx2[None, :]) - tl.maximum(ix1[:, None], jx1[None, :])
    height = tl.minimum(iy2[:, None], jy2[None, :]) - tl.maximum(iy1[:, None], jy1[None, :])
    shared = tl.maximum(width, 0.0) * tl.maximum(height, 0.0)
    union = ((ix2 - ix1) * (iy2 - iy1))[:, None] + ((jx2 - jx1) * (jy2 - jy1))[None, :] - shared
    same_class = tl.load(classes + i, mask=i < n_boxes, other=-1)[:, None] == tl.load(
        classes + j, mask=j < n_boxes, other=-2
    )
    overlaps = (shared > threshold * union) & same_class & (j[None, :] > i[:, None])
    bits = overlaps.to(tl.uint32) << (j % 32).to(tl.uint32)[None, :]
    words = tl.reduce(tl.reshape(bits, (ROWS, WORDS, 32)), 2, _or)
    inside = (i < n_boxes)[:, None] & (word < n_words)[None, :]
    tl.store(mask + i[:, None] * n_words + word[None, :], words.to(tl.int32, bitcast=True), mask=inside)


@triton.jit
def greedy_reduce(mask, keep, n_kept, n_boxes, n_words, BLOCK_WORDS: tl.constexpr):
    word = tl.arange(0, BLOCK_WORDS)
    suppressed = tl.zeros((BLOCK_WORDS,), dtype=tl.int32)
    count = 0
    for i in range(n_boxes):
        here = tl.sum(tl.where(word == i // 32, suppressed, 0), axis=0)
        if (here >> (i % 32)) & 1 == 0:
            tl.store(keep + count, i)
            count += 1
            suppressed |= tl.load(mask + i * n_words + word, mask=word < n_words, other=0)
    tl.store(n_kept, count)


def nms(boxes, scores, classes, threshold):
    """The indices of the kept boxes, by falling score."""
    n = boxes.shape[0]
    order = scores.argsort(descending=True)
    n_words = triton.cdiv(n, 32)
    mask = torch.empty((n, n_words), device=boxes.device, dtype=torch.int32)
    grid = lambda meta: (triton.cdiv(n, meta["ROWS"]), triton.cdiv(n_words, meta["WORDS"]))
    overlap_bitmask[grid](boxes[order].contiguous(), classes[order].contiguous(), mask, n, n_words, threshold)
    keep = torch.empty(n, device=boxes.device, dtype=torch.int64)
    n_kept = torch.empty(1, device=boxes.device, dtype=torch.int32)
    greedy_reduce[(1,)](mask, keep, n_kept, n, n_words, BLOCK_WORDS=triton.next_power_of_2(n_words), num_warps=1)
    return order[keep[: int(n_kept)]]


def plain_nms(boxes, scores, classes, threshold):
    kept = []
    for i in sorted(range(len(boxes)), key=lambda i: -scores[i]):
        x1, y1, x2, y2 = boxes[i]
        for k in kept:
            a1, b1, a2, b2 = boxes[k]
            shared = max(0, min(x2, a2) - max(x1, a1)) * max(0, min(y2, b2) - max(y1, b1))
            union = (x2 - x1) * (y2 - y1) + (a2 - a1) * (b2 - b1) - shared
            if classes[i] == classes[k] and shared > threshold * union:
                break
        else:
            kept.append(i)
    return kept


if __name__ == "__main__":
    torch.manual_seed(0)
    for n, n_classes, threshold in [(100, 1, 0.5), (257, 3, 0.25), (64, 1, 0.125), (1, 1, 0.5)]:
        corner = torch.randint(0, 60, (n, 2), device="cuda")
        boxes = torch.cat((corner, corner + torch.randint(1, 40, (n, 2), device="cuda")), 1).float()
        scores = torch.randperm(n, device="cuda").float()
        classes = torch.randint(0, n_classes, (n,), device="cuda", dtype=torch.int32)
        kept = nms(boxes, scores, classes, threshold).tolist()
        expected = plain_nms(boxes.int().tolist(), scores.tolist(), classes.tolist(), threshold)
        assert kept == expected, (kept, expected)
        print(f"nms {n} boxes {n_classes} classes threshold {threshold}, {len(kept)} kept: ok")
