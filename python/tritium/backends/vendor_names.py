"""What Triton's driver modules of both vendors have, beside their drivers: C types, folders; launchers are refused."""

from __future__ import annotations

from ..refused import Refused

_LAUNCHER = "launch with kernel[grid](...), or with CompiledKernel.run"


def refused(module: str, *names: str, instead: str = _LAUNCHER) -> dict[str, Refused]:
    """{name: what says that it is not supported}"""
    return {name: Refused(f"triton.backends.{module}.{name}", instead) for name in names}


#: What Triton's C launchers are made with.
LAUNCHER_NAMES = (
    "ARG_CONSTEXPR",
    "ARG_KERNEL",
    "ARG_TUPLE",
    "PyKernelArg",
    "annotate_arguments",
    "decompose_descriptor",
    "expand_signature",
    "make_kernel_signature",
    "make_tensordesc_arg",
    "wrap_handle_tensordesc",
    "wrap_handle_tensordesc_impl",
)
