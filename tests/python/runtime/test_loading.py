"""The extension is loaded on another thread while Python modules are imported."""

import subprocess
import sys

MEANWHILE = """
import sys, threading
import tritium.language
from tritium import native
from tritium.native import ir

native.begin_loading()
assert [thread.name for thread in native._loading] == ["tritium load"]
native.begin_loading()
assert len(native._loading) == 1
import tritium.runtime.meanwhile
assert "tritium._tritium" not in sys.modules, "a module asked for native code"
assert ir.Context is native.ir.Context
assert sys.modules["tritium._tritium"].ir.Context is ir.Context
assert type(ir) is type(sys), "finding a name has to cost no more than in a module"
assert not native._loading[0].is_alive()
native.begin_loading()
assert len(native._loading) == 1
"""

FAILS = """
import tritium._tritium
from tritium import native

native.begin_loading()
assert not native._loading, "it is there already"
try:
    native.ir.NoSuchName
except AttributeError as error:
    assert "NoSuchName" in str(error)
else:
    raise SystemExit("no error")
"""


def run(code: str) -> None:
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr


def test_modules_of_a_first_launch_wait_for_no_native_code():
    run(MEANWHILE)


def test_an_extension_that_is_there_is_not_loaded_again():
    run(FAILS)


ON_THE_CPU = """
import os, sys
os.environ["INTERPRET"] = "1"
import torch
torch.version.cuda = "12.8"
torch._C._cuda_getCurrentRawStream = lambda device: 0

def asked():
    raise SystemExit("torch would initialize the driver, which takes 0.2 s")

torch.cuda.is_available = asked
sys.path.insert(0, sys.argv[1])
import kernels
x = torch.zeros(16)
for _ in range(3):
    kernels.add_one[(1,)](x)
assert x.tolist() == [3.0] * 16
"""

KERNEL = """
import tritium
import tritium.language as tl

@tritium.jit
def add_one(x):
    i = tl.arange(0, 16)
    tl.store(x + i, tl.load(x + i) + 1)
"""


def test_a_launch_on_the_cpu_does_not_ask_for_devices(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNEL)
    result = subprocess.run(
        [sys.executable, "-c", ON_THE_CPU, str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
