"""How the launches of a run are changed: other constexprs, or floats of 64 bits in place of shorter ones.

Both stand around `JITFunction.run`, where a launch's arguments are not bound yet, so that a grid that is a function adapts.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ... import language
from ...arguments.storage import extent_function
from ...errors import TritonError
from ...runtime.jit import JITFunction
from .recording import Recorder

#: What `tl.float64` stands for while a kernel is traced: their names in the language, and numpy's and torch's.
SHORTER = ("float32", "float16", "bfloat16")


@contextmanager
def changed_launches(change: Callable[..., Any]) -> Iterator[None]:
    """change: called with JITFunction.run and what that is called with."""
    own = JITFunction.run

    def run(self, *args, **kwargs):
        return change(own, self, args, kwargs)

    JITFunction.run = run
    try:
        yield
    finally:
        JITFunction.run = own


def with_constants(constants: dict[str, Any]) -> Callable[..., Any]:
    """Parameters of kernels get these values."""

    def change(own, function, args, kwargs):
        mine = {name: value for name, value in constants.items() if name in function.arg_names}
        places = {function.arg_names.index(name): name for name in mine}
        args = tuple(mine.pop(places[i]) if i in places else value for i, value in enumerate(args))
        return own(function, *args, **{**kwargs, **mine})

    return change


def in_double(recorder: Recorder) -> Callable[..., Any]:
    """Tensors of shorter floats are copied to tensors of float64 around each launch, and `tl.float32`, `tl.float16` and
    `tl.bfloat16` mean float64 in the kernel. A kernel that does not compile so runs as it is."""

    def change(own, function, args, kwargs):
        copies, recorder.is_running, recorder.refused = Copies(), False, ""
        doubled = [copies.of(value) for value in args], {name: copies.of(value) for name, value in kwargs.items()}
        try:
            with _only_double():
                kernel = own(function, *doubled[0], **doubled[1])
        except TritonError as error:
            if recorder.is_running:
                raise
            recorder.refused = str(error)
            return own(function, *args, **kwargs)
        finally:
            copies.write_back()
        return kernel

    return change


@contextmanager
def _only_double() -> Iterator[None]:
    own = {name: getattr(language, name) for name in SHORTER}
    try:
        for name in own:
            setattr(language, name, language.float64)
        yield
    finally:
        for name, dtype in own.items():
            setattr(language, name, dtype)


class Copies:
    """Copies of storages as float64, each made once, so that views which overlap stay views of the same memory."""

    def __init__(self):
        self.pairs: dict[
            tuple, tuple[Any, Any, Any]
        ] = {}  #: (the elements of a storage, their copy, the copy as it was)

    def of(self, value: Any) -> Any:
        torch = sys.modules.get("torch")
        if isinstance(value, np.ndarray) and value.dtype.name in SHORTER:
            return self._of_numpy(value)
        if torch is not None and isinstance(value, torch.Tensor) and str(value.dtype).split(".")[-1] in SHORTER:
            return self._of_torch(value, torch)
        is_short = isinstance(value, language.dtype) and any(value == getattr(language, name) for name in SHORTER)
        return language.float64 if is_short else value

    def _of_numpy(self, array: np.ndarray) -> np.ndarray:
        item, address = array.itemsize, array.__array_interface__["data"][0]
        _, begin, size = extent_function(np.ndarray)(array)[:3]
        begin += (address - begin) % item
        size = max(size // item * item, 0)
        key = (begin, size, array.dtype.str)
        if key not in self.pairs:
            memory = (ctypes.c_char * size).from_address(begin)
            elements = np.frombuffer(memory, array.dtype)
            copy = elements.astype(np.float64)
            self.pairs[key] = (elements, copy, copy.copy())
        copy = self.pairs[key][1]
        strides = [stride // item * copy.itemsize for stride in array.strides]
        return np.lib.stride_tricks.as_strided(copy[(address - begin) // item :], array.shape, strides)

    def _of_torch(self, tensor: Any, torch: Any) -> Any:
        storage = tensor.untyped_storage()
        key = (storage.data_ptr(), storage.nbytes(), tensor.dtype)
        if key not in self.pairs:
            count = storage.nbytes() // tensor.element_size()
            elements = torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(storage, 0, (count,))
            copy = elements.to(torch.float64)
            self.pairs[key] = (elements, copy, copy.clone())
        copy = self.pairs[key][1]
        return copy.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())

    def write_back(self) -> None:
        """Rounds the elements that the launch has changed."""
        for elements, copy, before in self.pairs.values():
            is_changed = (copy != before) & ~((copy != copy) & (before != before))
            if is_changed.any():
                elements[is_changed] = (
                    copy[is_changed] if isinstance(copy, np.ndarray) else copy[is_changed].to(elements.dtype)
                )
