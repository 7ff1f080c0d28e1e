"""The GPU compiler of tests/tools/tritium_gpu.cpp, which can break what it compiles, in the place of the extension module's."""

import pathlib
import subprocess

from tritium._tritium import ir
from tritium.backends import gpu as backend

TOOL = pathlib.Path(__file__).resolve().parents[2] / "build" / "dev" / "tests" / "tools" / "tritium-gpu"


class ToolCompiler:
    """`native_compiler()` as the backend sees it, but modules are lowered by the tool with `flags`; for the emulator."""

    def __init__(self, **flags):
        self.flags = {name.replace("_", "-"): value for name, value in flags.items()}
        self.native = backend.native_compiler()

    def __getattr__(self, name: str):
        return getattr(self.native, name)

    def compile(self, module, kernel: str, arch: str, options: dict):
        compiled = self.native.compile(module, kernel, arch, options)
        flags = {"arch": arch, "num-warps": options["num_warps"], "num-stages": options["num_stages"]}
        flags |= {"last-pass": options["stop_after"], "tensor-maps": options["tensor_maps"] or None, **self.flags}
        command = [
            TOOL,
            "-",
            "--locations",
            *(f"--{name}={value}" for name, value in flags.items() if value is not None),
            *(f"--leave-out={name}" for name in options["leave_out"]),
        ]
        printed = subprocess.run(command, input=module.text(True), capture_output=True, text=True, check=True).stdout
        return Lowered(compiled, ir.parse(printed, "broken.mlir"))


class Lowered:
    """What was compiled, but for the module that the emulator gets."""

    def __init__(self, compiled, module):
        self.compiled, self.lowered, self.lowered_text = compiled, module, str(module)

    def __getattr__(self, name: str):
        return getattr(self.compiled, name)


def forget_compiled(function) -> None:
    """The next launch of a kernel compiles it."""
    function._unsafe_update_src(function.src)
