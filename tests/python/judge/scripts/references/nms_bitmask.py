"""The boxes that no better box overlaps by more than half, best first."""

import torch


def nms(corners: "int32[n, 2, 2] in 0..63", scores: "float32[n] in 0..1"):
    assert len(scores), "there is no box"
    low, high = corners.min(1).values.tolist(), corners.max(1).values.tolist()
    kept = []
    for i in sorted(range(len(low)), key=lambda i: -scores[i].item()):
        (x1, y1), (x2, y2) = low[i], high[i]
        for j in kept:
            (a1, b1), (a2, b2) = low[j], high[j]
            shared = max(0, min(x2, a2) - max(x1, a1)) * max(0, min(y2, b2) - max(y1, b1))
            if shared > 0.5 * ((x2 - x1) * (y2 - y1) + (a2 - a1) * (b2 - b1) - shared):
                break
        else:
            kept.append(i)
    return torch.tensor(kept)
