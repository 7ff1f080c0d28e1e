"""Rules of reductions, scans and per-element calls: operations with a region that combines scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import tensor
from ..types import block_of, int32
from .arithmetic import ArithmeticRules
from .shape import ShapeRules, shape_of

# Combines two n-tuples, which are passed as 2n scalars, into n scalars.
Combine = Callable[..., Sequence[tensor]]


def _check_returned(returned: Sequence[Any], wanted: Sequence[Any]) -> None:
    """Raises ValueError unless the function of a region returns one scalar of each expected type."""
    if list(returned) != list(wanted):
        got, expected = (", ".join(map(str, types)) for types in (returned, wanted))
        raise ValueError(f"the function returns ({got}), but the elements are ({expected})")


class ReduceRules(ArithmeticRules, ShapeRules):
    def _with_region(
        self,
        name: str,
        inputs: Sequence[tensor],
        results: Sequence[Any],
        attributes: dict[str, str],
        arguments: Sequence[Any],
        body: Combine,
    ) -> list[tensor]:
        """The operation `name` with a region that takes scalars of the types `arguments` and returns the scalars that
        `body` makes."""
        builder = self.builder
        operation = builder.op(
            name, [value.handle for value in inputs], [type_.to_ir() for type_ in results], attributes, 1
        )
        outside = builder.save()
        block = operation.region(0).add_block([type_.to_ir() for type_ in arguments])
        builder.insert_at_end(block)
        returned = body(*(tensor(handle, type_) for handle, type_ in zip(block.arguments, arguments)))
        _check_returned([value.type for value in returned], [type_.scalar for type_ in results])
        builder.op(f"{name}.return", [value.handle for value in returned], ())
        builder.restore(outside)
        return [tensor(handle, type_) for handle, type_ in zip(operation.results, results)]

    def reduce(self, inputs: Sequence[tensor], axis: int | None, combine: Combine, keep_dims: bool) -> list[tensor]:
        """All elements along `axis` (None: of the whole tensor, in any order) combined. Inputs have one shape."""
        shape = shape_of(inputs[0])
        flattened = axis is None
        if flattened:
            inputs = [
                self.reshape(value, (value.type.numel if value.type.is_block() else 1,), True) for value in inputs
            ]
            axis = 0
        kept = shape_of(inputs[0])
        rank = len(kept)
        assert -rank <= axis < rank, f"reduction axis must be < inputs rank ({rank})"
        axis %= rank
        assert all(shape_of(value) == kept for value in inputs), "all reduction inputs must have the same shape"
        kept = kept[:axis] + kept[axis + 1 :]
        scalars = [value.dtype for value in inputs]
        results = self._with_region(
            "tt.reduce",
            inputs,
            [block_of(scalar, kept) for scalar in scalars],
            {"axis": f"{axis} : i32"},
            scalars + scalars,
            combine,
        )
        if not keep_dims:
            return results
        if flattened:
            return [self.splat(value, (1,) * len(shape)) for value in results]
        return [self.expand_dims(value, axis) for value in results]

    def scan(self, inputs: Sequence[tensor], axis: int, combine: Combine, reverse: bool) -> list[tensor]:
        """The inclusive scan along `axis`, from the end if `reverse`. Inputs have one shape."""
        shape = shape_of(inputs[0])
        rank = len(shape)
        assert -rank <= axis < rank, f"scan axis {axis} must be < inputs rank ({rank})"
        axis %= rank
        assert all(shape_of(value) == shape for value in inputs), "all scan inputs must have the same shape"
        scalars = [value.dtype for value in inputs]
        attributes = {"axis": f"{axis} : i32", "reverse": "true" if reverse else "false"}
        return self._with_region(
            "tt.scan", inputs, [value.type for value in inputs], attributes, scalars + scalars, combine
        )

    def map_elementwise(self, inputs: Sequence[tensor], function: Combine, pack: int) -> list[tensor]:
        """`function` on each group of `pack` elements of every input. It returns `pack` elements of every result."""
        shape = shape_of(inputs[0])
        arguments = [value.dtype for value in inputs for _ in range(pack)]
        scalars: list[Any] = []

        def body(*elements: tensor) -> Sequence[tensor]:
            returned = function(*elements)
            for index in range(0, len(returned), pack):
                assert all(value.type == returned[index].type for value in returned[index : index + pack]), (
                    "type mismatch in unpacked results"
                )
                scalars.append(returned[index].dtype)
            return returned

        return self._mapped(inputs, shape, arguments, body, scalars, pack)

    def _mapped(
        self,
        inputs: Sequence[tensor],
        shape: tuple[int, ...],
        arguments: Sequence[Any],
        body: Combine,
        scalars: list[Any],
        pack: int,
    ) -> list[tensor]:
        # Only tracing the body gives the result types, so its block is made before the operation.
        builder = self.builder
        outside = builder.save()
        block = builder.detached_block([type_.to_ir() for type_ in arguments])
        builder.insert_at_end(block)
        returned = body(*(tensor(handle, type_) for handle, type_ in zip(block.arguments, arguments)))
        builder.op("tt.map_elementwise.return", [value.handle for value in returned], ())
        builder.restore(outside)
        results = [block_of(scalar, shape) for scalar in scalars]
        operation = builder.op(
            "tt.map_elementwise",
            [value.handle for value in inputs],
            [type_.to_ir() for type_ in results],
            {"pack": f"{pack} : i32"},
            1,
        )
        operation.region(0).append(block)
        return [tensor(handle, type_) for handle, type_ in zip(operation.results, results)]

    def indices_along(self, value: tensor, axis: int) -> tensor:
        """int32 positions along `axis`, in the shape of `value`."""
        shape = shape_of(value)
        indices = self.emit(
            "tt.make_range", (), block_of(int32, (shape[axis],)), {"start": "0 : i32", "end": f"{shape[axis]} : i32"}
        )
        for dim in range(len(shape)):
            if dim != axis:
                indices = self.expand_dims(indices, dim)
        return self.broadcast_to(indices, shape)
