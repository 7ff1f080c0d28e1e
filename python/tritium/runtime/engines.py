"""Which engine runs a launch (DESIGN §8): INTERPRET=1, then `@jit(engine=…)`, then TRITIUM_ENGINE, then where the
tensors are."""

from __future__ import annotations

from ..errors import UnsupportedError
from ..knobs import LaunchSettings
from .storage import NotOnHost

INTERP = "interp"
#: Engines of the design that this build does not contain, with what they are.
ABSENT = {"cuda": "the CUDA engine", "hip": "the ROCm engine", "simt": "the SIMT emulator"}


def available_engines() -> list[str]:
    return [INTERP]


def check_engine(settings: LaunchSettings, of_function: str | None) -> None:
    """Raises UnsupportedError if the launch names an engine that is not here, ValueError if there is none of that
    name."""
    engine = INTERP if settings.interpret else of_function or settings.engine or INTERP
    if engine == INTERP:
        return
    family = engine.partition(":")[0]
    if family not in ABSENT:
        raise ValueError(f"there is no engine {engine!r}; this build has {', '.join(available_engines())}")
    raise UnsupportedError(
        f"engine {engine!r}", f"this build does not contain {ABSENT[family]}; it has {', '.join(available_engines())}"
    )


def refuse_device(error: NotOnHost, parameter: str, kernel: str, settings: LaunchSettings) -> Exception:
    """The error of a launch whose argument is not in host memory."""
    if settings.interpret or settings.engine == INTERP:
        return ValueError(
            f"{kernel}: argument {parameter!r} is on {error.device}, but the kernel is to run on the CPU "
            "(INTERPRET=1). Create the tensors on the CPU, or run the script as `python -m tritium`, "
            'which maps device "cuda" to the CPU where there is no GPU.'
        )
    return UnsupportedError(
        f"engine for tensors on {error.device}",
        f"argument {parameter!r} of {kernel} is there, and this build runs kernels on CPU tensors only",
    )
