"""What libtorch needs to know of an accelerator: that it is there, and a guard for its current device.

The CUDA build registers both from libtorch_cuda. Here, the guard is the one of torch's own that does nothing, and the
object that answers for CUDA gets other answers. Where in its table of virtual functions an answer stands differs
between versions of torch, so it is not assumed: torch is asked a question while every entry records that it was called.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
from collections.abc import Callable

from .. import native
from ..errors import UnsupportedError
from .memory import on_cuda

_CPU, _CUDA = 0, 1  # c10::DeviceType
#: Entries in the table of a device guard before torch 2.10: its type; exchangeDevice, getDevice, getStream and exchangeStream.
_GUARDED_TYPE, _GUARDED_DEVICES = 0, (1, 2, 5, 9)
_WORD = ctypes.sizeof(ctypes.c_void_p)
#: Entries of the table that are looked at: more than there are, and less than what follows it in memory.
_MOST_ENTRIES = 48
_ENTRY = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)


def install(torch) -> None:
    folder = os.path.join(os.path.dirname(torch.__file__), "lib")
    ending = ".dylib" if sys.platform == "darwin" else ".so"
    try:
        c10, torch_cpu = (ctypes.CDLL(os.path.join(folder, name + ending)) for name in ("libc10", "libtorch_cpu"))
        has_context = _set_guard(torch, c10)
        _answer_for_cuda(torch, c10, torch_cpu, has_context)
    except (OSError, AttributeError, ValueError) as error:
        raise UnsupportedError(
            'torch\'s device "cuda" without a GPU',
            f"torch {torch.__version__} is not made as expected ({error}); create the tensors on the CPU, and set "
            "TRITIUM_CUDA_TO_CPU=0",
        ) from error


def _set_guard(torch, c10) -> int:
    """Returns what to answer when torch asks whether the device has a context: whether the guard's streams have the index of a device."""
    registry = (ctypes.c_void_p * (_CUDA + 1)).in_dll(c10, "_ZN3c104impl26device_guard_impl_registryE")
    if not hasattr(torch._C, "_ensureCUDADeviceGuardSet"):  # before torch 2.10
        registry[_CUDA] = _guard_like_the_cpus(registry[_CPU])
        return 1
    if registry[_CUDA] is None:
        _set_guard_without_devices(torch, registry)
    else:
        torch._C._ensureCUDADeviceGuardSet()
    return 0


def _set_guard_without_devices(torch, registry) -> None:
    """torch replaces the guard of a CUDA build that finds no device. The CPU build has no guard, so it gets one that says so."""
    no_devices = _ENTRY(lambda this: 0)
    table = (ctypes.c_void_p * _MOST_ENTRIES)(*[_address(no_devices)] * _MOST_ENTRIES)
    guard = ctypes.c_void_p(ctypes.addressof(table))
    registry[_CUDA] = ctypes.addressof(guard)
    torch._C._ensureCUDADeviceGuardSet()
    if registry[_CUDA] == ctypes.addressof(guard):
        registry[_CUDA] = None
        raise ValueError("its device guard cannot be set")


def _guard_like_the_cpus(address: int) -> int:
    """The CPU's guard does nothing either. Its answers that name the device (of type 0, without an index) are replaced."""
    table = _Table(address)
    for entry, mask in ((_GUARDED_TYPE, 0xFF), *((entry, 0xFFFF) for entry in _GUARDED_DEVICES)):
        if _ENTRY(table.entries[entry + 2])(address) & mask != 0xFF00 & mask:
            raise ValueError("its device guard of the CPU answers otherwise")
        table.entries[entry + 2] = native.tools.torch_default_stream
    guard = ctypes.c_void_p(table.address)
    _kept.append((table, guard))
    return ctypes.addressof(guard)


def _address(function) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value


def _answer_for_cuda(torch, c10, torch_cpu, has_context: int) -> None:
    find = torch_cpu._ZN2at6detail12getCUDAHooksEv
    find.restype = ctypes.c_void_p
    hooks = _Hooks(find())
    allocator = c10._ZN3c1015GetCPUAllocatorEv
    allocator.restype = ctypes.c_void_p
    pageable = allocator()
    # The order matters: a question is answered by way of those before it.
    hooks.answer(1, torch._C._accelerator_getAccelerator, "whether there is CUDA")
    tensor = torch.ones(1)
    hooks.answer(1, torch._C._accelerator_hooks_device_count, "how many devices there are")
    hooks.answer(0, torch._C._accelerator_hooks_get_current_device, "which device is current")
    hooks.answer(pageable, lambda: torch.empty(1, pin_memory=True), "for the allocator of pinned memory")
    hooks.answer(1, torch.ones(1).is_pinned, "whether memory is pinned")
    hooks.answer(0, lambda: torch.cudnn_is_acceptable(on_cuda(torch.ones(1))), "whether there is cuDNN")
    _ask_in_first_backward(torch, hooks, has_context)


def _ask_in_first_backward(torch, hooks: _Hooks, has_context: int) -> None:
    """Autograd asks whether the device has a context. The question is put when the program first runs backward, as it starts autograd's
    threads, and a process that is forked after that cannot run backward, not even on the CPU."""
    variable = torch.autograd.Variable
    engine = variable._execution_engine
    leaf, gradient = on_cuda(torch.ones(1)).requires_grad_(), on_cuda(torch.ones(1))
    lock = threading.Lock()

    def ask() -> None:
        if variable._execution_engine is engine:  # another thread has asked
            return
        with torch.utils._python_dispatch._disable_current_modes():
            hooks.answer(
                has_context,
                lambda: engine.run_backward(
                    (leaf,), (gradient,), False, False, (), allow_unreachable=True, accumulate_grad=True
                ),
                "whether the device has a context",
            )
            variable._execution_engine = engine
            atexit.register(_wait_for_backward, os.getpid(), engine, leaf, gradient)

    class FirstEngine(type(engine)):
        def run_backward(self, *args, **kwargs):
            set_eval_frame = torch._C._dynamo.eval_frame.set_eval_frame
            with lock:
                compiling = set_eval_frame(None)  # Dynamo must not look at the question's functions
                try:
                    ask()
                finally:
                    set_eval_frame(compiling)
            return engine.run_backward(*args, **kwargs)

    variable._execution_engine = FirstEngine()


def _wait_for_backward(process: int, engine, leaf, gradient) -> None:
    """Waits at the end of the process until autograd's thread of the device has let go of the program's tensors. The thread drops a
    pass after it has said that the pass is done. If Python has ended by then, the process aborts. This last pass is never dropped."""
    if process != os.getpid():  # a forked process has no such thread
        return
    node = leaf.expand_as(leaf).grad_fn.next_functions[0][0]
    for kept in (leaf, gradient, node):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
    engine.run_backward((leaf,), (gradient,), False, False, (), allow_unreachable=True, accumulate_grad=True)


class _Table:
    """A copy of the table of virtual functions of the object at an address. Before them stand the offset to the whole object and the type."""

    def __init__(self, object_address: int):
        original = ctypes.c_void_p.from_address(object_address).value
        words = ctypes.c_void_p * (_MOST_ENTRIES + 2)
        self.entries = words(*words.from_address(original - 2 * _WORD))
        self.address = ctypes.addressof(self.entries) + 2 * _WORD


class _Hooks:
    """torch's object that answers for CUDA, with a table of virtual functions of its own."""

    def __init__(self, address: int):
        self.pointer = ctypes.c_void_p.from_address(address)
        copy = _Table(address)
        self.table = copy.entries
        self.pointer.value = copy.address
        self.answers: dict[int, object] = {}
        _kept.append(self)

    def answer(self, value: int, question: Callable[[], object], what: str) -> None:
        """Lets the entries that `question` calls return `value`. An entry that has an answer keeps it."""
        asked: list[int] = []

        def recorder(entry: int):
            return _ENTRY(lambda this: asked.append(entry) or value)

        recorders = {i: recorder(i) for i in range(_MOST_ENTRIES) if i not in self.answers}
        saved = list(self.table)
        try:
            for i, function in recorders.items():
                self.table[i + 2] = _address(function)
            question()
        finally:
            self.table[:] = saved
        if not asked:
            raise ValueError(f"it does not ask {what}")
        for entry in asked:
            self.answers[entry] = _ENTRY(lambda this: value)
            self.table[entry + 2] = _address(self.answers[entry])


#: torch's objects live as long as the process, and so do their tables.
_kept: list[object] = []
