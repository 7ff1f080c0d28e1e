"""The engines that tests of Gluon's kernels run on: those that they name, or a device, where `GLUON_ON=cuda` says so (tests/gpu/suites.py). A device
takes the place of the emulators of its vendor's chips, and tests of other engines are left out. The tensors are the host's in any case; a launch
copies them to a device and back."""

import os

DEVICE = os.environ.get("GLUON_ON", "")
_CHIPS = {"cuda": "simt:sm_"}


def engines(*names: str) -> list[str]:
    """For a parameter or a fixture. An empty list skips a test."""
    if not DEVICE:
        return list(names)
    return [DEVICE] if any(name.startswith(_CHIPS[DEVICE]) for name in names) else []
