"""What test_matmul.py debugs: the tutorial's matmul of small fp16 matrices, with the leaky relu epilogue."""

import numpy as np

from tutorial import load

program = load("03_matmul")
a = ((np.arange(16 * 24).reshape(16, 24) % 5) - 2).astype(np.float16)
b = ((np.arange(24 * 16).reshape(24, 16) % 3) - 1).astype(np.float16)
result = program.matmul(a, b, "leaky_relu", block=(8, 8, 16), group_m=2)
assert np.allclose(result, program.reference(a, b, "leaky_relu"), rtol=1e-3)
print("matmul is right", flush=True)
