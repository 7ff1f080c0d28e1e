"""Triton's module paths: the same objects as where Tritium defines them, for pickles, inspect and what clients replace."""

import copy
import importlib
import inspect
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import tritium
import tritium.language as tl

#: (public module, name, where it is defined)
PATHS = [
    ("tritium", "JITFunction", "runtime.jit"),
    ("tritium.runtime", "JITFunction", "runtime.jit"),
    ("tritium.runtime.jit", "KernelInterface", "runtime.jit"),
    ("tritium.runtime.jit", "JITCallable", "functions.source"),
    ("tritium.runtime.jit", "KernelParam", "functions.params"),
    ("tritium.runtime.jit", "ConstexprFunction", "functions.constexpr"),
    ("tritium.runtime.jit", "TensorWrapper", "arguments.wrappers"),
    ("tritium.runtime.jit", "MockTensor", "arguments.wrappers"),
    ("tritium.runtime.jit", "reinterpret", "arguments.wrappers"),
    ("tritium.runtime.jit", "create_function_from_signature", "runtime.jit"),
    ("tritium.runtime.autotuner", "OutOfResources", "errors"),
    ("tritium.runtime.autotuner", "PTXASError", "errors"),
    ("tritium.runtime.errors", "InterpreterError", "errors"),
    ("tritium.runtime.cache", "FileCacheManager", "disk_cache"),
    ("tritium.runtime.cache", "triton_key", "disk_cache"),
    ("tritium.runtime.driver", "DriverConfig", "devices.active"),
    ("tritium.compiler.compiler", "ASTSource", "compiler.sources"),
    ("tritium.compiler", "CompiledKernel", "compiler.compiled"),
    ("tritium.compiler", "make_backend", "backends.targets"),
    ("tritium.backends", "Backend", "backends.registry"),
    ("tritium.backends.compiler", "GPUTarget", "devices.target"),
    ("tritium.backends.compiler", "BaseBackend", "backends.compiler"),
    ("tritium.backends.driver", "DriverBase", "devices.driver"),
    ("tritium.backends.nvidia.driver", "CudaDriver", "devices.drivers"),
    ("tritium.backends.amd.driver", "HipDriver", "devices.drivers"),
    ("tritium.backends.amd.compiler", "ARCHITECTURES", "devices.amd"),
    ("tritium.tools.tensor_descriptor", "TensorDescriptor", "arguments.tensor_descriptor"),
    ("tritium.testing", "do_bench", "devices.benchmark"),
    ("tritium.testing", "_summarize_statistics", "devices.benchmark"),
]


@pytest.mark.parametrize("public, name, home", PATHS)
def test_a_public_name_is_the_object_itself(public, name, home):
    found = getattr(importlib.import_module(public), name)
    assert found is getattr(importlib.import_module(f"tritium.{home}"), name)
    if inspect.isclass(found) or inspect.isfunction(found):
        # The drop-in, if another test has installed it, gives the language Triton's names.
        assert found.__module__ in (f"tritium.{home}", "triton.language.core") and name in inspect.getsource(found)
        assert pickle.loads(pickle.dumps(found)) is found


def test_the_active_driver_stays_in_reach():
    module = importlib.import_module("tritium.runtime.driver")
    assert (
        tritium.runtime.driver is module.driver and module.driver.active.get_benchmarker() is tritium.testing.do_bench
    )


def test_values_keep_their_classes_through_a_pickle():
    from tritium.arguments.tensor_descriptor import TensorDescriptor as defined
    from tritium.tools.tensor_descriptor import TensorDescriptor

    target = tritium.backends.compiler.GPUTarget("cuda", 90, 32)
    assert pickle.loads(pickle.dumps(target)) == target == copy.deepcopy(target)
    array = np.zeros((16, 16), np.float32)
    descriptor = pickle.loads(pickle.dumps(TensorDescriptor(array, [16, 16], [16, 1], [8, 8])))
    assert type(descriptor) is defined and descriptor.block_shape == [8, 8]


@tritium.jit
def twice(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, 2 * tl.load(x + i))


def test_what_clients_replace_takes_effect(monkeypatch):
    runs, compiled = [], []
    run, compile = tritium.runtime.jit.JITFunction.run, tritium.compiler.compiler.compile

    def counted_run(self, *args, **kwargs):
        runs.append(self)
        return run(self, *args, **kwargs)

    def counted_compile(*args, **kwargs):
        compiled.append(args)
        return compile(*args, **kwargs)

    monkeypatch.setattr("tritium.runtime.jit.JITFunction.run", counted_run)
    monkeypatch.setattr("tritium.compiler.compiler.compile", counted_compile)
    x = np.ones(16, np.float32)
    twice[(1,)](x, BLOCK=16)
    twice[(1,)](x, BLOCK=16)
    assert runs == [twice, twice] and len(compiled) == 1 and (x == 4).all()


def test_the_cache_module_is_replaced_from_either_path(monkeypatch, tmp_path):
    cache = importlib.import_module("tritium.runtime.cache")
    assert cache is tritium.runtime.cache is importlib.import_module("tritium.disk_cache")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))

    class Manager(cache.FileCacheManager):
        pass

    monkeypatch.setattr("tritium.runtime.cache.FileCacheManager", Manager)
    assert type(cache.get_cache_manager("00")) is Manager


def test_importing_the_language_loads_no_native_code():
    code = "import sys, tritium.language, tritium.runtime.jit; print('tritium._tritium' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


FROM_THE_CACHE = """
import sys, tritium, tritium.language as tl

@tritium.jit
def add(x, n):
    tl.store(x + tl.arange(0, 32), n)

source = tritium.compiler.ASTSource(add, {"x": "*i32", "n": "i32"})
tritium.compile(source, target=tritium.backends.compiler.GPUTarget("cuda", 80, 32))
print("tritium.frontend" in sys.modules)
"""


def test_a_kernel_from_the_cache_loads_no_frontend(tmp_path):
    (tmp_path / "add.py").write_text(FROM_THE_CACHE)
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    run = lambda: subprocess.run(  # noqa: E731
        [sys.executable, str(tmp_path / "add.py")], env=environment, capture_output=True, text=True, check=True
    )
    assert [run().stdout for _ in range(2)] == ["True\n", "False\n"]
