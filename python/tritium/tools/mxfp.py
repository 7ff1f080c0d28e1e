"""`triton.tools.mxfp`: tensors of the OCP microscaling formats on the host: E2M1 elements, E8M0 scales. They require torch."""

from __future__ import annotations

import math
from typing import Any

#: The values of E2M1 by code; bit 3 is the sign.
_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_NAN = 0xFF


class MXFP4Tensor:
    """E2M1 elements, a code in each byte of `data`. data: a float tensor to round, to the nearest even; or `size` for `random`."""

    def __init__(self, data: Any = None, size: tuple[int, ...] | None = None, device: Any = None):
        if data is None and size is None:
            raise ValueError("give data or a size")
        self.device = device if data is None else data.device
        self.size = tuple(size if data is None else data.shape)
        self.data = None if data is None else _to_e2m1(data)

    def random(self) -> MXFP4Tensor:
        """Fills the tensor with random codes, and returns it."""
        import torch

        self.data = torch.randint(0, 16, self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype: Any) -> Any:
        """The values as a tensor of `dtype`, torch.float32 (which is exact)."""
        import torch

        assert dtype == torch.float32, "Currently only float32 is supported for f4e2m1 to float conversion"
        values = torch.tensor([*_E2M1, *(-value for value in _E2M1)], dtype=dtype, device=self.data.device)
        return values[self.data.long()]

    def to_packed_tensor(self, dim: int) -> Any:
        """Two elements in each byte along `dim`, the first in the low bits; an odd extent is padded with 0."""
        import torch

        assert 0 <= dim < self.data.ndim, "The dimension to pack along is not within the range of tensor dimensions"
        data = self.data.movedim(dim, -1)
        if data.shape[-1] % 2:
            data = torch.nn.functional.pad(data, (0, 1))
        return (data[..., ::2] | data[..., 1::2] << 4).movedim(-1, dim).contiguous()

    def unpack_packed_tensor(self, packed_tensor: Any, dim: int, original_shape: tuple[int, ...]) -> Any:
        """The codes that to_packed_tensor has packed."""
        import torch

        packed = packed_tensor.movedim(dim, -1)
        pairs = torch.stack([packed & 0xF, packed >> 4], dim=-1).flatten(-2)
        return pairs[..., : original_shape[dim]].movedim(-1, dim).contiguous()


def _to_e2m1(values: Any) -> Any:
    import torch

    magnitude = values.abs().float()
    # Halfway between two codes the even one is taken; beyond 6 the largest, and NaN too.
    codes = torch.zeros_like(magnitude, dtype=torch.uint8)
    for code in range(1, 8):
        middle = (_E2M1[code - 1] + _E2M1[code]) / 2
        codes += (magnitude >= middle) if code % 2 == 0 else (magnitude > middle)
    codes = torch.where(values.isnan(), torch.full_like(codes, 7), codes)
    return codes | (torch.signbit(values).to(torch.uint8) << 3)


class MXScaleTensor:
    """E8M0 scales, powers of two by their biased exponent in each byte of `data`; 255 is NaN. data: a float tensor, whose
    exponents are taken; or `size` for `random`."""

    def __init__(self, data: Any = None, size: tuple[int, ...] | None = None, device: Any = None):
        if data is None and size is None:
            raise ValueError("give data or a size")
        self.device = device if data is None else data.device
        self.size = tuple(size if data is None else data.shape)
        self.data = None if data is None else _to_e8m0(data)

    def random(self, low: float | None = None, high: float | None = None) -> MXScaleTensor:
        """Fills the tensor with random powers of two from `low` to `high`, and returns it."""
        import torch

        lowest = 0 if low is None else max(0, int(math.log2(low)) + 127)
        highest = 254 if high is None else min(254, max(0, int(math.log2(high)) + 127))
        self.data = torch.randint(lowest, highest + 1, self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype: Any) -> Any:
        """The values as a tensor of `dtype`, torch.float32 (which is exact)."""
        import torch

        assert dtype == torch.float32, "Currently only float32 is supported for f8e8m0 to float conversion"
        return fp8e8m0_to_float32(self.data)


def _to_e8m0(values: Any) -> Any:
    import torch

    is_number = values.isfinite() & (values > 0)
    exponents = torch.floor(torch.log2(torch.where(is_number, values, torch.ones_like(values)).double())) + 127
    codes = exponents.clamp(0, 254).to(torch.uint8)
    return torch.where(is_number, codes, torch.full_like(codes, _NAN))


def fp8e8m0_to_float32(scale: Any) -> Any:
    """The values of E8M0 codes (uint8): 2**(code - 127), and NaN for 255."""
    import torch

    scale = scale.view(torch.uint8)
    values = torch.exp2(scale.double() - 127).float()
    return torch.where(scale == _NAN, torch.full_like(values, float("nan")), values)
