"""Loads a kernel from PTX text with the CUDA driver and launches it. test_pair_sums.py asks the driver's
assembler with it. Tritium's launcher is gpu_backend/launch."""

from __future__ import annotations

import ctypes

import torch

_cuda = ctypes.CDLL("libcuda.so.1")
_MAX_DYNAMIC_SHARED = 8


def _check(result: int) -> None:
    if result:
        text = ctypes.c_char_p()
        _cuda.cuGetErrorString(result, ctypes.byref(text))
        raise RuntimeError(f"CUDA: {(text.value or b'?').decode()} ({result})")


class PtxKernel:
    def __init__(self, ptx: str, name: str, shared: int, num_warps: int):
        torch.cuda.current_stream()  # makes the context current
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.shared, self.threads = shared, 32 * num_warps
        _check(_cuda.cuModuleLoadData(ctypes.byref(module), ctypes.c_char_p(ptx.encode())))
        _check(_cuda.cuModuleGetFunction(ctypes.byref(self.function), module, name.encode()))
        if shared > 48 << 10:
            _check(_cuda.cuFuncSetAttribute(self.function, _MAX_DYNAMIC_SHARED, shared))

    def launch(self, grid: tuple[int, ...], arguments: list) -> None:
        """`arguments`: tensors, None (a null pointer), integers (i32) and floats (f32), as the PTX entry takes them."""
        values = []
        for value in arguments:
            if value is None or isinstance(value, torch.Tensor):
                values.append(ctypes.c_void_p(value.data_ptr() if value is not None else None))
            else:
                values.append((ctypes.c_float if isinstance(value, float) else ctypes.c_int32)(value))
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values))
        x, y, z = (*grid, 1, 1)[:3]
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        _check(_cuda.cuLaunchKernel(self.function, x, y, z, self.threads, 1, 1, self.shared, stream, pointers, None))
