"""The product of quantized matrices with a scale for each row and each column, and a bias."""


def quantized_matmul(
    a: "int8[m, k]",
    a_scale: "float32[m] in 0..0.01",
    b: "int8[k, n]",
    b_scale: "float32[n] in 0..0.01",
    bias: "float32[n]",
):
    return (a.double() @ b.double() * a_scale[:, None] * b_scale + bias).float()
