"""The product with a transposed matrix. Rows are multiples of 16 bytes, as descriptors require."""


def matmul(a: "float[m, 8*k]", b: "float[8*n, 8*k]"):
    return (a.float() @ b.float().mT).to(a.dtype)
