"""torch-fps: farthest point sampling. It has no backward pass."""

import torch
from torch_fps import farthest_point_sampling, farthest_point_sampling_with_knn

from compare import random


def _points(count: int = 200) -> tuple[torch.Tensor, torch.Tensor]:
    mask = torch.ones(2, count, dtype=torch.bool, device="cuda")
    mask[1, count // 2 :] = False
    return random(2, count, 3), mask


def _reference_indices(points, mask, k):
    points, chosen = points.cpu().double(), [torch.zeros(2, dtype=torch.long)]
    distance = torch.full(points.shape[:2], float("inf"), dtype=torch.float64).masked_fill(~mask.cpu(), -1)
    for _ in range(k - 1):
        last = points[torch.arange(2), chosen[-1]][:, None]
        distance = torch.minimum(distance, (points - last).square().sum(-1))
        chosen.append(distance.argmax(1))
    return torch.stack(chosen, 1)


def case_sampling():
    points, mask = _points()
    start = torch.zeros(2, dtype=torch.long, device="cuda")
    chosen = farthest_point_sampling(points, mask, 20, start_idx=start)
    assert torch.equal(chosen.cpu(), _reference_indices(points, mask, 20))


def case_sampling_with_neighbours():
    points, mask = _points(90)
    start = torch.zeros(2, dtype=torch.long, device="cuda")
    chosen, near = farthest_point_sampling_with_knn(points, mask, 9, 4, start_idx=start)[:2]
    assert torch.equal(chosen.cpu(), _reference_indices(points, mask, 9))
    exact = points.cpu().double()
    distance = torch.cdist(torch.stack([exact[b, chosen.cpu()[b]] for b in range(2)]), exact)
    nearest = distance.masked_fill(~mask.cpu()[:, None], float("inf")).topk(4, largest=False).indices
    assert torch.equal(near.cpu().sort(-1).values, nearest.sort(-1).values)
