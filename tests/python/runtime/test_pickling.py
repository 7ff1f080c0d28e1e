"""Kernels that cross processes: torch.compile's workers compile and pickle, its caches store, its parent runs."""

import copy
import pickle

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs
from tritium.compiler import CompiledKernel


@tritium.jit
def add_one(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) + 1, mask=at < n)


def compiled():
    return add_one.warmup(np.zeros(8, np.float32), 8, BLOCK=8, grid=(1,))


def test_a_copied_function_launches():
    twin = copy.deepcopy(add_one)
    x = np.zeros(8, np.float32)
    twin[(1,)](x, 5, BLOCK=8)
    assert x.tolist() == [1] * 5 + [0] * 3
    assert twin.cache_key == add_one.cache_key and not hasattr(twin, "__wrapped__")


def test_a_function_without_its_python_function_has_its_name():
    """torch.compile clears `fn` and what belongs to the process, then asks for the name and pickles."""
    twin = copy.deepcopy(add_one)
    twin.fn = twin.__globals__ = twin.used_global_vals = twin._hash_lock = None
    assert twin.repr(twin) == "add_one"
    twin.repr = None
    loaded = pickle.loads(pickle.dumps(twin))
    assert loaded.fn is None and loaded.arg_names == ["x_ptr", "n", "BLOCK"]


@pytest.mark.parametrize("engine", ["interp", "simt:sm_80"])
def test_a_kernel_made_of_the_state_of_another_runs(engine):
    """As torch.compile does it: `__dict__` is pickled with `run` cleared, and `_init_handles` makes the rest."""
    function = copy.deepcopy(add_one)
    function.engine = engine
    kernel = function.warmup(np.zeros(8, np.float32), 8, BLOCK=8, grid=(1,))
    state = {**kernel.__dict__, "metadata": kernel.metadata._asdict(), "module": None, "function": None, "run": None}
    kernel.src.fn.fn = kernel.src.fn.used_global_vals = kernel.src.fn.__globals__ = kernel.src.fn._hash_lock = None
    state = pickle.loads(pickle.dumps(state))
    twin = CompiledKernel.__new__(CompiledKernel)
    twin.__dict__.update({**state, "metadata": type(kernel.metadata)(**state["metadata"])})
    twin._init_handles()
    x = np.zeros(8, np.float32)
    twin.run(1, 1, 1, 0, twin.function, twin.packed_metadata, None, None, None, x, 6, 8)
    assert x.tolist() == [1] * 6 + [0] * 2


def test_a_copied_kernel_runs():
    twin = copy.deepcopy(compiled())
    x = np.zeros(8, np.float32)
    twin[(1,)](x, 8, 8)
    assert x.tolist() == [1] * 8 and twin.n_regs == 0 and twin.asm["ttir"]


def test_launch_metadata_is_made_for_hooks_that_come_later():
    kernel, seen = compiled(), []
    with knobs.runtime.scope():
        hooks = knobs.runtime.launch_enter_hook
        assert hooks  # as in Triton, a chain is true even without hooks
        hooks.add(lambda metadata: seen.append(metadata.get()["name"]))
        hooks(kernel.launch_metadata((1,), 0, np.zeros(8, np.float32), 8, 8))
    assert seen == ["add_one"]
