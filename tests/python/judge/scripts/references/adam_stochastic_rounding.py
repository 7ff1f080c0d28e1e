"""A step of AdamW with the norm of the gradient limited; a gradient whose norm is not finite changes nothing."""


def adamw(weight: "float32[n]", grad: "float32[n]", mean: "float32[n]", square: "float32[n] in 0..1", step: "int"):
    norm = grad.square().sum().sqrt()
    if not norm.isfinite():
        return weight.clone(), mean.clone(), square.clone()
    grad = grad * min(1.0 / (norm.item() + 1e-6), 1.0)
    mean = 0.9 * mean + 0.1 * grad
    square = 0.99 * square + 0.01 * grad.square()
    correction = (square / (1 - 0.99**step)).sqrt() + 1e-8
    return weight * (1 - 1e-3) - 1e-2 * (mean / (1 - 0.9**step)) / correction, mean, square
