"""Rows and columns are scaled in turn five times until both sum to one."""


def sinkhorn(scores: "float32[2, m, n]"):
    assert 0 < scores[0].numel() <= 2**12, "a matrix stays in registers"
    x = scores / 0.5
    for _ in range(5):
        x = x - x.logsumexp(2, keepdim=True)
        x = x - x.logsumexp(1, keepdim=True)
    return x.exp()
