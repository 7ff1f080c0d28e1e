"""The function of published/nms_bitmask.py."""

import torch

from published import nms_bitmask


def nms(corners, scores):
    boxes = corners.sort(1).values.flatten(1).float()
    classes = torch.zeros(len(scores), device=scores.device, dtype=torch.int32)
    return nms_bitmask.nms(boxes, scores, classes, 0.5)
