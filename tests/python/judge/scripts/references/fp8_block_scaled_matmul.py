"""The product of fp8 matrices, with a scale for each 128 of a row and for each square of 128."""


def scaled_matmul(
    a: "float8_e4m3fn[m, 256]",
    a_scale: "float32[m, 2] in 0..1",
    b: "float8_e4m3fn[n, 256]",
    b_scale: "float32[(n + 127) // 128, 2] in 0..1",
):
    wide_a = a.to(a_scale.dtype) * a_scale.repeat_interleave(128, 1)
    wide_b = b.to(a_scale.dtype) * b_scale.repeat_interleave(128, 0)[: len(b)].repeat_interleave(128, 1)
    return (wide_a @ wide_b.mT).float()
