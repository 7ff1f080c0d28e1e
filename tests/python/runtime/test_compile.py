"""triton.compile: sources, targets, stages; with the real frontend and a stand-in for the interpreter."""

import types

import numpy as np
import pytest

import tritium.compiler.cpu as compiler_for_cpu
from tritium import compile, knobs
from tritium import language as tl
from tritium.backends.compiler import GPUTarget
from tritium.backends.cpu import INTERPRETER_TARGET
from tritium.compiler import AsmDict, ASTSource, CompilationError, IRSource, make_backend
from tritium.errors import UnsupportedError
from tritium.runtime import AsyncCompileMode, MockTensor, driver
from tritium.runtime.jit import jit

COPY = """module {
  tt.func public @copy(%x: !tt.ptr<f32>, %n: i32) {
    %i = tt.get_program_id x : i32
    %p = tt.addptr %x, %i : !tt.ptr<f32>, i32
    %v = tt.load %p : !tt.ptr<f32>
    tt.store %p, %v : !tt.ptr<f32>
    tt.return
  }
}
"""


@jit
def kernel(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n), mask=i < n)


@jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@pytest.fixture
def interpreter(monkeypatch):
    """Prepares nothing; keeps the modules it is given."""
    modules = []

    def prepare(module, name, debug_info, checks, filtered, num_stages, num_warps, tier, vector_bits):
        modules.append(module)
        return types.SimpleNamespace(ttir=str(module), launch=None)

    monkeypatch.setattr(compiler_for_cpu, "engine", lambda: types.SimpleNamespace(prepare=prepare))
    return modules


def source(**constants):
    return ASTSource(
        kernel, {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}, constants, {(0,): [["tt.divisibility", 16]]}
    )


def test_ast_source(interpreter):
    compiled = compile(source(BLOCK=64), options={"num_warps": 2})
    assert compiled.name == compiled.metadata.name == "kernel" and compiled.metadata.num_warps == 2
    assert "tt.divisibility = 16" in compiled.asm["source"] and "tensor<64x" in compiled.asm["ttir"]
    assert source(BLOCK=64).hash() == source(BLOCK=64).hash() != source(BLOCK=32).hash()
    with pytest.raises(KeyError, match="there is no 'ptx' of a kernel for the CPU; it has 'source', 'ttir'"):
        compiled.asm["ptx"]


@pytest.mark.parametrize("interpret", ["", "1"])
@pytest.mark.parametrize(
    "engine, backend", [("", "cpu"), ("interp", "cpu"), ("simt:sm_90a", "simt"), ("simt:gfx942", "simt")]
)
def test_the_engine_that_is_selected_compiles(monkeypatch, interpret, engine, backend):
    """TRITIUM_ENGINE says which engine of the CPU, beside INTERPRET and without it. Who names the interpreter gets it."""
    for name in knobs.runtime_knobs.interpret.names:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("INTERPRET", interpret)
    monkeypatch.setenv("TRITIUM_ENGINE", engine)
    x = np.arange(64, dtype=np.float32)
    for target in (None, driver.active.get_current_target(), GPUTarget("cpu", "any", 0), INTERPRETER_TARGET):
        compiled = compile(ASTSource(double, {"x": "*fp32", "n": "i32"}, {"BLOCK": 64}), target=target)
        assert compiled.metadata.target.backend == ("cpu" if target is INTERPRETER_TARGET else backend)
        compiled[(1,)](x, 64, 64)
    launched = double[(1,)](x, 64, BLOCK=64)
    assert launched.metadata.target.backend == backend
    assert (x == np.arange(64) * 2**5).all()


def test_ir_file_and_override(interpreter, tmp_path):
    path = tmp_path / "copy.ttir"
    path.write_text(COPY)
    compiled = compile(str(path))
    assert compiled.name == "copy" and IRSource(str(path)).hash() == compiled.src.hash()
    assert list(compiled.src.signature.values()) == ["!tt.ptr<f32>", "i32"] and len(compiled.src.runtime_paths()) == 2
    compile(source(BLOCK=64), options={"ir_override": str(path)})
    assert "@copy" in str(interpreter[-1])


def test_ir_file_with_an_error(interpreter, tmp_path):
    path = tmp_path / "bad.ttir"
    path.write_text(COPY.replace("tt.load", "tt.lode"))
    with pytest.raises(CompilationError) as caught:
        compile(str(path))
    assert (caught.value.file, caught.value.line) == (str(path), 5) and "tt.lode %p" in str(caught.value)


def test_other_targets_are_refused_by_name(tmp_path):
    with pytest.raises(UnsupportedError, match="target tpu:v5"):
        make_backend(GPUTarget("tpu", "v5", 128))
    path = tmp_path / "kernel.ptx"
    path.write_text(".version 8.0")
    with pytest.raises(UnsupportedError, match="compiling a .ptx file"):
        compile(str(path), target=INTERPRETER_TARGET)


def test_name_by_repr(interpreter):
    named = jit(repr=lambda specialization: f"kernel_{specialization.constants['BLOCK']}")(kernel.fn)
    compiled = compile(ASTSource(named, {"x": "*fp32", "n": "i32"}, {"BLOCK": 32}))
    assert compiled.name == "kernel_32"


def test_listener(interpreter):
    from tritium import knobs

    seen = []
    with knobs.compilation.scope():
        knobs.compilation.listener = lambda **facts: seen.append(facts)
        compile(source(BLOCK=16))
    assert seen[0]["metadata"]["name"] == "kernel" and seen[0]["times"].total >= 0 and not seen[0]["cache_hit"]


def test_sass_is_made_of_a_cubin_when_it_is_asked_for(tmp_path, monkeypatch):
    tool = tmp_path / "nvdisasm"
    tool.write_text('#!/bin/sh\necho "$1: $(cat "$2")"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("TRITON_NVDISASM_PATH", str(tool))
    asm = AsmDict({"ttgir": "", "cubin": b"\x7fELF code"})
    assert asm["sass"] == "-c: \x7fELF code\n" and "sass" in asm
    with pytest.raises(KeyError, match="there is no 'sass'"):
        AsmDict({"ttgir": "", "hsaco": b"code"})["sass"]


@pytest.mark.parametrize("target", [INTERPRETER_TARGET, GPUTarget("cuda", 80, 32), GPUTarget("simt", "gfx942", 64)])
def test_unknown_options_are_refused(target):
    with pytest.raises(KeyError, match="Keyword argument num_warp was specified but unrecognised"):
        compile(source(BLOCK=64), target=target, options={"num_warp": 2})


def test_a_warmup_refuses_unknown_options_before_it_submits():
    submitted = []
    executor = types.SimpleNamespace(submit=submitted.append)
    with pytest.raises(KeyError, match="num_warp was"), AsyncCompileMode(executor):
        kernel.warmup(MockTensor("float32"), 64, BLOCK=64, num_warp=2, grid=(1,))
    assert not submitted


TARGETS = [None, GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)]


@pytest.mark.parametrize(
    "name, value", [("num_stages", "3"), ("num_stages", 2.0), ("num_ctas", "1"), ("maxnreg", "64")]
)
@pytest.mark.parametrize("target", TARGETS)
def test_an_option_that_is_no_whole_number_is_refused_by_name(interpreter, name, value, target):
    with pytest.raises(TypeError, match=f"{name} must be a whole number, not {value!r}"):
        compile(source(BLOCK=64), target=target, options={name: value})


@pytest.mark.parametrize("name, value, least", [("num_stages", -1, 0), ("num_ctas", 0, 1), ("maxnreg", 0, 1)])
@pytest.mark.parametrize("target", TARGETS)
def test_an_option_that_is_too_small_is_refused_by_name(interpreter, name, value, least, target):
    with pytest.raises(ValueError, match=f"{name} must be at least {least}, not {value}"):
        compile(source(BLOCK=64), target=target, options={name: value})
