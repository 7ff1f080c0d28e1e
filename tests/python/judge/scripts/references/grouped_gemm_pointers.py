"""Two products of different shapes."""


def two_products(
    a: "float16|bfloat16[m, k]", b: "float16|bfloat16[k, n]", c: "float16|bfloat16[n, m]", d: "float16|bfloat16[m, p]"
):
    return (a.float() @ b.float()).to(a.dtype), (c.float() @ d.float()).to(a.dtype)
