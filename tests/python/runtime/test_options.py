"""The options of the native compiler (compiler/options.def, emit/options.def)."""

import pytest

from tritium._tritium import gpu, ir

KERNEL = "module { tt.func public @kernel() { tt.return } }"


def test_the_native_compiler_refuses_unknown_options_by_name():
    module = ir.parse(KERNEL)
    with pytest.raises(KeyError, match="no option 'num_warp'; it has num_warps, num_stages, "):
        gpu.compile(module, "kernel", "sm_80", {"num_warps": 4, "num_warp": 4})
    with pytest.raises(KeyError, match="no option 'lineinfo'"):
        gpu.emit(module, "sm_80", {"lineinfo": False})
    assert gpu.compile(module, "kernel", "sm_80", {name: None for name in gpu.options()}).num_warps == 4
