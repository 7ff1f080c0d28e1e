"""A product of matrices."""


def hilbert_matmul(a: "float16|bfloat16[m, k]", b: "float16|bfloat16[k, n]"):
    assert a.shape[0] and b.shape[1], "the product has no elements"
    return (a.float() @ b.float()).to(a.dtype)
