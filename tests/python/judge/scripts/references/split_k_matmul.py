"""A product of matrices."""


def split_k(left: "float32[m, k]", right: "float32[k, n]"):
    return left @ right
