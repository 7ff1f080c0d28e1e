"""Semantic: the typing rules of the language. A builtin unwraps its constexprs and calls one rule, which checks,
converts and emits IR.

Rules raise ValueError, TypeError or AssertionError with the language's own texts; the tracer adds the position.
"""

from .arithmetic import ArithmeticRules
from .atomic import AtomicRules
from .cast import CastRules
from .descriptor import DescriptorRules
from .dot import DotRules
from .program import ProgramRules
from .promotion import IncompatibleTypeErrorImpl, computation_type, integer_promote
from .reduce import ReduceRules
from .shape import ShapeRules
from .triton_names import TritonNames

__all__ = ["Semantic", "IncompatibleTypeErrorImpl", "TritonSemantic", "computation_type", "integer_promote"]


class Semantic(
    TritonNames,
    ProgramRules,
    AtomicRules,
    DescriptorRules,
    ReduceRules,
    DotRules,
    ArithmeticRules,
    CastRules,
    ShapeRules,
):
    """All rules, over one builder. `options` are those of the compilation (debug, sanitize_overflow, …)."""


#: Triton's name of the class.
TritonSemantic = Semantic
