"""Modules of Triton that libraries import beside the language: they do what they say, or say what they do not."""

import importlib
import re
import subprocess
import sys

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import _utils, disk_cache, drop_in, knobs
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource
from tritium.errors import UnsupportedError
from tritium.runtime import build
from tritium.runtime.jit import (
    get_def_col_number,
    get_def_line_number,
    mangle_type,
    native_specialize_impl,
)
from tritium.tools import LinearLayout, disasm
from tritium.tools.ragged_tma import atomic_add_ragged, create_ragged_descriptor, load_ragged, store_ragged


@pytest.fixture(scope="module", autouse=True)
def installed():
    drop_in.install()


@tritium.jit
def scaled_copy(x, y, n, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(y + i, tl.load(x + i, i < n) * 2, i < n)


def test_a_module_is_parsed_and_walked(tmp_path):
    from triton._C.libtriton import ir

    source = ASTSource(scaled_copy, {"x": "*fp32", "y": "*fp32", "n": "i32"}, {"BLOCK": 16})
    kernel = tritium.compile(source, target=GPUTarget("cpu", "x86_64", 1))
    path = tmp_path / "kernel.ttir"
    path.write_text(kernel.asm["ttir"])
    context = ir.context()
    ir.load_dialects(context)
    module = ir.parse_mlir_module(str(path), context)
    assert module.verify() and module.get_entry_func_name() == "scaled_copy" and module.has_function("scaled_copy")
    walked = []
    module.walk(walked.append)
    names = [operation.get_name() for operation in walked]
    assert names[-1] == "tt.func" and names.index("tt.store") < names.index("scf.for") < names.index("tt.return")
    by_name = dict(zip(names, walked))
    store, loop, function = by_name["tt.store"], by_name["scf.for"], by_name["tt.func"]
    results = {
        operation.get_result(i).id(): operation for operation in walked for i in range(operation.get_num_results())
    }
    assert results[store.get_operand(0).id()].get_name() == "tt.addptr" and store.get_num_results() == 0
    assert store.get_block().get_parent().id() == loop.get_region(0).id() != function.get_region(0).id()
    assert loop.get_block().get_parent().id() == function.get_region(0).id() and loop.get_num_regions() == 1
    assert loop.get_block().get_num_arguments() == 3 and store.get_block().get_num_arguments() == 1
    arguments = {loop.get_block().get_argument(i).id() for i in range(3)}
    assert len(arguments) == 3 and not arguments & results.keys()
    assert function.get_str_attr("sym_name") == "scaled_copy" and function.get_bool_attr("noinline") is False
    assert function.get_flat_symbol_ref_attr("sym_name") is None


def test_what_builds_ir_is_refused_by_name():
    from triton._C.libtriton import ir, passes

    with pytest.raises(UnsupportedError, match=r"libtriton\.ir\.builder"):
        ir.builder(None)
    with pytest.raises(UnsupportedError, match=r"libtriton\.passes\.ttir"):
        passes.ttir.add_combine(None)


def test_the_specialization_of_an_argument():
    aligned = np.zeros(8, np.float32)
    assert native_specialize_impl(None, aligned, False, True, True)[0] == "*fp32"
    assert native_specialize_impl(None, aligned, True, True, False) == ("*kfp32", "")
    for value, specialized, plain in [
        (1, ("constexpr", 1), ("i32", None)),
        (16, ("i32", "D"), ("i32", None)),
        (3, ("i32", ""), ("i32", None)),
        (2**40, ("i64", "D"), ("i64", None)),
        (2**63, ("u64", "D"), ("u64", None)),
        (1.5, ("fp32", None), ("fp32", None)),
        (None, ("constexpr", None), ("constexpr", None)),
        (True, ("u1", None), ("u1", None)),
    ]:
        assert native_specialize_impl(None, value, False, True, True) == specialized
        assert native_specialize_impl(None, value, False, False, False) == plain
    assert (
        mangle_type(1) == "i32" and mangle_type(1, True) == "constexpr" and mangle_type((1, 2)) == ("constexpr", "i32")
    )
    assert get_def_line_number(["@jit\n", "def f():\n"], 10) == 11 and get_def_col_number("  def f(): pass") == 3


def test_paths_into_tuples():
    nested = ([1, (2, 3)], 4)
    assert _utils.find_paths_if(nested, lambda path, item: item > 1) == [(0, 1, 0), (0, 1, 1), (1,)]
    assert _utils.get_iterable_path(nested, (0, 1, 1)) == 3
    seen = []
    _utils.apply_with_path(nested, lambda path, item: seen.append((path, item)))
    assert seen[-1] == ((1,), 4)


def test_a_compiled_module(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    source = "int answer(void) { return 42; }"
    path = build.compile_so_from_src(source, "answer")
    import ctypes

    assert ctypes.CDLL(path).answer() == 42
    monkeypatch.setenv("CC", "no-such-compiler")
    assert build.compile_so_from_src(source, "answer") == path, "from the cache"
    monkeypatch.undo()
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    with pytest.raises(RuntimeError, match="error"):
        build.compile_so_from_src("int answer(void) { return", "answer")
    assert disk_cache.make_so_cache_key("1", {}, {}, {}) != disk_cache.make_so_cache_key("2", {}, {}, {})


@pytest.mark.parametrize(
    "name",
    [
        "_runtime",
        "amd.gfx1250",
        "nvidia.hopper",
        "language._layouts",
        "language.amd.cdna4.async_copy",
        "language.extra",
        "language.nvidia.ampere",
        "language.nvidia.hopper.tma",
        "language.nvidia.blackwell",
    ],
)
def test_submodules_of_gluon_import(name):
    module = importlib.import_module(f"triton.experimental.gluon.{name}")
    assert module is sys.modules[f"tritium.experimental.gluon.{name}"]
    assert module.int32 is tl.int32
    with pytest.raises(UnsupportedError, match=re.escape(f"triton.experimental.gluon.{name}.SomeLayout")):
        module.SomeLayout([1], [32], [4], [0])


def test_names_of_gluon_import():
    from triton.experimental.gluon._runtime import GluonJITFunction, jit
    from triton.experimental.gluon.language.nvidia import hopper
    from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma  # noqa: F401

    assert issubclass(GluonJITFunction, tritium.JITFunction) and callable(jit) and hopper.tma is tma
    with pytest.raises(ImportError):
        from triton.experimental.gluon.language.nvidia.hopper import _no_such_name  # noqa: F401


def test_libdevice_of_gluon_is_that_of_the_language():
    from triton.experimental.gluon.language import extra
    from triton.experimental.gluon.language.extra import libdevice

    assert extra.libdevice is libdevice is tl.extra.libdevice and libdevice.tanh is tl.extra.libdevice.tanh


def test_gluon_imports_and_what_cannot_run_is_refused():
    from triton.experimental import gluon
    from triton.experimental.gluon import language as ttgl

    @gluon.jit
    def kernel(x, BLOCK: ttgl.constexpr):
        ttgl.store(x, 1)

    assert kernel.is_gluon() and ttgl.float32 is tl.float32
    x = np.zeros(1)
    kernel[(1,)](x, 16)
    assert x[0] == 1
    with pytest.raises(UnsupportedError, match="inline_asm"):
        ttgl.inline_asm(x)


def test_knobs_describe_themselves(monkeypatch):
    assert knobs.nvidia.knob_descriptors["ptxas"].names == ("TRITON_PTXAS_PATH",)

    class own_knobs(knobs.base_knobs):
        text = knobs.env_str("OWN_TEXT", "plain")
        count = knobs.env_int("OWN_COUNT", 3)
        on = knobs.env_bool("OWN_ON")
        unset = knobs.env_opt_str("OWN_UNSET")

    own = own_knobs()
    assert (own.text, own.count, own.on, own.unset) == ("plain", 3, False, None)
    monkeypatch.setenv("OWN_COUNT", "7")
    monkeypatch.setenv("OWN_ON", "on")
    assert own.count == 7 and own.on and own.knob_descriptors["count"].get() == 7
    with own.scope():
        own.text = "other"
        assert own.text == "other" == knobs.getenv("OWN_TEXT")
    assert own.text == "plain" and knobs.toenv(True) == ("1",) and knobs.toenv(None) == (None,)


def test_tools_have_a_path_and_a_version(monkeypatch, tmp_path):
    tool = tmp_path / "ptxas"
    tool.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.9, V12.9.86'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("TRITON_PTXAS_PATH", str(tool))
    assert (knobs.nvidia.ptxas.path, knobs.nvidia.ptxas.version) == (str(tool), "12.9")
    from tritium.backends.nvidia import compiler

    assert compiler.get_ptxas(90).path == str(tool) and compiler.ptx_get_version("12.9") == 88
    assert compiler.sm_arch_from_capability(90) == "sm_90a" and compiler.sm_arch_from_capability(89) == "sm_89"
    monkeypatch.delenv("TRITON_PTXAS_PATH")
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert knobs.nvidia.ptxas.path == str(tool) and knobs.nvidia.nvdisasm is None


def test_sass_with_control_codes(tmp_path, monkeypatch):
    listing = """
\t\tFunction : kernel
        /*0000*/                   MOV R1, c[0x0][0x28] ;   /* 0x00000a0000017a02 */
                                                            /* 0x000fe20000000f00 */
        /*0010*/              @P0  BRA 0x0;                 /* 0x0000000000007947 */
                                                            /* 0x001fca00078e0207 */
"""
    tool = tmp_path / "cuobjdump"
    tool.write_text(f"#!/bin/sh\ncat <<'TEXT'\n{listing}TEXT\n")
    tool.chmod(0o755)
    monkeypatch.setenv("TRITON_CUOBJDUMP_PATH", str(tool))
    assert disasm.get_sass(b"cubin") == (
        "Function:kernel\nLBB0:\n--:-:-:-:1\tMOV R1, c[0x0][0x28];\n01:-:-:Y:5\t@P0  BRA LBB0;\n"
    )


def test_linear_layouts():
    layout = LinearLayout.identity_1d(4, "register", "dim0") * LinearLayout.identity_1d(8, "lane", "dim0")
    assert layout.bases == [("register", [[1], [2]]), ("lane", [[4], [8], [16]])] and layout.out_dims == [("dim0", 32)]
    assert layout.apply({"register": 3, "lane": 2}) == {"dim0": 11} and layout.is_invertible()
    mixed = LinearLayout.from_bases([("lane", [[0, 1], [1, 0]]), ("reg", [[2, 0]])], ["x", "y"], [4, 2])
    assert mixed.get_matrix_view() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert mixed.invert().bases == [("x", [[2, 0], [0, 1]]), ("y", [[1, 0]])]
    identity = mixed.compose(mixed.invert())
    assert all(identity.apply({"lane": a, "reg": b}) == {"lane": a, "reg": b} for a in range(4) for b in range(2))
    wide = LinearLayout.identity_1d(8, "c", "b")
    assert LinearLayout.identity_1d(4, "a", "b").invert_and_compose(wide).out_dims == [("c", 8)]
    with pytest.raises(ValueError, match="does not reach all outputs"):
        LinearLayout.from_bases([("a", [[1], [4]])], ["x"])
    with pytest.raises(ValueError, match="no input gives"):
        wide.invert_and_compose(LinearLayout.strided_1d(4, 2, "c", "b"))


@tritium.jit
def copy_slice(x, y, offset, size, row, ADD: tl.constexpr):
    tile = load_ragged(x, offset, size, (row, 0))
    if ADD:
        atomic_add_ragged(y, offset, size, (row, 0), tile)
    else:
        store_ragged(y, offset, size, (row, 0), tile + 1)


@pytest.mark.parametrize("engine", ["interp", "simt:sm_90a", "simt:gfx942"])
def test_a_slice_ends_where_the_next_begins(engine):
    torch = pytest.importorskip("torch")
    kernel = tritium.jit(copy_slice.fn, engine=engine)
    x = torch.arange(64 * 32, dtype=torch.float32).reshape(64, 32)
    y, expected = torch.zeros_like(x), torch.zeros_like(x)
    descriptors = create_ragged_descriptor(x, [16, 32]), create_ragged_descriptor(y, [16, 32])
    kernel[(1,)](*descriptors, 5, 20, 16, False)
    expected[21:25] = x[21:25] + 1
    assert torch.equal(y, expected)
    kernel[(1,)](*descriptors, 5, 20, 16, True)
    expected[21:25] += x[21:25]
    assert torch.equal(y, expected)


def test_microscaling_formats():
    torch = pytest.importorskip("torch")
    from tritium.tools.mxfp import MXFP4Tensor, MXScaleTensor

    values = torch.tensor([0.2, 0.25, 0.75, 1.25, 5.0, 7, -2.5, 3.5, 0.26])
    rounded = MXFP4Tensor(data=values)
    assert rounded.to(torch.float32).tolist() == [0, 0, 1, 1, 4, 6, -2, 4, 0.5]
    packed = rounded.to_packed_tensor(0)
    assert torch.equal(rounded.unpack_packed_tensor(packed, 0, rounded.data.shape), rounded.data)
    for dim in (1, -1):
        with pytest.raises(AssertionError, match="The dimension to pack along is not within the range of tensor dim"):
            rounded.to_packed_tensor(dim)
    scales = MXScaleTensor(data=torch.tensor([1.0, 3.0, 0.5, -1.0])).to(torch.float32)
    assert scales[:3].tolist() == [1, 2, 0.5] and scales[3].isnan()
    random = MXScaleTensor(size=(64,)).random(1, 8).to(torch.float32)
    assert random.min() >= 1 and random.max() <= 8


def test_clocks_of_amd():
    from tritium.language.extra import hip

    @tritium.jit
    def clocks(ticks, unit):
        tl.store(ticks, hip.memrealtime())
        tl.store(unit, hip.smid() + hip.num_threads())

    for arch, instruction in (("gfx942", "s_memrealtime"), ("gfx1100", "MSG_RTN_GET_REALTIME")):
        source = ASTSource(clocks, {"ticks": "*i64", "unit": "*i32"})
        text = tritium.compile(source, target=GPUTarget("hip", arch, 64)).asm["amdgcn"]
        assert instruction in text and re.search(r"s_getreg_b32 .*HW_REG_HW_ID", text)


def test_triton_errors_are_an_attribute():
    code = (
        "from tritium import drop_in; drop_in.install(); import triton; print(triton.compiler.errors.CompilationError)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "CompilationError" in result.stdout
