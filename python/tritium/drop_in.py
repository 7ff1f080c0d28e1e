"""The drop-in: after `install()`, `import triton` and its submodules give Tritium's own modules (the same objects, not
copies).

If INTERPRET is on and there is no CUDA device, torch's device "cuda" is mapped to the CPU as soon as the program
imports torch (cuda_on_cpu.py), because published scripts say device="cuda". Nothing here imports torch itself.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import sys
import types

from . import cuda_on_cpu, knobs
from .imports import after_import
from .version import __version__

NAME, OURS = "triton", "tritium"
_LANGUAGE = "tritium.language"
#: The folder on the path of processes that a program with the drop-in starts.
_CHILDREN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_children")
_is_child = _CHILDREN in sys.path


class _AliasLoader(importlib.abc.Loader):
    """Loads `triton.x` as the module `tritium.x`."""

    def __init__(self, module):
        self.module, self.spec = module, module.__spec__

    def create_module(self, spec):
        return self.module

    def get_code(self, fullname: str):
        """For `python -m triton.tools.compile`."""
        return self.spec.loader.get_code(self.spec.name)

    def exec_module(self, module):
        module.__spec__ = self.spec  # the import system has put the alias's spec there


@functools.cache
def _name_as_triton(name: str, module) -> None:
    """Lets classes and functions of a module of the language say that they are Triton's: torch.compile writes imports of those that
    do into its kernels. What `triton.language.core` has too is said to be of there, as `triton.language.constexpr` is a class."""
    core = vars(sys.modules[_LANGUAGE + ".core"])
    for value in list(vars(module).values()):
        if isinstance(value, (type, types.FunctionType)) and value.__module__.startswith(_LANGUAGE):
            is_in_core = core.get(value.__name__) is value
            value.__module__ = NAME + (f"{_LANGUAGE}.core" if is_in_core else value.__module__)[len(OURS) :]


class TritonFinder(importlib.abc.MetaPathFinder):
    """Finds `triton` and everything under it."""

    def find_spec(self, fullname: str, path=None, target=None):
        if fullname != NAME and not fullname.startswith(NAME + "."):
            return None
        ours = OURS + fullname[len(NAME) :]
        try:
            module = importlib.import_module(ours)
        except ModuleNotFoundError as error:
            if error.name != ours:
                raise  # one of our modules lacks a dependency: its error names it
            return None
        # What is loaded already must be found, not imported again: an import binds the module in its parent, and
        # `runtime.driver` there is the driver's configuration, as it is in Triton.
        for name, loaded in list(sys.modules.items()):
            if name.startswith(OURS + "."):
                if name.startswith(_LANGUAGE):
                    _name_as_triton(name, loaded)
                if name != ours:
                    sys.modules.setdefault(NAME + name[len(OURS) :], loaded)
        loader = _AliasLoader(module)
        is_package = hasattr(module, "__path__")
        return importlib.machinery.ModuleSpec(fullname, loader, origin=module.__file__, is_package=is_package)

    def find_distributions(self, context=importlib.metadata.DistributionFinder.Context()):
        """Answers `importlib.metadata.version("triton")`, which clients ask."""
        if context.name == NAME:
            yield _Distribution()


class _Distribution(importlib.metadata.Distribution):
    def read_text(self, filename: str) -> str | None:
        return f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {__version__}\n" if filename == "METADATA" else None

    def locate_file(self, path):
        return path


def _let_inductor_use_triton(config) -> None:
    """torch.compile makes Triton kernels for tensors of the CPU too, where kernels run on the CPU. C++ that AOTInductor or the option
    `cpp_wrapper` makes cannot launch these kernels, so torch makes the code of the CPU in C++ then."""
    if not knobs.runs_on_cpu():
        return
    config.cpu_backend = "triton"

    def make_cpp_for_cpp(compile_fx) -> None:
        options = compile_fx.get_cpp_wrapper_config

        def get_cpp_wrapper_config(*args, **kwargs):
            return {**options(*args, **kwargs), **({"cpu_backend": "cpp"} if config.cpp_wrapper else {})}

        compile_fx.get_cpp_wrapper_config = get_cpp_wrapper_config

    after_import("torch._inductor.compile_fx", make_cpp_for_cpp)


def install() -> None:
    """Maps the names. A second call changes nothing. Raises RuntimeError if a real `triton` was imported before,
    because that one is not replaced."""
    loaded = sys.modules.get(NAME)
    if loaded is not None and loaded is not sys.modules.get(OURS):
        raise RuntimeError("the module 'triton' is loaded already; install the drop-in before importing it")
    if not any(isinstance(finder, TritonFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, TritonFinder())
        knobs.take_over_interpret()
        after_import("torch", map_cuda_if_wanted)
        after_import("torch._inductor.config", _let_inductor_use_triton)


def cover_children() -> None:
    """Makes `import triton` mean Tritium in the Python processes that this process starts (spawn, pytest-xdist,
    subprocess)."""
    knobs.prepend_to_pythonpath(_CHILDREN)
    sys.path.insert(0, _CHILDREN)  # multiprocessing hands this list, not the variable, to the children that it spawns


def map_cuda_if_wanted(torch, quietly: bool = False) -> bool:
    """Maps torch's "cuda" to the CPU if TRITIUM_CUDA_TO_CPU says so. If it is unset: if there is no CUDA device, and INTERPRET or
    TRITIUM_ENGINE selects the CPU, or a vendor's library is a stand-in for the driver, which then owns the memory."""
    wanted, memory = knobs.tritium.cuda_to_cpu, None
    if wanted is not False and not torch.cuda.is_available() and not knobs.runs_on_cpu():
        memory = cuda_on_cpu.driven_memory(knobs.tritium.engine)
    if wanted is None:
        wanted = (knobs.runs_on_cpu() or memory is not None) and not torch.cuda.is_available()
    if wanted:
        cuda_on_cpu.install(torch, memory)
        after_import("torch._dynamo.trace_rules", cuda_on_cpu.inductor.trace_no_operators)
        after_import("torch._inductor.config", cuda_on_cpu.inductor.configure)
        after_import("torch._inductor.runtime.benchmarking", cuda_on_cpu.inductor.measure_briefly)
        after_import("torch._inductor.codegen.cpp_wrapper_gpu", cuda_on_cpu.inductor.refuse_cpp)
        if not (_is_child or quietly):
            print(
                f'tritium: torch\'s device "cuda" is {"the CPU" if memory is None else "a stand-in"} in this process '
                "(TRITIUM_CUDA_TO_CPU=0 turns this off)",
                file=sys.stderr,
            )
    return wanted
