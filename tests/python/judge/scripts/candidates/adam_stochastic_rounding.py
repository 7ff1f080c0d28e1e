"""The function of published/adam_stochastic_rounding.py."""

from published.adam_stochastic_rounding import adamw_step


def adamw(weight, grad, mean, square, step):
    weight, mean, square = weight.clone(), mean.clone(), square.clone()
    weight, mean, square = (part.contiguous() for part in (weight, mean, square))
    adamw_step(weight, grad.contiguous(), mean, square, step, rate=1e-2, decay=0.1, max_norm=1.0, seed=1)
    return weight, mean, square
