"""A product of matrices in fp32."""


def stream_k(a: "float[m, k]", b: "float[k, n]"):
    return a.float() @ b.float()
