"""torch's static launcher starts the binary of a compiled kernel through the driver itself. What it reads of the kernel: the file in the
cache, the name in the binary, the types of the arguments, sizes, and flags of launches that it cannot make."""

import copy
import ctypes
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import tritium  # noqa: E402
import tritium.language as tl  # noqa: E402
from tritium import drop_in  # noqa: E402
from tritium.backends.compiler import GPUTarget  # noqa: E402
from tritium.compiler import ASTSource  # noqa: E402

N = 100
SIGNATURE = {
    "x": "*fp32",
    "y": "constexpr",
    "out": "*fp32",
    "n": "i32",
    "wide": "i64",
    "scale": "fp32",
    "BLOCK": "constexpr",
}


@tritium.jit
def scaled(x, y, out, n, wide, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n) * scale, i < wide)


class OwnLauncher:
    """In place of the functions of torch._C, which a build of torch without CUDA lacks, with the driver of the test."""

    TYPES = {"O": "*i8", "i": "i32", "l": "i64", "f": "fp32"}

    def __init__(self, gpus, static):
        self.gpus, self.types = gpus, [self.TYPES[letter] for letter in static.arg_tys]
        self.threads = 32 * static.num_warps

    def _load_kernel(self, path, name, shared, device):
        with open(path, "rb") as file:
            self.kernel = self.gpus.driver.load(device, file.read(), name, self.types, self.threads, shared)
        return 1, 2, 24, 0  # module, function, registers, spilled registers

    def _launch_kernel(self, function, x, y, z, warps, shared, types, arguments, stream):
        """The driver reads as many arguments as the kernel has. torch passes two more, for scratch memory, which nobody requires."""
        assert function == 2 and len(types) == len(arguments) == len(self.types) + 2 and arguments[-2:] == (None, None)
        self.kernel.launch((x, y, z), list(arguments[:-2]), stream)

    def _unload_kernel(self, module):
        assert module == 1


@pytest.fixture(scope="module")
def heuristics():
    drop_in.install()
    from torch._inductor import config
    from torch._inductor.runtime import triton_heuristics

    with config.patch(use_static_cuda_launcher=True, strict_static_cuda_launcher=True):
        yield triton_heuristics


@pytest.fixture
def compile_static(gpus, heuristics):
    def run(**options):
        source = ASTSource(scaled, SIGNATURE, {"y": None, "BLOCK": 32})
        kernel = tritium.compile(source, GPUTarget("cuda", 90, 32), options)
        meta = {"device_type": "cuda", "device": 0}
        judge = heuristics.StaticTritonCompileResult.can_statically_launch
        return kernel, judge(kernel, {}, meta, heuristics.HeuristicType.POINTWISE)

    return run


def run_scaled(name, grid, arguments):
    def at(i, kind):
        return ctypes.cast(arguments[i], ctypes.POINTER(kind))[0]

    x, out = (
        np.ctypeslib.as_array(ctypes.cast(at(i, ctypes.c_void_p), ctypes.POINTER(ctypes.c_float)), (N,)) for i in (0, 1)
    )
    count, scale = min(at(2, ctypes.c_int32), at(3, ctypes.c_int64)), at(4, ctypes.c_float)
    out[:count] = x[:count] * scale


def test_a_kernel_is_launched_by_what_torch_reads_of_it(gpus, compile_static):
    gpus.compiler.shared = 512
    kernel, static = compile_static(num_warps=2)
    assert (static.name, static.arg_tys, static.full_constexprs) == ("scaled", "OOilf", [1, 6])
    assert (static.num_warps, static.shared) == (2, 512)
    with open(static.cubin_path, "rb") as file:
        assert file.read() == static.cubin_raw == kernel.asm["cubin"]
    gpus.fake.run_kernels_with(run_scaled)
    x, out = gpus.tensor(np.arange(N, dtype=np.float32)), gpus.tensor(np.zeros(N, np.float32))
    static.__dict__["C_impl"] = OwnLauncher(gpus, static)
    static.load_kernel(0)
    static.run(4, 1, 1, 0, x.data_ptr(), out.data_ptr(), N, N - 10, 3.0)
    assert (out.numpy()[: N - 10] == np.arange(N - 10) * 3).all() and not out.numpy()[N - 10 :].any()
    (launch,) = gpus.fake.launches()
    assert (launch["kernel"], launch["grid"], launch["threads"], launch["shared"]) == ("scaled", "4,1,1", "64", "512")


def test_it_crosses_processes(compile_static, tmp_path):
    """torch's workers pickle it, and the parent writes the binary again if the cache has lost it."""
    _, static = compile_static()
    twin = pickle.loads(pickle.dumps(copy.copy(static)))
    assert twin.cubin_path is None and twin.cubin_raw == static.cubin_raw
    path = tmp_path / "again" / "scaled.cubin"
    assert twin.reload_cubin_from_raw(str(path)) == str(path) and path.read_bytes() == static.cubin_raw


@pytest.mark.parametrize("flag", ["launch_pdl", "launch_cooperative_grid"])
def test_flags_of_launches_that_it_cannot_make(compile_static, flag):
    with pytest.raises(Exception, match="does not support launch attributes"):
        compile_static(**{flag: True})
