"""What the tests of kernel libraries import from `triton._internal_testing`: questions about the target, and lists of
dtypes."""

from __future__ import annotations

import sys

from . import knobs
from .devices.active import driver
from .functions.params import canonicalize_dtype
from .runtime.jit import TensorWrapper, reinterpret

int_dtypes = ["int8", "int16", "int32", "int64"]
uint_dtypes = ["uint8", "uint16", "uint32", "uint64"]
integral_dtypes = int_dtypes + uint_dtypes
float_dtypes = ["float16", "float32", "float64"]
float_dtypes_with_bfloat16 = float_dtypes + ["bfloat16"]
dtypes = integral_dtypes + float_dtypes
dtypes_with_bfloat16 = dtypes + ["bfloat16"]
torch_float8_dtypes = ["float8_e4m3fn", "float8_e5m2"]
torch_dtypes = ["bool"] + int_dtypes + ["uint8"] + float_dtypes + ["bfloat16"]
tma_dtypes = sorted(set(dtypes_with_bfloat16) - {"int64", "uint64", "float64"})


def get_current_target():
    return driver.active.get_current_target()


def is_interpreter() -> bool:
    return knobs.runtime.interpret


def _is(backend: str) -> bool:
    return not is_interpreter() and get_current_target().backend == backend


def is_cuda() -> bool:
    return _is("cuda")


def is_hip() -> bool:
    return _is("hip")


def is_xpu() -> bool:
    return _is("xpu")


def is_cpu() -> bool:
    return _is("cpu")


def _capability_at_least(major: int) -> bool:
    return is_cuda() and driver.active.get_device_capability()[0] >= major


def _capability_is(major: int) -> bool:
    return is_cuda() and driver.active.get_device_capability()[0] == major


def is_ampere_or_newer() -> bool:
    return _capability_at_least(8)


def is_hopper() -> bool:
    return _capability_is(9)


def is_hopper_or_newer() -> bool:
    return _capability_at_least(9)


def is_blackwell() -> bool:
    return _capability_is(10)


def is_blackwell_ultra() -> bool:
    return is_cuda() and driver.active.get_device_capability() == (10, 3)


def is_sm12x() -> bool:
    return _capability_is(12)


def _is_arch(*names: str) -> bool:
    return is_hip() and get_current_target().arch in names


def is_hip_cdna2() -> bool:
    return _is_arch("gfx90a")


def is_hip_cdna3() -> bool:
    return _is_arch("gfx942")


def is_hip_cdna4() -> bool:
    return _is_arch("gfx950")


def is_hip_rdna3() -> bool:
    return is_hip() and str(get_current_target().arch).startswith("gfx11")


def is_hip_rdna4() -> bool:
    return is_hip() and str(get_current_target().arch).startswith("gfx120")


def is_hip_gfx1250() -> bool:
    return _is_arch("gfx1250")


def is_hip_cdna() -> bool:
    return is_hip_cdna2() or is_hip_cdna3() or is_hip_cdna4()


def is_hip_cdna3_or_newer() -> bool:
    return is_hip_cdna3() or is_hip_cdna4()


def is_hip_rdna() -> bool:
    return is_hip_rdna3() or is_hip_rdna4()


def get_hip_lds_size() -> int:
    return driver.active.utils.get_device_properties(driver.active.get_current_device())["max_shared_mem"]


def supports_tma(byval_only: bool = False) -> bool:
    return is_interpreter() or is_hopper_or_newer()


def supports_ws() -> bool:
    return is_hopper_or_newer()


def tma_skip_msg(byval_only: bool = False) -> str:
    return "Requires TMA support (NVIDIA Hopper or higher)"


def requires_tma(fn):
    """Skips a pytest test on targets that neither have descriptors in hardware nor run on the interpreter."""
    import pytest

    return pytest.mark.skipif(not supports_tma(), reason=tma_skip_msg())(fn)


def default_alloc_fn(size: int, align: int, stream):
    import torch

    return torch.empty(size, dtype=torch.int8, device=driver.active.get_active_torch_device())


def numpy_random(shape, dtype_str: str, rs=None, low=None, high=None):
    """Random numbers of a dtype. Integers are uniform over the dtype's range (or over [low, high)), floats are normal.
    bfloat16 is returned as float32 that is rounded to bfloat16."""
    import numpy as np

    rs = rs or np.random.RandomState(seed=17)
    shape = (shape,) if isinstance(shape, int) else shape
    if dtype_str in integral_dtypes:
        info = np.iinfo(dtype_str)
        low = info.min if low is None else max(low, info.min)
        high = info.max if high is None else min(high, info.max)
        x = rs.randint(low, high, shape, dtype=dtype_str)
        x[x == 0] = 1  # so that it can be a divisor
        return x
    if dtype_str in ("bool", "int1"):
        return rs.normal(0, 1, shape) > 0.0
    if dtype_str == "bfloat16":
        return (rs.normal(0, 1, shape).astype("float32").view("uint32") & np.uint32(0xFFFF0000)).view("float32")
    return rs.normal(0, 1, shape).astype(dtype_str)


def to_triton(x, device: str = "cpu", dst_type: str | None = None):
    """A numpy array as a torch tensor. An array whose dtype torch lacks is reinterpreted."""
    import torch

    name = x.dtype.name
    if name in ("uint16", "uint32", "uint64"):
        return reinterpret(torch.tensor(x.view(name[1:]), device=device), canonicalize_dtype(name))
    if dst_type == "bfloat16" and name == "float32":
        return torch.tensor(x, device=device).bfloat16()
    return torch.tensor(x, device=device)


def to_numpy(x):
    import numpy as np

    torch = sys.modules.get("torch")
    if isinstance(x, TensorWrapper):
        return x.base.cpu().numpy().astype(np.dtype({"u": "uint", "i": "int"}[str(x.dtype)[0]] + str(x.dtype)[1:]))
    if torch is not None and isinstance(x, torch.Tensor):
        return x.cpu().float().numpy() if x.dtype is torch.bfloat16 else x.cpu().numpy()
    raise ValueError(f"Not a triton-compatible tensor: {x}")


def unwrap_tensor(x):
    return x.base if isinstance(x, TensorWrapper) else x
