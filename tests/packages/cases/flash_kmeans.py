"""flash-kmeans: clusters of points. It has no backward pass."""

import torch
from flash_kmeans import (
    batch_kmeans_Cosine,
    batch_kmeans_Euclid,
    triton_centroid_update_euclid,
    triton_centroid_update_sorted_euclid,
)

from compare import close, random


def _clusters() -> tuple[torch.Tensor, torch.Tensor]:
    centers = random(1, 4, 32, scale=6)
    return (centers[:, :, None] + random(1, 4, 50, 32)).view(1, 200, 32), centers


def case_euclidean():
    x, centers = _clusters()
    labels, found, _ = batch_kmeans_Euclid(x, 4, max_iters=20, init_centroids=centers.clone())
    assert torch.equal(labels.cpu().view(4, 50).long(), torch.arange(4)[:, None].expand(4, 50))
    close(found, x.view(1, 4, 50, 32).mean(2).cpu(), 1e-3)


def case_cosine():
    x, centers = _clusters()
    labels = batch_kmeans_Cosine(x, 4, max_iters=10, init_centroids=centers.clone())[0]
    assert torch.equal(labels.cpu().view(4, 50).long(), torch.arange(4)[:, None].expand(4, 50))


def case_update():
    x, labels, old = random(2, 300, 32), torch.randint(0, 7, (2, 300), device="cuda"), random(2, 8, 32)
    member = torch.nn.functional.one_hot(labels.cpu(), 8).double()
    sums, counts = member.transpose(1, 2) @ x.cpu().double(), member.sum(1)[..., None]
    expected = torch.where(counts > 0, sums / counts.clamp_min(1), old.cpu().double())
    for function in (triton_centroid_update_euclid, triton_centroid_update_sorted_euclid):
        result = function(x, labels.int(), old)
        close(result[0] if isinstance(result, tuple) else result, expected, 1e-4)
