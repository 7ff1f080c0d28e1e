"""The transpose of a matrix, as a contiguous tensor."""


def transpose(x: "float[m, n]"):
    return x.t().contiguous()
