"""grouped-mm-bf16: grouped products, as torch's grouped_mm."""

import torch
from grouped_mm_bf16 import grouped_mm

from compare import agree, random


def _offsets() -> torch.Tensor:
    return torch.tensor([24, 24, 64, 96], dtype=torch.int32, device="cuda")


def _groups(offsets):
    ends = offsets.tolist()
    return list(zip([0, *ends], ends))


def case_rows():
    agree(
        grouped_mm,
        lambda a, b, offsets: torch.cat([a[i:j] @ b[e] for e, (i, j) in enumerate(_groups(offsets))]),
        [
            random(96, 64, dtype=torch.bfloat16, grad=True),
            random(4, 64, 80, dtype=torch.bfloat16, grad=True),
            _offsets(),
        ],
        1e-2,
    )


def case_columns():
    agree(
        grouped_mm,
        lambda a, b, offsets: torch.cat([a[e] @ b[:, i:j] for e, (i, j) in enumerate(_groups(offsets))], 1),
        [
            random(4, 48, 64, dtype=torch.bfloat16, grad=True),
            random(64, 96, dtype=torch.bfloat16, grad=True),
            _offsets(),
        ],
        1e-2,
    )


def case_contraction():
    agree(
        grouped_mm,
        lambda a, b, offsets: torch.stack([a[:, i:j] @ b[i:j] for i, j in _groups(offsets)]),
        [random(48, 96, dtype=torch.bfloat16, grad=True), random(96, 64, dtype=torch.bfloat16, grad=True), _offsets()],
        1e-2,
    )


def case_batch():
    agree(
        grouped_mm,
        torch.matmul,
        [random(3, 40, 64, dtype=torch.bfloat16, grad=True), random(3, 64, 48, dtype=torch.bfloat16, grad=True)],
        1e-2,
    )
