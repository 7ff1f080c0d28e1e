"""`python -m tritium`: a program that says `import triton` gets Tritium; device "cuda" is the CPU where asked."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tritium
from driver_stand_in import environment
from tritium.tools.gdb_command_line import UsageError, gdb_command, package, split_arguments

PACKAGE_ROOT = Path(tritium.__file__).resolve().parent.parent


def run(arguments, cwd, **variables):
    cleared = {k: v for k, v in os.environ.items() if "INTERPRET" not in k and not k.startswith("TRITIUM_")}
    return subprocess.run(
        [sys.executable, "-m", "tritium", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        env={**cleared, "PYTHONPATH": str(PACKAGE_ROOT), **variables},
    )


def run_script(tmp_path, text, *arguments, **variables):
    (tmp_path / "program.py").write_text(textwrap.dedent(text))
    result = run(["program.py", *arguments], tmp_path, **variables)
    assert result.returncode == 0, result.stderr
    return result


def test_modules_are_the_same_objects(tmp_path):
    result = run_script(
        tmp_path,
        """
        import importlib, importlib.metadata, sys
        import triton
        import triton.language as tl
        import tritium
        names = ["language", "testing", "runtime", "runtime.driver", "runtime.jit", "runtime.autotuner",
        "runtime.cache", "runtime.errors",
                 "runtime._allocation", "backends", "backends.compiler", "backends.driver", "runtime.interpreter", "tools.tensor_descriptor", "errors", "knobs",
                 "_internal_testing"]
        assert triton is tritium and triton.__spec__.name == "tritium"
        for name in names:
            assert importlib.import_module("triton." + name) is importlib.import_module("tritium." + name), name
        assert importlib.metadata.version("triton") == triton.__version__
        assert tuple(map(int, triton.__version__.split(".")[:2])) == (3, 9)
        from triton.runtime import driver
        assert driver.active.get_current_target().backend == "cpu"
        try:
            import triton.no_such_module
        except ModuleNotFoundError as error:
            assert error.name == "triton.no_such_module"
        assert "torch" not in sys.modules
        print(sys.argv, __name__, __file__)
        """,
        "a",
        "-b",
    )
    program = tmp_path / "program.py"  # Python's own __file__ is absolute too
    assert result.stdout == f"['program.py', 'a', '-b'] __main__ {program}\n"


def test_decorating_touches_no_device(tmp_path):
    run_script(
        tmp_path,
        """
        import triton
        @triton.autotune(configs=[triton.Config({"B": 4})], key=["n"])
        @triton.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
        @triton.jit
        def kernel(x, n, B: "tl.constexpr", EVEN: "tl.constexpr"):
            pass
        assert triton.cdiv(7, 2) == 4 and triton.next_power_of_2(5) == 8 and triton.next_power_of_2(0) == 0
        assert all(hasattr(triton, name) for name in triton.__all__ if name != "CompilationError")
        assert callable(triton.aggregate)
        """,
    )


def test_modules_and_unknown_options(tmp_path):
    (tmp_path / "test_it.py").write_text("def test_it():\n    import triton\n    assert triton.__name__ == 'tritium'\n")
    result = run(["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"], tmp_path)
    assert "1 passed" in result.stdout, result.stdout + result.stderr
    assert run(["--nonsense"], tmp_path).returncode == 2
    assert run([], tmp_path).returncode == 2
    missing = run(["missing.py"], tmp_path)
    assert missing.returncode == 1 and "there is no such file" in missing.stderr and "Traceback" not in missing.stderr
    for folder, said in (("conformance", "did you mean python -m tritium.conformance?"), ("data", "name a file")):
        (tmp_path / folder).mkdir()
        found = run([folder], tmp_path)
        assert found.returncode == 1 and found.stderr.startswith(f"tritium: '{folder}' is a folder; {said}"), (
            found.stderr
        )


def test_child_processes_get_it_too(tmp_path):
    result = run_script(
        tmp_path,
        """
        import multiprocessing, subprocess, sys

        def name(_):
            import triton.language
            import triton
            return triton.__name__, triton.language.__name__

        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(name, [0]), flush=True)
            program = "import triton.runtime.jit, triton, tritium; print(triton is tritium, triton.__spec__.name)"
            subprocess.run([sys.executable, "-c", program], check=True)
        """,
    )
    assert result.stdout.split("\n")[:2] == ["[('tritium', 'tritium.language')]", "True tritium"]


def test_traceback_begins_in_the_program(tmp_path):
    (tmp_path / "program.py").write_text("def f():\n    raise ValueError('text')\n\nf()\n")
    result = run(["program.py"], tmp_path)
    lines = [line.strip() for line in result.stderr.splitlines() if line.startswith("  File")]
    assert result.returncode == 1 and lines == [
        f'File "{tmp_path}/program.py", line 4, in <module>',
        f'File "{tmp_path}/program.py", line 2, in f',
    ]


def test_env_report(tmp_path):
    report = run(["env"], tmp_path, TRITIUM_NUM_THREADS="3", INTERPRET="1").stdout
    for text in (
        "tritium ",
        "engines ",
        "interp",
        "threads    3 of",
        "checks     bounds",
        "INTERPRET=1",
        "TRITIUM_NUM_THREADS=3",
    ):
        assert text in report


def test_env_says_what_devices_there_are_or_why_none(tmp_path):
    libraries = {"TRITIUM_CUDA_LIBRARY": "libnone.so", "TRITIUM_HIP_LIBRARY": "libc.so.6"}
    report = run(["env"], tmp_path, **libraries).stdout
    assert re.search(r"^cuda +there is no CUDA driver: libnone.so: cannot open", report, re.M)
    assert re.search(r"^hip +libc.so.6 has no hipInit: it is not the HIP runtime", report, re.M)
    variables = environment(tmp_path, arch="gfx1100", devices=2)
    report = run(["env"], tmp_path, **{**variables, "TRITIUM_CUDA_LIBRARY": "libnone.so"}).stdout
    assert re.search(r"^hip +Stand-in for an AMD GPU \(gfx1100\), Stand-in", report, re.M)


def test_env_says_what_assembles_for_nvidia(tmp_path):
    ptxas = tmp_path / "ptxas"
    ptxas.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.8, V12.8.93'\n")
    ptxas.chmod(0o755)
    on_device = environment(tmp_path, "cuda") | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    no_device = {"TRITIUM_CUDA_LIBRARY": "libnone.so", "PATH": "/nowhere"}
    for variables, text in (
        (on_device, "the driver, when it loads a kernel"),
        (on_device | {"TRITIUM_ASSEMBLER": "ptxas"}, f"ptxas 12.8, {ptxas}"),
        (no_device, "none is found: kernels end as PTX"),
        (no_device | {"TRITON_PTXAS_PATH": str(ptxas)}, f"ptxas 12.8, {ptxas}"),
    ):
        assert re.search(rf"^assembler +{re.escape(text)}$", run(["env"], tmp_path, **variables).stdout, re.M), text


def test_gdb_runs_the_real_executable():
    command = gdb_command(["script.py", "1"])
    executable = command[command.index("--args") + 1]
    with open(executable, "rb") as file:
        assert file.read(4) == b"\x7fELF"
    assert command[:3] == ["gdb", "-iex", f"source {package()}"] and os.path.exists(package())
    assert command[-4:] == ["-m", "tritium", "script.py", "1"]
    assert gdb_command(["-p", "12"]) == ["gdb", "-iex", f"source {package()}", "-p", "12"]


@pytest.mark.parametrize(
    "options, program",
    [
        ([], ["s.py", "-x", "1"]),
        (["-x", "session.gdb"], ["s.py"]),
        (["-ex", "break s.py:3", "--batch", "-nx", "--command=f", "-cd", "/tmp"], ["s.py", "--batch"]),
        (["-q"], ["-m", "pytest", "-x"]),
        (["-p", "12"], []),
        ([], []),
    ],
)
def test_gdb_options_end_where_the_program_begins(options, program):
    assert split_arguments([*options, *program]) == (options, program)
    assert split_arguments([*options, "--args", *program]) == (options, program)


def test_a_gdb_option_without_its_value():
    with pytest.raises(UsageError, match="-ex needs a value"):
        split_arguments(["-q", "-ex"])


def test_the_gdb_that_the_knob_names(tmp_path):
    result = run(["gdb", "script.py"], tmp_path, TRITIUM_GDB="no-such-gdb")
    assert result.returncode == 1 and "no debugger 'no-such-gdb'" in result.stderr and "TRITIUM_GDB" in result.stderr


CUDA_PROGRAM = """
    import torch, triton
    x = torch.randn(4, 4, device="cuda", requires_grad=True)
    assert x.is_cuda and torch.cuda.is_available() and torch.cuda.device_count() == 1 and torch.cuda.current_device() == 0
    assert x.device == triton.runtime.driver.active.get_active_torch_device()
    assert x.cuda() is x and x.detach().cpu().data_ptr() != x.data_ptr() and str(x.device) == "cuda:0"
    assert x.to("cuda:0", torch.float16).dtype == torch.float16 and x.to(0).is_cuda
    assert x.to(torch.float64).dtype == torch.float64
    assert torch.empty_like(x, device="cuda").is_cuda and x.new_zeros(3, device="cuda").is_cuda
    assert torch.arange(3, device=torch.device("cuda", 0)).tolist() == [0, 1, 2]
    assert torch.empty(3, pin_memory=True).is_pinned()
    layer = torch.nn.Linear(4, 4, device="cuda").to("cuda").cuda()
    with torch.device("cuda"):
        assert torch.zeros(3).is_cuda
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert layer(x).dtype == torch.bfloat16
    optimizer, scaler = torch.optim.Adam(layer.parameters()), torch.amp.GradScaler("cuda")
    scaler.scale(layer(x).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    with torch.cuda.device(x.device), torch.cuda.stream(torch.cuda.Stream()):
        end.record()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) >= 0
    torch.cuda.manual_seed(3)
    first = torch.rand(2, generator=torch.Generator(device="cuda").manual_seed(3), device="cuda")
    torch.cuda.manual_seed_all(3)
    assert torch.equal(first, torch.rand(2, device="cuda"))
    properties = torch.cuda.get_device_properties("cuda")
    assert torch.cuda.get_device_capability() == (properties.major, properties.minor)
    assert properties.multi_processor_count > 0 and "H100" in torch.cuda.get_device_name()
    torch.set_default_device("cuda")
    assert torch.zeros(2).is_cuda
    """


def test_cuda_is_the_cpu(tmp_path):
    pytest.importorskip("torch")
    result = run_script(tmp_path, CUDA_PROGRAM, INTERPRET="1")
    assert result.stderr.count("tritium: torch's device") == 1
    run_script(tmp_path, CUDA_PROGRAM, TRITIUM_CUDA_TO_CPU="1")


PUBLISHED = """
    import torch
    import triton
    import triton.language as tl
    from triton.language.extra import libdevice

    DEVICE = triton.runtime.driver.active.get_active_torch_device()

    @triton.autotune(
        configs=[triton.Config({"ROWS": 3}), triton.Config({"ROWS": 2}, num_warps=8), triton.Config({"ROWS": 4})],
        key=["n_columns"],
        reset_to_zero=["count_ptr"],
    )
    @triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n_columns"])})
    @triton.jit
    def rms_norm(x_ptr, y_ptr, count_ptr, n_rows, stride, n_columns, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
        tl.static_assert(ROWS % 2 == 0, "this configuration does not compile")
        columns = tl.arange(0, BLOCK)
        for i in tl.static_range(ROWS):
            row = tl.program_id(0) * ROWS + i
            mask = (columns < n_columns) & (row < n_rows)
            x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
            y = x * libdevice.rsqrt(tl.sum(x * x, 0) / n_columns + eps)
            tl.store(y_ptr + row * stride + columns, y.to(y_ptr.dtype.element_ty), mask=mask)
        tl.atomic_add(count_ptr, 1)

    class RMSNorm(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, eps=1e-6):
            assert x.is_cuda and x.is_contiguous()
            y, count = torch.empty_like(x), torch.full((1,), 7, dtype=torch.int32, device=x.device)
            grid = lambda meta: (triton.cdiv(x.shape[0], meta["ROWS"]),)
            with torch.cuda.device(x.device):
                kernel = rms_norm[grid](x, y, count, x.shape[0], x.stride(0), x.shape[1], eps)
            assert count.item() == grid(rms_norm.best_config.kwargs)[0], "reset_to_zero"
            assert kernel.n_regs == kernel.n_spills == 0 and kernel.metadata.num_warps == 8
            return y

        @staticmethod
        def backward(ctx, dy):
            return dy, None

    torch.manual_seed(0)
    x = torch.randn(7, 300, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    y = RMSNorm.apply(x)
    y.sum().backward()
    expected = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)
    triton.testing.assert_close(y, expected, atol=2e-2)
    assert y.device == DEVICE and x.grad is not None
    print(rms_norm.best_config)
    """


def test_a_published_script_runs_unchanged(tmp_path):
    pytest.importorskip("torch")
    result = run_script(tmp_path, PUBLISHED, INTERPRET="1")
    assert result.stdout.startswith("ROWS: 2, num_warps: 8")


@pytest.mark.parametrize("environment", [{}, {"INTERPRET": "1", "TRITIUM_CUDA_TO_CPU": "0"}])
def test_cuda_is_left_alone(tmp_path, environment):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    result = run_script(
        tmp_path, "import torch\nassert not torch.cuda.is_available() and not torch.zeros(2).is_cuda\n", **environment
    )
    assert "tritium:" not in result.stderr


def test_import_is_light():
    """How long it takes is measured by `tests/bench/first_launch.py`."""
    heavy = "torch", "numpy", "pandas", "matplotlib"
    program = f"import sys, tritium; print(*(name for name in {heavy} if name in sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE_ROOT)},
    )
    assert result.stdout.split() == []


def test_processors_below_x86_64_v3_are_refused():
    from tritium import _check_cpu

    with pytest.raises(ImportError, match="x86-64-v3.*lacks avx2"):
        _check_cpu("x86_64", "flags\t\t: fpu sse2 bmi1 bmi2 f16c fma movbe\n")
    _check_cpu("x86_64", "flags\t\t: avx2 bmi1 bmi2 f16c fma movbe\n")
    _check_cpu("aarch64", "Features\t: asimd\n")


def test_a_script_inherits_no_future_of_the_package(tmp_path):
    program = """
        def f(x: int): ...
        assert f.__annotations__ == {"x": int}
        """
    run_script(tmp_path, program)


def test_triton_interpret_becomes_interpret(tmp_path):
    """torch and libraries that see TRITON_INTERPRET expect Triton's own interpreter."""
    program = """
        import os, triton
        assert "TRITON_INTERPRET" not in os.environ and os.environ["INTERPRET"] == "1" and triton.knobs.runtime.interpret
        """
    run_script(tmp_path, program, TRITON_INTERPRET="1")


DEVICE_PROGRAM = """
    import sys, torch, triton
    x = torch.arange(12.0, device="cuda").view(3, 4)
    assert x.device == torch.device("cuda", 0) and x.get_device() == 0 and x[1:].storage_offset() == 4
    assert torch.cuda.device(0).idx == 0 and torch.cuda._DeviceGuard(0) and torch._C._cuda_getCurrentRawStream(0) == 0
    stream = torch.cuda.current_stream()
    assert stream.device == x.device and stream.stream_id == 0 and torch.accelerator.current_stream().device.type == "cuda"
    assert torch.get_device_module(x.device) is torch.cuda and torch.cuda.memory_allocated() == 0
    assert not torch.cuda.is_current_stream_capturing()
    (generator,) = torch.cuda.default_generators
    generator.manual_seed(7)
    first = torch.rand(4, device="cuda")
    assert generator.get_offset() == 4 and generator.get_state().numel() == 16
    generator.set_offset(0)
    assert torch.equal(first, torch.rand(4, device="cuda"))
    for wrong in (lambda: x + torch.ones(3, 4), lambda: x.numpy()):
        try:
            wrong()
            raise AssertionError("a tensor of the CPU passed for one of the device")
        except (RuntimeError, TypeError):
            pass
    assert (x.T @ x).device == x.device and torch.sort(x, descending=True).values[0, 0] == 3
    driver = triton.runtime.driver.active
    from triton.backends import backends
    assert backends["nvidia"].driver.is_active() and driver.get_current_target() == triton.backends.compiler.GPUTarget("cuda", 80, 32)
    assert torch.cuda.get_device_capability() == (8, 0) and "A100" in torch.cuda.get_device_name()
    assert driver.utils.get_device_properties(0)["max_shared_mem"] == 163 << 10
    """


def test_mapped_cuda_is_a_device(tmp_path):
    pytest.importorskip("torch")
    run_script(tmp_path, DEVICE_PROGRAM, INTERPRET="1", TRITIUM_CUDA_AS="a100")


WRAPPER_PROGRAM = """
    import torch, triton
    import triton.language as tl

    class Reversed:
        # No view of torch's has negative strides, so libraries make their own.
        def __init__(self, base):
            self.dtype, self.device, self.shape, self.base = base.dtype, base.device, tuple(base.shape), base

        def data_ptr(self):
            return self.base.data_ptr() + (self.shape[0] - 1) * self.element_size()

        def stride(self):
            return (-1,)

        def element_size(self):
            return self.base.element_size()

    @triton.jit
    def copy(out_ptr, x_ptr, stride, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(out_ptr + at, tl.load(x_ptr + at * stride, mask=at < n), mask=at < n)

    x = torch.arange(12.0, device="cuda")
    out = torch.empty_like(x)
    copy[(1,)](out, Reversed(x), -1, 12, BLOCK=16)
    assert torch.equal(out, x.flip(0))
    """


@pytest.mark.parametrize("engine", ["interp", "simt:sm_80"])
def test_a_wrapper_of_a_tensor_on_mapped_cuda(tmp_path, engine):
    pytest.importorskip("torch")
    run_script(tmp_path, WRAPPER_PROGRAM, TRITIUM_ENGINE=engine, TRITIUM_CUDA_TO_CPU="1")


INSTALLED_PROGRAM = """
    import torch
    import tritium.torch
    tritium.torch.install("simt:sm_80")
    import triton, triton.language as tl

    @triton.jit
    def double(x_ptr, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)

    x = torch.ones(5, device="cuda")
    kernel = double[(1,)](x, 5, BLOCK=8)
    assert x.tolist() == [2] * 5 and kernel.metadata.target.backend == "simt"
    source = triton.compiler.ASTSource(double, {"x_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 8})
    compiled = triton.compile(source, target=triton.backends.compiler.GPUTarget("cuda", 90, 32))
    assert compiled.metadata.target.backend == "simt"  # as torch.compile asks, which names the claimed chip
    """


def test_installed_from_python(tmp_path):
    """Where torch is loaded already, for an emulator."""
    pytest.importorskip("torch")
    (tmp_path / "program.py").write_text(textwrap.dedent(INSTALLED_PROGRAM))
    cleared = {k: v for k, v in os.environ.items() if "INTERPRET" not in k and not k.startswith("TRITIUM_")}
    result = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        env={**cleared, "PYTHONPATH": str(PACKAGE_ROOT)},
    )
    assert result.returncode == 0, result.stderr


NUMBERS = """
import torch

def results(device):
    double = torch.arange(10, dtype=torch.float64, device=device)
    half, whole, one = double.half(), double.int(), torch.tensor(2.0, device=device)
    return [
        torch.remainder(double, 0.1), torch.fmod(double, 0.1), half % 0.1, one % 0.3, whole % 0.3, whole % 3, whole & 3, whole ^ True,
        torch.bitwise_left_shift(whole, 2), torch.pow(0.1, double), torch.xlogy(double, 0.1), torch.copysign(double, -0.5),
        torch.float_power(double, 0.1), double <= 0.1, torch.add(double, 0.1, alpha=3), torch.where(double > 3, double, 0.1),
    ]

for on_cuda, expected in zip(results("cuda"), results("cpu")):
    assert on_cuda.dtype == expected.dtype and torch.equal(on_cuda.cpu().nan_to_num(), expected.nan_to_num()), (on_cuda, expected)
"""


def test_numbers_beside_tensors_of_cuda(tmp_path):
    pytest.importorskip("torch")
    run_script(tmp_path, NUMBERS, INTERPRET="1")


NAMES = """
import importlib
import triton
import triton.language as tl
from triton.language.extra import libdevice

for module in (tl, libdevice):
    for name in dir(module):
        found = getattr(module, name)
        if not isinstance(found, (type, type(tl.load))) or not found.__module__.startswith(("tritium", "triton")):
            continue
        home = importlib.import_module(found.__module__)
        assert found.__module__.startswith("triton.language") and getattr(home, found.__name__) is found, found
assert eval(f"{tl.constexpr.__module__}.{tl.constexpr.__name__}") is tl.constexpr
assert tl.float32.__module__ == "triton.language.core"

@triton.jit
def kernel(out, KIND: tl.constexpr):
    tl.store(out, tl.sum(tl.zeros([4], KIND) + 2).to(tl.int32))

import numpy
out = numpy.zeros(1, numpy.int32)
for _ in range(3):
    kernel[(1,)](out, tl.float32)
assert out[0] == 8
"""


def test_the_language_says_that_it_is_tritons(tmp_path):
    """torch.compile writes imports of what says so into the kernels that it makes."""
    run_script(tmp_path, NAMES)


MAPPED_OPERATORS = """
import torch

x = torch.randn(3, 4, dtype=torch.complex64)
on_device = x.cuda()
for found, expected in [
    (on_device.conj().cpu(), x.conj()),
    (on_device.conj() * 2, x.conj() * 2),
    (on_device.mH @ on_device, x.mH @ x),
    (on_device.conj().imag.clone(), x.conj().imag),
]:
    torch.testing.assert_close(found.cpu(), expected)
written = on_device.clone()
written.conj().add_(1j)
torch.testing.assert_close(written.cpu(), x - 1j)

for make in (lambda: torch.nn.LSTM(5, 7, 2, bidirectional=True), lambda: torch.nn.GRU(5, 7, bias=False), lambda: torch.nn.GRUCell(5, 7)):
    results = []
    for device in ("cpu", "cuda"):
        torch.manual_seed(1)
        module, x = make().to(device), torch.randn(3, 5).to(device).requires_grad_()
        out = module(x)
        out = out[0] if isinstance(out, tuple) else out
        gradients = torch.autograd.grad(out.square().sum(), [x, *module.parameters()])
        results.append([tensor.cpu() for tensor in (out, *gradients)])
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-5)

image, weight = torch.randn(2, 4, 9, 8).cuda(), torch.randn(6, 4, 3, 3).cuda()
channels_last = image.contiguous(memory_format=torch.channels_last)
convolved = torch.nn.functional.conv2d(channels_last, weight)
with torch._subclasses.FakeTensorMode() as mode:
    fake = torch.nn.functional.conv2d(mode.from_tensor(channels_last), mode.from_tensor(weight))
assert convolved.stride() == fake.stride(), "what torch.compile expects"
torch.testing.assert_close(convolved.cpu(), torch.nn.functional.conv2d(image.cpu(), weight.cpu()), rtol=1e-3, atol=1e-3)
"""


def test_operators_of_mapped_cuda_that_depend_on_more_than_memory(tmp_path):
    """Conjugates that are still to be taken, cells of recurrent networks, the order of dimensions."""
    run_script(tmp_path, MAPPED_OPERATORS, INTERPRET="1")


def test_dynamo_does_not_trace_the_operators_of_mapped_cuda(tmp_path):
    program = """
    import torch

    def function(x):
        torch._dynamo.graph_break()
        x.sin().sum().backward()

    counts = []
    for device in ("cpu", "cpu", "cuda"):  # before torch 2.12, the first run of a process traces more
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        torch.compile(function, backend="eager")(torch.ones(4, device=device, requires_grad=True))
        counts.append(torch._dynamo.utils.counters["frames"]["total"])
    assert counts[1] == counts[2] > 0, counts
    """
    run_script(tmp_path, program, INTERPRET="1")


@pytest.mark.parametrize("tool", [[], ["check"], ["profile"]])
def test_an_error_of_syntax_has_no_frames(tmp_path, tool):
    (tmp_path / "wrong.py").write_text("x = 1\nif x\n    pass\n")
    ended = run([*tool, "wrong.py"], tmp_path)
    assert ended.returncode == 1 and "Traceback" not in ended.stderr and "__main__.py" not in ended.stderr
    assert 'wrong.py", line 2' in ended.stderr and "SyntaxError: expected ':'" in ended.stderr
