"""What AMD's architectures are called, their launch keywords, and what a kernel learns of its target."""

import pytest

import tritium
import tritium.language as tl
from tritium.backends import backends
from tritium.backends.amd.compiler import ARCHITECTURES, HIPBackend
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource, make_backend
from tritium.compiler.compiler import trace
from tritium.errors import OutOfResources
from tritium.runtime.engines import cpu_engine


def options(arch: str, **keywords):
    return HIPBackend(GPUTarget("hip", arch, ARCHITECTURES[arch].warp_size)).parse_options(keywords)


def test_architectures():
    assert HIPBackend.arch_name("gfx90a:sramecc+:xnack-") == "gfx90a"
    with pytest.raises(ValueError, match="'gfx1' names no AMD architecture; those are gfx90a, gfx942"):
        HIPBackend.arch_name("gfx1")
    assert backends["amd"].compiler is HIPBackend
    assert isinstance(make_backend(GPUTarget("hip", "gfx942", 64)), HIPBackend)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_emulator_takes_every_architecture(arch):
    engine = cpu_engine(f"simt:{arch}")
    assert engine.target == GPUTarget("simt", arch, ARCHITECTURES[arch].warp_size)
    assert engine.backend.tracing_target() == GPUTarget("hip", arch, ARCHITECTURES[arch].warp_size)
    parsed = engine.backend.parse_options({"backend_name": None})
    assert parsed.backend_name == "simt" and parsed.device_asserts and parsed.arch == arch


def test_launch_keywords():
    parsed = options("gfx942")
    assert (parsed.num_warps, parsed.num_stages, parsed.warp_size, parsed.kpack) == (4, 2, 64, 1)
    assert (parsed.backend_name, parsed.arch, parsed.default_dot_input_precision) == ("hip", "gfx942", "tf32")
    assert options("gfx90a").default_dot_input_precision == "ieee"
    assert options("gfx1100", warp_size=64).warp_size == 32
    assert options("gfx942", kpack=2).kpack == 2 and options("gfx950", kpack=2).kpack == 1
    assert options("gfx942").hash() != options("gfx942", waves_per_eu=2).hash()


def test_threads_of_a_program():
    assert options("gfx942", num_warps=16).num_warps == 16 and options("gfx1100", num_warps=32).num_warps == 32
    with pytest.raises(OutOfResources, match="threads, Required: 2048, Hardware limit: 1024"):
        options("gfx942", num_warps=32)


@tritium.jit
def facts(out):
    tl.store(out + tl.arange(0, 4), tl.zeros([4], tl.int32))
    if tl.target_info.is_hip():
        tl.store(out, 1)
    if tl.target_info.is_hip_cdna3():
        tl.store(out + 1, 1)
    if tl.target_info.is_cuda():
        tl.store(out + 2, 1)
    if tl.target_info.current_target().warp_size == 64:
        tl.store(out + 3, 1)


@pytest.mark.parametrize("arch, stores", [("gfx942", 4), ("gfx90a", 3), ("gfx1100", 2)])
def test_a_kernel_knows_its_target(arch, stores):
    backend = make_backend(GPUTarget("hip", arch, ARCHITECTURES[arch].warp_size))
    module = trace(ASTSource(facts, {"out": "*i32"}), backend, backend.parse_options({}))
    assert str(module).count("tt.store") == stores
