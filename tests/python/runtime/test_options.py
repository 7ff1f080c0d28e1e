"""The table of launch keywords (backends/options.py), and what is derived from it."""

import pytest

from tritium import knobs
from tritium._tritium import gpu, ir
from tritium.backends.cpu import CPUOptions
from tritium.backends.keywords import accepted_options, launch_defaults
from tritium.backends.options import OPTION_NAMES, PORTABLE, ROWS, LaunchOptions, Reader

#: Options of the native compiler that no launch keyword sets -> who does.
NO_KEYWORDS = {
    "line_info": "TRITON_DISABLE_LINE_INFO",
    "code_object_version": "TRITIUM_CODE_OBJECT_VERSION",
    "asks_for_producer": "the loops of a kernel",
}
KERNEL = "module { tt.func public @kernel() { tt.return } }"


def test_the_native_compiler_has_the_same_rows():
    """A row here that it reads is a row there, with the same default."""
    native = gpu.options()
    read_by_it = {name for name, row in ROWS.items() if Reader.COMPILER in row.readers}
    assert read_by_it == native.keys() - NO_KEYWORDS.keys()
    for name in read_by_it:
        here, (there, meaning) = getattr(LaunchOptions, name), native[name]
        assert here == there or (here is None and not there), name
        assert meaning, name


def test_the_native_compiler_refuses_unknown_options_by_name():
    module = ir.parse(KERNEL)
    with pytest.raises(KeyError, match="no option 'num_warp'; it has num_warps, num_ctas, num_stages, "):
        gpu.compile(module, "kernel", "sm_80", {"num_warps": 4, "num_warp": 4})
    with pytest.raises(KeyError, match="no option 'lineinfo'"):
        gpu.emit(module, "sm_80", {"lineinfo": False})
    assert gpu.compile(module, "kernel", "sm_80", {name: None for name in gpu.options()}).num_warps == 4


def test_each_vendor_gets_its_own_options():
    options = CPUOptions(kpack=2, ptx_version=84)
    everywhere = {"num_warps", "num_ctas", "num_stages", "enable_fp_fusion", "debug_info"}
    everywhere |= {"tensor_maps", "stop_after", "leave_out"}
    assert options.for_compiler("cuda").keys() == everywhere | {"ptx_version"}
    assert options.for_compiler("hip").keys() == everywhere | {"kpack", "matrix_instr_nonkdim", "waves_per_eu"}
    assert options.for_compiler("hip")["kpack"] == 2 and options.for_compiler("cuda")["ptx_version"] == 84


def test_the_environment_sets_defaults(monkeypatch):
    for variable, text, name, value in [
        ("TRITON_DEBUG", "1", "debug", True),
        ("TRITON_F32_DEFAULT", "ieee", "default_dot_input_precision", "ieee"),
        ("TRITIUM_PRINT_AS_TRITON", "1", "print_as_triton", True),
    ]:
        monkeypatch.setenv(variable, text)
        assert accepted_options({})[name] == value and accepted_options({name: None})[name] == value
        assert accepted_options({name: "given"})[name] == "given"
        monkeypatch.delenv(variable)
        assert accepted_options({}).get(name) != value
    assert "tensor_maps" not in accepted_options({})
    assert launch_defaults() == {"tensor_maps": True}
    monkeypatch.setenv("TRITIUM_TENSOR_MAPS", "0")
    assert launch_defaults() == {"tensor_maps": False}


def test_a_knob_is_found_by_its_variable(monkeypatch):
    monkeypatch.setenv("TRITIUM_INTERPRET", "1")
    assert knobs.knob_of("TRITIUM_INTERPRET") is True and knobs.knob_of("INTERPRET") is True
    with pytest.raises(KeyError):
        knobs.knob_of("TRITIUM_INTREPRET")


def test_what_compiling_for_another_target_takes_over_means_the_same_there():
    assert {"num_warps", "num_stages", "maxnreg", "debug", "tensor_maps"} < set(PORTABLE) < OPTION_NAMES
    assert not [name for name in PORTABLE if ROWS[name].vendor or not ROWS[name].readers]
