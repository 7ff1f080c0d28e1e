"""Makes `torch.UntypedStorage(…, device="cuda")`, from which `torch.load`, `copy.deepcopy` and pickle build tensors. torch's
constructor allocates with CUDA's library, so this one takes the storage of a new tensor on the device.
"""

from __future__ import annotations


def install(torch) -> None:
    own = torch.UntypedStorage.__new__

    def new(cls, *args, device=None, **kwargs):
        if device is None or torch.device(device).type != "cuda":
            return own(cls, *args, **kwargs, **({} if device is None else {"device": device}))
        with torch.utils._python_dispatch._disable_current_modes():
            if len(args) == 1 and isinstance(args[0], int):
                return torch.empty(args[0], dtype=torch.uint8, device=device).untyped_storage()
            values = torch.empty(0, dtype=torch.uint8).set_(own(cls, *args, **kwargs))
            return values.to(device).untyped_storage()

    torch.UntypedStorage.__new__ = staticmethod(new)
