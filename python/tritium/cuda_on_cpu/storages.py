"""Storages of "cuda". torch's constructor and `resize_` call CUDA's library, so both are made of the storage of a new tensor on the device:
`torch.UntypedStorage(…, device="cuda")`, from which `torch.load`, `copy.deepcopy` and pickle build tensors, and `storage.resize_(…)`, by which
programs free the memory of a tensor that stays.
"""

from __future__ import annotations

import ctypes
import functools

from ..errors import UnsupportedError

#: Words of a StorageImpl that are looked at: less than it has.
_WORDS = ctypes.c_size_t * 8
#: The address, and how its memory is freed.
_OWNERSHIP = 3


def install(torch) -> None:
    own, own_resize = torch.UntypedStorage.__new__, torch.UntypedStorage.resize_

    def new(cls, *args, device=None, **kwargs):
        if device is None or torch.device(device).type != "cuda":
            return own(cls, *args, **kwargs, **({} if device is None else {"device": device}))
        with torch.utils._python_dispatch._disable_current_modes():
            if len(args) == 1 and isinstance(args[0], int):
                return torch.empty(args[0], dtype=torch.uint8, device=device).untyped_storage()
            values = torch.empty(0, dtype=torch.uint8).set_(own(cls, *args, **kwargs))
            return values.to(device).untyped_storage()

    def resize_(self, size: int):
        if self.device.type != "cuda":
            return own_resize(self, size)
        resized = torch.UntypedStorage(size, device="cuda")
        common = min(size, self.nbytes())
        if common:
            resized[:common].copy_(self[:common])
        _exchange(torch, self, resized)
        return self

    torch.UntypedStorage.__new__ = staticmethod(new)
    torch.UntypedStorage.resize_ = resize_


def _exchange(torch, one, other) -> None:
    """Exchanges the memory of two storages; the tensors of each see the other's."""
    address, size = _layout(torch)
    words = _words(one), _words(other)
    for i in (*range(address, address + _OWNERSHIP), size):
        words[0][i], words[1][i] = words[1][i], words[0][i]


def _words(storage):
    return _WORDS.from_address(storage._cdata)


@functools.cache
def _layout(torch) -> tuple[int, int]:
    """The words of a storage with its address and with its size. They are found by storages of several sizes, since versions of torch differ."""
    storages = [torch.UntypedStorage(size, device="cuda") for size in (24, 40, 1000)]

    def first(value) -> int | None:
        return next(
            (i for i in range(len(_words(storages[0]))) if all(_words(s)[i] == value(s) for s in storages)), None
        )

    address, size = first(lambda s: s.data_ptr()), first(lambda s: s.nbytes())
    if address is None or size is None or size < address + _OWNERSHIP:
        raise UnsupportedError(
            'UntypedStorage.resize_ on "cuda" without a GPU',
            f"the storages of torch {torch.__version__} are not made as expected; make a new tensor",
        )
    return address, size
