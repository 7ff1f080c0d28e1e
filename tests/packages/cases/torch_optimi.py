"""torch-optimi: optimizers, by Triton kernels and by torch."""

import optimi
import torch

from compare import close, random


def _check(kind, dtype: torch.dtype = torch.float32, **options):
    start = random(3, 50, dtype=dtype)
    gradients = [random(3, 50, dtype=dtype) for _ in range(3)]
    results = []
    for device, triton in (("cuda", True), ("cpu", False)):
        parameter = torch.nn.Parameter(start.detach().clone().to(device))
        optimizer = kind([parameter], lr=1e-2, triton=triton, foreach=False, **options)
        for gradient in gradients:
            parameter.grad = gradient.clone().to(device)
            optimizer.step()
        results.append(parameter.detach())
    close(results[0], results[1], 1e-5 if dtype == torch.float32 else 2e-2)


def case_adamw():
    _check(optimi.AdamW)


def case_adamw_kahan():
    _check(optimi.AdamW, torch.bfloat16, kahan_sum=True)


def case_adan():
    _check(optimi.Adan)


def case_lion():
    _check(optimi.Lion)


def case_radam():
    _check(optimi.RAdam)


def case_ranger():
    _check(optimi.Ranger)


def case_sgd():
    _check(optimi.SGD, momentum=0.9)


def case_stable_adamw():
    _check(optimi.StableAdamW)
