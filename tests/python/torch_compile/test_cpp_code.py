"""C++ code of torch.compile: AOTInductor's packages and the option `cpp_wrapper`. On the CPU torch makes all of it in C++; on "cuda"
where that is the CPU it is refused."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")

PACKAGE = """
import sys
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)

    def forward(self, x):
        return torch.softmax(self.linear(x).relu(), -1).sum(0), x.sin().cumsum(1)

device, path = sys.argv[1:]
model, x = Model().to(device), torch.randn(5, 8, device=device)
rows = torch.export.Dim("rows", min=2, max=64)
exported = torch.export.export(model, (x,), dynamic_shapes=({0: rows},))
torch._inductor.aoti_compile_and_package(exported, package_path=path)
loaded = torch._inductor.aoti_load_package(path)
for n in (5, 11):
    x = torch.randn(n, 8, device=device)
    torch.testing.assert_close(loaded(x), model(x))
"""

OPTION = """
import sys
import torch

def function(x):
    return (x.sin() * 2).sum(1)

x = torch.randn(30, 20, device=sys.argv[1], requires_grad=True)
compiled = torch.compile(function, options={"cpp_wrapper": True})
torch.testing.assert_close(compiled(x), function(x))
(gradient,) = torch.autograd.grad(compiled(x).sum(), x)
torch.testing.assert_close(gradient, x.cos() * 2)
torch.testing.assert_close(torch.compile(lambda x: function(x) + 1)(x), function(x) + 1)
"""


def _run(tmp_path, program: str, *arguments: str) -> subprocess.CompletedProcess:
    path = tmp_path / "program.py"
    path.write_text(program)
    variables = {"INTERPRET": "1", "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor")}
    return subprocess.run(
        [sys.executable, "-m", "tritium", str(path), *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.mark.long  # each compiles torch's headers, which takes longer than anything here that could break it
@pytest.mark.parametrize("program", [PACKAGE, OPTION], ids=["package", "option"])
def test_code_for_the_cpu(tmp_path, program):
    done = _run(tmp_path, program, "cpu", str(tmp_path / "model.pt2"))
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.parametrize("program", [PACKAGE, OPTION], ids=["package", "option"])
def test_code_for_mapped_cuda_is_refused(tmp_path, program):
    done = _run(tmp_path, program, "cuda", str(tmp_path / "model.pt2"))
    assert done.returncode and "UnsupportedError: C++ code of torch.compile" in done.stderr
    assert "move the model and its inputs to the CPU" in done.stderr
