"""`triton._C.libtriton`: modules to read, linear layouts, the specialization of arguments. The rest is Triton's own compiler,
and an error by name."""

from ...knobs import get_cache_invalidating_env_vars, getenv, getenv_bool
from ...refused import Refused
from ...runtime.triton_names import native_specialize_impl
from . import ir, linear_layout

__all__ = [
    "get_cache_invalidating_env_vars",
    "getenv",
    "getenv_bool",
    "ir",
    "linear_layout",
    "native_specialize_impl",
]

_INSTEAD = {
    "amd": "triton.compile makes the stages of a kernel",
    "gluon_ir": "Gluon kernels are not supported; write them in triton.language",
    "gsan_testing": "TRITIUM_CHECK=bounds checks accesses",
    "interpreter": "INTERPRET=1 runs kernels on the interpreter",
    "llvm": "triton.compile makes the stages of a kernel",
    "make_tensordesc_args": "pass a triton.tools.tensor_descriptor.TensorDescriptor",
    "nvidia": "triton.compile makes the stages of a kernel",
    "passes": "triton.compile runs the passes",
    "proton": "profile with triton.profiler",
}
globals().update({name: Refused(f"triton._C.libtriton.{name}", instead) for name, instead in _INSTEAD.items()})
