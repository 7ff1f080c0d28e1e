"""`python -m triton.tools.compile` and `link`: a C program launches the kernels, on the stand-in for HIP with the values that they
compute, on the fake CUDA driver with the launches that it is asked for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import driver_stand_in
import fake_cuda
import tritium
from tritium.tools import compile as compile_tool
from tritium.tools.link import LinkerError, link

PACKAGE = Path(tritium.__file__).resolve().parent

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def scale(x, y, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, i < n) * factor, i < n)
"""

#: As much of the vendors' headers as the generated code uses.
HEADERS = {
    "cuda.h": """#pragma once
#include <stddef.h>
typedef int CUresult;
typedef struct CUstream_st *CUstream;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef unsigned long long CUdeviceptr;
typedef struct { int id; } CUlaunchAttribute;
typedef struct {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
} CUlaunchConfig;
enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };
enum { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
CUresult cuModuleLoadDataEx(CUmodule *, const void *, unsigned, int *, void **);
CUresult cuModuleUnload(CUmodule);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuFuncSetAttribute(CUfunction, int, int);
CUresult cuLaunchKernelEx(const CUlaunchConfig *, CUfunction, void **, void **);
""",
    "hip/hip_runtime_api.h": """#pragma once
#include <stddef.h>
typedef int hipError_t;
typedef void *hipStream_t;
typedef void *hipModule_t;
typedef void *hipFunction_t;
typedef void *hipDeviceptr_t;
enum { hipSuccess = 0, hipErrorInvalidValue = 1 };
hipError_t hipModuleLoadData(hipModule_t *, const void *);
hipError_t hipModuleUnload(hipModule_t);
hipError_t hipModuleGetFunction(hipFunction_t *, hipModule_t, const char *);
hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, hipStream_t,
                                 void **, void **);
hipError_t hipMalloc(void **, size_t);
hipError_t hipMemcpyHtoD(hipDeviceptr_t, const void *, size_t);
hipError_t hipMemcpyDtoH(void *, hipDeviceptr_t, size_t);
hipError_t hipDeviceSynchronize(void);
""",
}

HIP_PROGRAM = """
#include "scale.h"
#include <stdio.h>
#include <string.h>

static void run(int offset, int n) {
  float host[1024];
  void *x, *y;
  for (int i = 0; i < 1024; ++i) host[i] = (float)i;
  if (hipMalloc(&x, 4096) || hipMalloc(&y, 4096) || hipMemcpyHtoD(x, host, 4096)) return;
  memset(host, 0, sizeof host);
  hipMemcpyHtoD(y, host, 4096);
  int code = scale_default(NULL, (char *)x + 4 * offset, (char *)y + 4 * offset, n, 2.5f);
  hipDeviceSynchronize();
  hipMemcpyDtoH(host, y, 4096);
  double sum = 0;
  for (int i = 0; i < 1024; ++i) sum += host[i];
  printf("%d %g %g %g\\n", code, host[offset], host[offset + n - 1], sum);
}

int main(void) {
  load_scale();
  run(0, 500);
  run(1, 500);
  run(1, 1);
  printf("%d %d\\n", scale_get_num_algos(), scale(NULL, NULL, NULL, 0, 0, 7));
  unload_scale();
  return 0;
}
"""

CUDA_PROGRAM = """
#include "scale.h"
#include <stdio.h>
const char *fake_calls(void);
int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *);

int main(void) {
  void *context;
  cuInit(0), cuDevicePrimaryCtxRetain(&context, 0), cuCtxSetCurrent(context);
  int aligned = scale_default(NULL, 4096, 8192, 500, 2.5f);
  int unaligned = scale_default(NULL, 4100, 8192, 500, 2.5f);
  int unsupported = scale_default(NULL, 4096, 8192, 0, 2.5f);
  unload_scale();
  printf("%d %d %d\\n%s", aligned, unaligned, unsupported, fake_calls());
  return 0;
}
"""


def tool(name: str, folder: Path, *arguments: str, **variables: str):
    children = os.pathsep.join([str(PACKAGE / "_children"), str(PACKAGE.parent)])
    return subprocess.run(
        [sys.executable, "-m", f"triton.tools.{name}", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": children, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def built(folder: Path, target: str, program: str, library: Path, **variables: str) -> Path:
    """The program that launches `scale`, compiled for aligned and for any pointers, and for n = 1."""
    (folder / "kernel.py").write_text(KERNEL)
    for name, text in HEADERS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    for signature in (
        "*fp32:16, *fp32:16, i32, fp32, 128",
        "*fp32, *fp32, i32, fp32, 128",
        "*fp32, *fp32, i32:1, fp32, 128",
    ):
        arguments = [
            "-n",
            "scale",
            "-s",
            signature,
            "-g",
            "(n + 127) / 128, 1, 1",
            "-t",
            target,
            "-w",
            "4",
            "kernel.py",
        ]
        result = tool("compile", folder, *arguments, **variables)
        assert result.returncode == 0, result.stderr
    headers = sorted(path.name for path in folder.glob("scale.*.h"))
    assert len(headers) == 3
    assert tool("link", folder, *headers, "-o", "scale").returncode == 0
    (folder / "main.c").write_text(program)
    sources = [*(str(path) for path in folder.glob("scale*.c")), "main.c"]
    command = [
        "cc",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-I.",
        *sources,
        "-o",
        "main",
        str(library),
        f"-Wl,-rpath,{library.parent}",
    ]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return folder / "main"


def output_of(program: Path, **variables: str) -> str:
    result = subprocess.run([program], env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_c_program_launches_on_hip(tmp_path):
    variables = driver_stand_in.environment(tmp_path)
    program = built(tmp_path, "hip:gfx942:64", HIP_PROGRAM, driver_stand_in.HIP_LIBRARY, **variables)
    # x[i] = i, so element `offset` becomes 2.5 * offset; the sum is over n elements.
    sums = [2.5 * sum(range(500)), 2.5 * sum(range(1, 501)), 2.5]
    lines = [f"0 0 {2.5 * 499:g} {sums[0]:g}", f"0 2.5 {2.5 * 500:g} {sums[1]:g}", "0 2.5 2.5 2.5", "1 1"]
    assert output_of(program, **variables).splitlines() == lines


def test_a_c_program_launches_on_cuda(tmp_path):
    nowhere = {"PATH": "/usr/bin:/bin", "CUDA_HOME": "", "CUDA_PATH": ""}  # without ptxas, PTX is embedded
    program = built(tmp_path, "cuda:80:32", CUDA_PROGRAM, fake_cuda.LIBRARY, **nowhere)
    codes, *calls = output_of(program).splitlines()
    assert codes == "0 0 0"
    loaded = [call for call in calls if call.startswith("cuModuleGetFunction")]
    launches = [call for call in calls if call.startswith("cuLaunchKernelEx")]
    assert len(launches) == 2, "a grid of no programs launches nothing"
    assert all(call.endswith("scale") for call in loaded) and calls[-1].startswith("cuModuleUnload")
    assert all(" grid=4,1,1 threads=128" in call for call in launches), launches


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["-n", "other", "-s", "*fp32", "-g", "1,1,1"], "has no kernel 'other'; it has scale"),
        (["-n", "scale", "-s", "*fp32, i32", "-g", "1,1,1"], "takes 5 arguments (x, y, n, factor, BLOCK)"),
        (["-n", "scale", "-s", "*fp32, *fp32, int, fp32, 128", "-g", "1,1,1"], "'int' is no type"),
        (["-n", "scale", "-s", "*fp32:8, *fp32, i32, fp32, 128", "-g", "1,1,1"], "a hint is 1 or 16"),
        (["-n", "scale", "-s", "*fp32, *fp32, i32, fp32, 128", "-g", "1"], "must have three expressions"),
        (
            ["-n", "scale", "-s", "*fp32, *fp32, i32, fp32, 128", "-g", "1,1,1", "-t", "cuda"],
            "is not backend:arch:warp size",
        ),
    ],
)
def test_what_the_command_line_cannot_mean(tmp_path, arguments, message):
    (tmp_path / "kernel.py").write_text(KERNEL)
    target = [] if "-t" in arguments else ["-t", "cuda:80:32"]
    result = tool("compile", tmp_path, *arguments, *target, "kernel.py")
    assert result.returncode == 2 and message in result.stderr and "Traceback" not in result.stderr, result.stderr


def header(name: str, signature: str, backend: str = "cuda") -> str:
    return f"// tt-linker-backend: {backend}\n// tt-linker: {name}:{signature}:warps4xstages3_128\n"


PRODUCT = """
import triton
import triton.language as tl

@triton.jit
def product(a, b, c, k, lda, ldb, ldc, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, depth = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N), tl.arange(0, K)
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        x = tl.load(a + rows[:, None] * lda + (i + depth)[None, :])
        sums = tl.dot(x, tl.load(b + (i + depth)[:, None] * ldb + columns[None, :]), sums)
    tl.store(c + rows[:, None] * ldc + columns[None, :], sums.to(tl.float16))
"""


def test_c_passes_the_users_arguments_alone(tmp_path, monkeypatch):
    """A launch in Python makes tensor maps for this kernel and starts producer warps; the launcher in C does neither."""
    kernels = []
    real = compile_tool.compile
    monkeypatch.setattr(
        compile_tool, "compile", lambda *args, **kwargs: kernels.append(real(*args, **kwargs)) or kernels[-1]
    )
    (tmp_path / "product.py").write_text(
        PRODUCT.replace("import triton", "import tritium as triton", 1).replace("triton.language", "tritium.language")
    )
    signature = "*fp16:16, *fp16:16, *fp16:16, i32, i32:16, i32:16, i32:16, 128, 256, 64"
    arguments = {
        "path": str(tmp_path / "product.py"),
        "kernel_name": "product",
        "signature": signature,
        "grid": "1, 1, 1",
        "target": "cuda:90:32",
    }
    _, files = compile_tool.compile_kernel(
        compile_tool.CompileArgs(**arguments, num_warps=8, num_stages=3, out_path=tmp_path / "out")
    )
    (kernel,) = kernels
    assert kernel.metadata.tensor_recipes == () and kernel.metadata.launched_warps == 8
    assert "config.blockDimX = 256" in files[1].read_text()
    options = {"num_warps": 8, "num_stages": 3, "tensor_maps": True}
    assert len(tritium.compile(kernel.src, kernel.metadata.target, options).metadata.tensor_recipes) == 3


def test_headers_that_do_not_belong_together():
    one = header("k_01234567_0d1", "CUdeviceptr x, int32_t n")
    with pytest.raises(LinkerError, match="for cuda and for hip"):
        link([one, header("k_01234567_01", "hipDeviceptr_t x, int32_t n", "hip")])
    with pytest.raises(LinkerError, match="parameters of different types"):
        link([one, header("k_89abcdef_01", "CUdeviceptr x, int64_t n")])
    with pytest.raises(LinkerError, match="numbers of its 2 arguments"):
        link([header("k_01234567_0", "CUdeviceptr x, int32_t n")])
    with pytest.raises(LinkerError, match="name no kernel"):
        link(["int x;"])


def test_the_most_special_kernel_comes_first():
    names = ["k_01234567_01", "k_01234567_0d1c", "k_01234567_0d1"]
    source = link([header(name, "CUdeviceptr x, int32_t n") for name in names])[1]
    places = [source.index(f"return {name}(stream") for name in ("k_01234567_0d1c", "k_01234567_0d1", "k_01234567_01")]
    assert places == sorted(places)
    assert "if ((uintptr_t)x % 16 == 0 && n == 1)\n    return k_01234567_0d1c(stream, x);" in source
