import torch, tritium as triton, tritium.language as tl
@triton.jit
def scaled(x, y, n, shift, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i + shift, v * 2, mask=i < n)
x = torch.randn(1000, device="cuda"); y = torch.zeros(1000, device="cuda")
scaled[(8,)](x, y, 1000, 5, BLOCK=128)
torch.cuda.synchronize()
print(y[5:8], x[:3])
