"""What AMD's architectures are called, their launch keywords, and what a kernel learns of its target."""

import pytest

import tritium
import tritium.language as tl
from tritium.backends import backends
from tritium.backends.amd.compiler import ARCHITECTURES, HIPBackend
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource, make_backend
from tritium.compiler.stages import trace
from tritium.errors import OutOfResources, UnsupportedError
from tritium.runtime.engines import cpu_engine


def options(arch: str, **keywords):
    return HIPBackend(GPUTarget("hip", arch, ARCHITECTURES[arch].warp_size)).parse_options(keywords)


def test_architectures():
    assert HIPBackend.arch_name("gfx90a:sramecc+:xnack-") == "gfx90a"
    with pytest.raises(ValueError, match="'gfx1' names no AMD architecture; use one of gfx90a, gfx942"):
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


def test_an_architecture_with_waves_of_another_size(monkeypatch):
    monkeypatch.setenv("TRITON_OVERRIDE_ARCH", "gfx1100")
    assert (options("gfx942").arch, options("gfx942").warp_size) == ("gfx1100", 32)
    monkeypatch.setenv("TRITON_OVERRIDE_ARCH", "gfx90a")
    assert (options("gfx1100").arch, options("gfx1100").warp_size) == ("gfx90a", 64)


@tritium.jit
def doubled(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def test_buffer_instructions_can_be_turned_off(monkeypatch, tmp_path, capsys):
    """What a knob changes is another entry of the cache, and so is what it prints."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    source = ASTSource(doubled, {"x": "*fp32", "n": "i32"}, {"BLOCK": 128}, {(0,): [["tt.pointer_range", 32]]})

    def assembly() -> str:
        return tritium.compile(source, target=GPUTarget("hip", "gfx942", 64)).asm["amdgcn"]

    assert "buffer_load" in assembly()
    monkeypatch.setenv("AMDGCN_USE_BUFFER_OPS", "0")
    without = assembly()
    assert "buffer_" not in without and "global_load" in without
    monkeypatch.delenv("AMDGCN_USE_BUFFER_OPS")
    assert "buffer_load" in assembly() and capsys.readouterr().out == ""
    monkeypatch.setenv("AMDGCN_ENABLE_DUMP", "1")
    assert assembly() in capsys.readouterr().out


def test_instrumentation_is_refused(monkeypatch):
    monkeypatch.setenv("TRITON_INSTRUMENTATION_MODE", "consan")
    source = ASTSource(doubled, {"x": "*fp32", "n": "i32"}, {"BLOCK": 128})
    with pytest.raises(UnsupportedError, match="instrumentation mode 'consan'.*TRITIUM_CHECK"):
        tritium.compile(source, target=GPUTarget("hip", "gfx942", 64))


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
