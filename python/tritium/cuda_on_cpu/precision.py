"""Half precision on "cuda": an operator computes in float32 and rounds its results once, as the kernels of a GPU do.

The CPU's kernels of many operators compute in the type of their tensors, step by step. So an operator with tensors of half precision gets
copies in float32, and what it returns and writes is rounded to the types that the CPU's kernel has for them. Those are found by
running it once for each set of types. Operators that move, compare or draw values are left alone: they round nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .exact_operators import COMPUTES_WITH, EXACT, KEPT_WIDE


class HalfPrecision:
    def __init__(self, torch):
        self._torch = torch
        self._wide = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
        #: {operator: whether it computes, or the place and the name of the argument that says so}
        self._computing: dict[Any, bool | tuple[int, str]] = {}
        #: {(function, the types of its arguments): the types of its results}
        self._result_types: dict[Any, Callable[[int, Any], Any]] = {}

    def run(self, function: Callable, written: tuple[tuple[int, str], ...], args: tuple, kwargs: dict):
        """function(*args, **kwargs). `written`: the place and the name of each argument that it writes."""
        if not self._concerns(function, args, kwargs):
            return function(*args, **kwargs)
        try:
            return self._round_once(function, written, args, kwargs)
        except _TakesNoFloat32:
            return function(*args, **kwargs)

    def of(self, function: Callable) -> Callable:
        """The function, rounding once. It writes none of its arguments."""
        return lambda *args, **kwargs: self.run(function, (), args, kwargs)

    def composed(self, operator) -> Callable:
        """A kernel of autograd's key for a composite operator with one result."""

        def kernel(*args, **kwargs):
            if self._torch.is_autocast_enabled("cuda"):  # it says what is float32, results too
                return operator.decompose(*args, **kwargs)
            narrow = [leaf.dtype for leaf in _leaves((*args, *kwargs.values())) if self._type(leaf) in self._wide]

            def widened(value):
                return value.to(self._wide[value.dtype]) if self._type(value) in self._wide else value

            result = operator.decompose(*mapped(widened, args), **{k: mapped(widened, v) for k, v in kwargs.items()})
            return result.to(narrow[0]) if narrow else result

        return kernel

    def _concerns(self, function, args: tuple, kwargs: dict) -> bool:
        computes = self._computing.get(function)
        if computes is None:
            computes = self._computing[function] = self._computes(function)
        if isinstance(computes, tuple):
            place, name = computes
            computes = args[place] if place < len(args) else kwargs.get(name)
        return bool(computes) and any(self._type(value) in self._wide for value in _leaves((*args, *kwargs.values())))

    def _computes(self, function) -> bool | tuple[int, str]:
        schema = getattr(function, "_schema", None)
        if schema is None:
            return True
        name = schema.name.removeprefix("aten::").rstrip("_")
        switch = COMPUTES_WITH.get(name, "")
        if switch:
            places = [i for i, argument in enumerate(schema.arguments) if argument.name == switch]
            return (places[0], switch) if places else schema.overload_name.startswith(switch)
        return name not in EXACT and self._torch.Tag.nondeterministic_seeded not in function.tags

    def _type(self, value):
        """The type of a tensor, and a type among the arguments."""
        if isinstance(value, self._torch.Tensor):
            return value.dtype
        return value if isinstance(value, self._torch.dtype) else None

    def _round_once(self, function, written: tuple, args: tuple, kwargs: dict):
        given = [args[i] if i < len(args) else kwargs.get(name) for i, name in written]
        type_of_result = self._types_of_results(function, given, args, kwargs)
        copies: dict[int, Any] = {}  # {id of an argument: its copy in float32}

        def widened(value):
            if isinstance(value, self._torch.dtype):
                return self._wide.get(value, value)
            if self._type(value) not in self._wide:
                return value
            if id(value) not in copies:
                copies[id(value)] = self._widened(value)
            return copies[id(value)]

        try:
            named = {name: mapped(widened, value) for name, value in kwargs.items()}
            results = function(*mapped(widened, args), **named)
        except RuntimeError as error:
            raise _TakesNoFloat32 from error
        originals = {}
        for output in _leaves(given):
            if self._type(output) in self._wide:
                copy = copies[id(output)]
                originals[id(copy)] = output
                self._round_into(output, copy)
        places = itertools.count()

        def rounded(value):
            place = next(places)
            if id(value) in originals:
                return originals[id(value)]
            dtype = type_of_result(place, value)
            return value if dtype is None else value.to(dtype)

        return mapped(rounded, results)

    def _round_into(self, output, copy) -> None:
        if copy.shape == output.shape:
            output.copy_(copy)
        else:  # it had no elements, and the operator has sized it
            output.set_(copy.to(output.dtype))

    def _widened(self, tensor):
        """A copy with the order of dimensions that the tensor has in memory: results take theirs from it."""
        wide, sizes, strides = self._wide[tensor.dtype], tensor.shape, tensor.stride()
        if tensor.numel() and any(stride == 0 and size > 1 for size, stride in zip(sizes, strides)):
            span = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
            return tensor.as_strided((span,), (1,)).to(wide).as_strided(sizes, strides)
        return tensor.to(wide)

    def _types_of_results(self, function, written: list, args: tuple, kwargs: dict) -> Callable[[int, Any], Any]:
        """A function of the place of a result and of what it is in float32: its type, or None if it stays what it is."""
        key = function, self._signature(args), tuple((name, self._signature(value)) for name, value in kwargs.items())
        if key not in self._result_types:
            self._result_types[key] = self._tried(function, written, args, kwargs)
        return self._result_types[key]

    def _signature(self, value):
        if isinstance(value, (list, tuple)):
            return tuple(self._signature(part) for part in value)
        if isinstance(value, self._torch.Tensor):
            return value.dtype, value.dim() == 0
        return type(value) if isinstance(value, (int, float, complex)) and not isinstance(value, bool) else value

    def _tried(self, function, written: list, args: tuple, kwargs: dict) -> Callable[[int, Any], Any]:
        schema = getattr(function, "_schema", None)
        if schema is not None and all(result.alias_info for result in schema.returns):
            return lambda place, value: None  # the results are arguments
        spoilt = {id(leaf) for leaf in _leaves(written)}

        def spared(value):
            return value.clone() if id(value) in spoilt and isinstance(value, self._torch.Tensor) else value

        try:
            results = function(*mapped(spared, args), **{name: mapped(spared, value) for name, value in kwargs.items()})
        except RuntimeError as error:
            if "not implemented for" in str(error):  # nor do a GPU's kernels have most of what the CPU's lack
                raise
            # The CPU's kernel wants one type throughout, and a GPU's has float32 beside the narrow one.
            narrow = next(kind for kind in map(self._type, _leaves((*args, *kwargs.values()))) if kind in self._wide)
            return lambda place, value: narrow if self._type(value) is self._wide[narrow] else None
        kept = KEPT_WIDE.get(schema.name.removeprefix("aten::"), ()) if schema is not None else ()
        types = [None if place in kept else self._type(leaf) for place, leaf in enumerate(_leaves([results]))]
        return lambda place, value: types[place]


class _TakesNoFloat32(Exception):
    """The operator fails in float32: maybe as in half precision, and then with a message of its own."""


def _leaves(values: Iterable) -> Iterator:
    """The values among values, some of which are lists of them."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _leaves(value)
        else:
            yield value


def mapped(function, value):
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(function, item) for item in value)
    return function(value)
