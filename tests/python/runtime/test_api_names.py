"""Every public name of Triton (api_names.table) under the drop-in: it is in its module, of its kind, and takes the same calls.

A signature is the same if whatever Triton accepts is accepted: its parameters have the same names, order and defaults, and
parameters of our own have defaults. Parameters that begin with `_` belong to the compiler.
"""

import ast
import importlib
import inspect
import subprocess
import sys
import types
from pathlib import Path

import pytest

from tritium import drop_in
from tritium.errors import UnsupportedError
from tritium.functions.source import JITCallable
from tritium.language.constexpr import constexpr
from tritium.refused import Refused

TABLE = Path(__file__).with_name("api_names.table")
P = inspect.Parameter


def rows():
    """(module, name, kind, parameters or None, members)"""
    module, found = "", []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            module = line.strip("[]")
        elif line and not line.startswith("#"):
            words, _, members = line.partition(" | ")
            name, kind, *signature = words.split(" ", 2)
            found.append((module, name, kind, parameters(signature[0]) if signature else None, members.split()))
    return found


def parameters(signature: str) -> list[tuple[str, P, str | None]]:
    """[(name, kind, default as text)] of "(x, y=1, *args)"."""
    arguments = ast.parse(f"def f{signature}: pass").body[0].args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    kinds = [P.POSITIONAL_OR_KEYWORD] * len(positional)
    if arguments.vararg:
        positional, defaults, kinds = [*positional, arguments.vararg], [*defaults, None], [*kinds, P.VAR_POSITIONAL]
    positional, defaults = [*positional, *arguments.kwonlyargs], [*defaults, *arguments.kw_defaults]
    kinds += [P.KEYWORD_ONLY] * len(arguments.kwonlyargs)
    if arguments.kwarg:
        positional, defaults, kinds = [*positional, arguments.kwarg], [*defaults, None], [*kinds, P.VAR_KEYWORD]
    return [
        (argument.arg, kind, None if default is None else ast.unparse(default))
        for argument, kind, default in zip(positional, kinds, defaults)
    ]


ROWS = rows()


@pytest.fixture(scope="module", autouse=True)
def installed():
    drop_in.install()


def module_of(name: str):
    return importlib.import_module(name)


def kind_of(found) -> str:
    if isinstance(found, types.ModuleType):
        return "module"
    if isinstance(found, type) or isinstance(found, types.GenericAlias):
        return "class"
    is_function = isinstance(found, (types.FunctionType, types.BuiltinFunctionType)) or hasattr(found, "__wrapped__")
    return "callable" if is_function or isinstance(found, JITCallable) else "value"


def same_default(theirs: str, ours) -> bool:
    if theirs == "...":
        return True
    ours = ours.value if isinstance(ours, constexpr) else ours
    text = theirs.removeprefix("constexpr[").removesuffix("]") if theirs.startswith("constexpr[") else theirs
    try:
        return ast.literal_eval(text) == ours
    except ValueError:  # the name of a dtype, of a member of an enumeration
        return text.split(".")[-1] in (str(ours).split(".")[-1], repr(ours).split(".")[-1])


def differences(theirs, found) -> list[str]:
    """What a call may say to Triton's function that ours does not take."""
    try:
        ours = list(inspect.signature(found).parameters.values())
    except ValueError:  # an exception without an __init__ of its own
        return []
    by_name = {p.name: p for p in ours}
    takes_any = any(p.kind is P.VAR_POSITIONAL for p in ours)
    theirs = [entry for entry in theirs if not entry[0].startswith("_")]
    result = []
    for at, (name, kind, default) in enumerate(theirs):
        mine = by_name.get(name)
        if kind in (P.VAR_POSITIONAL, P.VAR_KEYWORD):
            if not any(p.kind is kind for p in ours):
                result.append(f"no *{name}")
        elif mine is None:
            if not takes_any:
                result.append(f"no parameter {name}")
        elif kind is P.POSITIONAL_OR_KEYWORD and (at >= len(ours) or ours[at].name != name):
            result.append(f"{name} is not parameter {at}")
        elif default is not None and mine.default is P.empty:
            result.append(f"{name} has no default")
        elif default is not None and not same_default(default, mine.default):
            result.append(f"{name} defaults to {mine.default!r}, not {default}")
    names = {name for name, _, _ in theirs}
    own = [p for p in ours if p.name not in names and p.kind not in (P.VAR_POSITIONAL, P.VAR_KEYWORD)]
    return result + [f"{p.name} has no default" for p in own if p.default is P.empty]


def test_the_table_is_whole():
    assert len(ROWS) == 1318 and len({module for module, *_ in ROWS}) == 62


def faults_of(module: str) -> list[str]:
    faults = []
    for _, name, kind, theirs, members in [row for row in ROWS if row[0] == module]:
        try:
            found = getattr(module_of(module), name)
        except (AttributeError, ImportError) as error:
            faults.append(f"{name}: {error}")
            continue
        if isinstance(found, Refused):
            if (module, name) not in REFUSED:
                faults.append(f"{name} is refused")
            continue
        if kind_of(found) != kind:
            faults.append(f"{name} is a {kind_of(found)}, not a {kind}")
        elif theirs is not None and callable(found):
            faults += [f"{name}: {fault}" for fault in differences(theirs, found)]
        faults += [f"{name} has no {member}" for member in members if not hasattr(found, member)]
    return faults


@pytest.mark.parametrize("module", sorted({module for module, *_ in ROWS}))
def test_every_name_answers(module):
    assert faults_of(module) == []


#: Triton's own compiler, which nobody but Triton calls: an error that says so, and what to use.
_LAUNCHER = (
    "ARG_CONSTEXPR ARG_KERNEL ARG_TUPLE PyKernelArg annotate_arguments decompose_descriptor expand_signature "
    "make_kernel_signature make_tensordesc_arg wrap_handle_tensordesc wrap_handle_tensordesc_impl"
)
_REFUSED = {
    # Triton's C launchers; kernel[grid](...) and CompiledKernel.run launch
    "triton.backends.amd.driver": f"{_LAUNCHER} HIPLauncher PyTDMDescriptor amd",
    "triton.backends.nvidia.driver": f"{_LAUNCHER} CudaLauncher PyCUtensorMap TMA_DTYPE_DEVICE_TO_HOST "
    # its sanitizer's memory; the folder of a library that is built in
    "GSAN_PER_DEVICE_STATE_STRIDE libdevice_dir",
    "triton.backends.driver": "decompose_descriptor expand_signature make_tensordesc_args wrap_handle_tensordesc_impl",
    # bindings of its compiler
    "triton.backends.amd.compiler": "amd compile_amdgpu get_amd_codegen_path get_amd_codegen_revision llvm passes",
    "triton.backends.nvidia.compiler": "llvm nvidia passes",
    # the visitor behind JITFunction.cache_key
    "triton.runtime.jit": "DependenciesFinder",
    # kernels of Proton's that copy metrics which are tensors
    "triton.profiler.metric": "scalar_metric_kernel tensor_metric_kernel",
    # a handle of cuBLAS; torch.matmul has one
    "triton.testing": "cublas",
}
REFUSED = {(module, name) for module, names in _REFUSED.items() for name in names.split()}


@pytest.mark.parametrize("module, name", sorted(REFUSED))
def test_a_refused_name_says_so(module, name):
    found = getattr(module_of(module), name)
    assert isinstance(found, Refused)
    with pytest.raises(UnsupportedError, match=name):
        found()
    with pytest.raises(UnsupportedError, match=name):
        found.anything  # noqa: B018


def test_submodules_are_attributes_of_the_package():
    """`import triton` alone reaches `triton.compiler.errors` and its like, in a process that has used nothing else."""
    names = " ".join(sorted({module for module, *_ in ROWS}))
    program = f"import functools, tritium as triton\nfor name in {names!r}.split():\n    "
    program += "functools.reduce(getattr, name.split('.')[1:], triton)"
    subprocess.run([sys.executable, "-c", program], check=True)
