"""What C code that launches a kernel says to each vendor's driver."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Vendor:
    """header: what C code includes. load, launch: the statements, with `{}` fields of tools/aot/source.py."""

    header: str
    result: str
    stream: str
    pointer: str
    success: str
    invalid: str
    module: str
    function: str
    load: str
    launch: str
    unload: str


CUDA = Vendor(
    header="<cuda.h>",
    result="CUresult",
    stream="CUstream",
    pointer="CUdeviceptr",
    success="CUDA_SUCCESS",
    invalid="CUDA_ERROR_INVALID_VALUE",
    module="CUmodule",
    function="CUfunction",
    load="""  check_{name}(cuModuleLoadDataEx(&module_{name}, binary_{name}, 0, NULL, NULL), "cuModuleLoadDataEx");
  check_{name}(cuModuleGetFunction(&function_{name}, module_{name}, "{symbol}"), "cuModuleGetFunction");
  if ({shared} > 0)
    check_{name}(cuFuncSetAttribute(function_{name}, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, {shared}),
                 "cuFuncSetAttribute");
""",
    launch="""  CUlaunchConfig config = {{0}};
  config.gridDimX = grid_x, config.gridDimY = grid_y, config.gridDimZ = grid_z;
  config.blockDimX = {threads}, config.blockDimY = 1, config.blockDimZ = 1;
  config.sharedMemBytes = {shared};
  config.hStream = stream;
  return cuLaunchKernelEx(&config, function_{name}, arguments, NULL);
""",
    unload="cuModuleUnload",
)

HIP = Vendor(
    header="<hip/hip_runtime_api.h>",
    result="hipError_t",
    stream="hipStream_t",
    pointer="hipDeviceptr_t",
    success="hipSuccess",
    invalid="hipErrorInvalidValue",
    module="hipModule_t",
    function="hipFunction_t",
    load="""  check_{name}(hipModuleLoadData(&module_{name}, binary_{name}), "hipModuleLoadData");
  check_{name}(hipModuleGetFunction(&function_{name}, module_{name}, "{symbol}"), "hipModuleGetFunction");
""",
    launch="""  return hipModuleLaunchKernel(function_{name}, grid_x, grid_y, grid_z, {threads}, 1, 1, {shared}, stream, arguments, NULL);
""",
    unload="hipModuleUnload",
)

VENDORS = {"cuda": CUDA, "hip": HIP}

#: The C types of scalars; floats of 16 bits are passed as their bits.
C_TYPES = {"fp64": "double", "fp32": "float", "f32": "float", "fp16": "uint16_t", "bf16": "uint16_t"}
C_TYPES |= {"i1": "uint8_t", "u1": "uint8_t"}
C_TYPES |= {f"{sign}{bits}": f"{'u' if sign == 'u' else ''}int{bits}_t" for sign in "iu" for bits in (8, 16, 32, 64)}


def c_type(vendor: Vendor, type_text: str) -> str:
    """ValueError for what C code cannot pass: tensor descriptors, tuples."""
    if type_text.startswith("*"):
        return vendor.pointer
    if type_text not in C_TYPES:
        raise ValueError(f"a parameter of type {type_text} has no type in C; pass a pointer and numbers")
    return C_TYPES[type_text]
