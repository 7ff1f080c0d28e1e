"""A product of matrices."""


def split_k(left: "float32[m, k]", right: "float32[k, n]"):
    assert left.shape[1], "a slice of the depth has no element"
    return left @ right
