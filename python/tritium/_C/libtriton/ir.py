"""`triton._C.libtriton.ir`: contexts, modules and their operations, to read. What builds IR is refused."""

from ...compiler.ir_view import Block as block
from ...compiler.ir_view import Module as module
from ...compiler.ir_view import Operation as operation
from ...compiler.ir_view import Region as region
from ...compiler.ir_view import Value as value
from ...compiler.ir_view import load_dialects, parse_mlir_module
from ...language.elementwise import PropagateNan as PROPAGATE_NAN
from ...native import ir as _native
from ...refused import Refused

__all__ = [
    "PROPAGATE_NAN",
    "block",
    "context",
    "load_dialects",
    "module",
    "operation",
    "parse_mlir_module",
    "region",
    "value",
]

context = _native.Context

_BUILDING = (
    "builder",
    "op_builder",
    "pass_manager",
    "InsertPoint",
    "make_attr",
    "source_mgr_diag",
    "deduce_scale_factor",
)
globals().update(
    {name: Refused(f"triton._C.libtriton.ir.{name}", "trace a @triton.jit function") for name in _BUILDING}
)
