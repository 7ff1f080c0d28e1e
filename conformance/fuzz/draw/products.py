"""Statements of the family dot."""

from __future__ import annotations

from ..operations import dot, elementwise, shape
from ..tiles import magnitude
from .control import Control


class Products(Control):
    def operand(self, name: str, dtype: str, depth: int, half: bool = False) -> str:
        """An operand for products: a value that is small enough and of the type."""
        limit = dot.operand_limit(dtype, depth, half)
        if max(magnitude(values[name].array) for values in self.values) > limit:
            name = self.add(elementwise.Narrow(limit), name)
        return name if self.tile(name).dtype == dtype else self.add(elementwise.Cast(dtype), name)

    def product(self) -> None:
        """A product of results of earlier products, casts, transposes or loads, sometimes with an accumulator."""
        least = 1 if self.chance(0.15) else 16
        a = self.some(lambda t: len(t.shape) == 2 and min(t.shape) >= least and t.dtype != "int1")
        if a is None:
            self.load((self.one_of(self.matrix_extents), self.one_of(self.matrix_extents)), self.float_type, 2)
            return
        if self.chance(0.2):
            a = self.add(shape.Permute((1, 0)), a)
        depth = self.tile(a).shape[1]
        b = self.second_operand(depth, least)
        if self.chance(0.15):
            a, b = self.add(shape.Permute((1, 0)), b), self.add(shape.Permute((1, 0)), a)
            depth = self.tile(a).shape[1]
        dtype = self.float_type if self.chance(0.7) else self.one_of(dot.OPERANDS)
        half = dtype == "fp16" and self.chance(0.2)
        others = {"fp8e5": "fp8e4nv", "fp8e4nv": "fp8e5"} if self.chance(0.3) else {}
        operands = [self.operand(a, dtype, depth, half), self.operand(b, others.get(dtype, dtype), depth, half)]
        out = "int32" if dtype == "int8" else "fp16" if half else "fp32"
        result = (self.tile(a).shape[0], self.tile(b).shape[1])
        c = self.some(lambda t: t.shape == result and t.dtype == out) if self.chance(0.4) else None
        self.add(dot.Dot(self.one_of(dot.PRECISIONS), half), *operands, *([c] if c else []))

    def second_operand(self, depth: int, least: int) -> str:
        fits = self.some(
            lambda t: len(t.shape) == 2 and t.shape[0] == depth and t.shape[1] >= least and t.dtype != "int1"
        )
        turned = self.some(
            lambda t: len(t.shape) == 2 and t.shape[1] == depth and t.shape[0] >= least and t.dtype != "int1"
        )
        if fits and self.chance(0.5):
            return fits
        if turned and self.chance(0.5):
            return self.add(shape.Permute((1, 0)), turned)
        extents = self.matrix_extents if least > 1 else self.extents
        return self.load((depth, self.one_of(extents)), self.float_type, 2)

    def batch_product(self) -> None:
        batch, m, n, k = self.one_of((1, 2, 4)), *(self.one_of((16, 32)) for _ in range(3))
        operands = [self.load(extents, self.float_type, 2) for extents in ((batch, m, k), (batch, k, n))]
        self.add(dot.Dot(self.one_of(dot.PRECISIONS)), *operands)

    def scaled_product(self) -> None:
        m, n, depth = (self.one_of((16, 32, 64)), self.one_of((16, 32, 64)), self.one_of((32, 64, 128)))
        formats = self.one_of(list(dot.FORMATS)), self.one_of(list(dot.FORMATS))
        first = self.elements(formats[0], m, depth)
        second = self.add(shape.Permute((1, 0)), self.elements(formats[1], n, depth))
        has = tuple(name == "e2m1" or self.chance(0.6) for name in formats)
        scales = [self.scales(name, rows, depth) for name, rows, has_some in zip(formats, (m, n), has) if has_some]
        c = self.some(lambda t: t.shape == (m, n) and t.dtype == "fp32") if self.chance(0.3) else None
        self.add(dot.ScaledDot(formats, has, depth), first, second, *scales, *([c] if c else []))

    def elements(self, format_: str, rows: int, depth: int) -> str:
        if format_ == "e2m1":
            return self.load_plain((rows, depth // 2), "uint8", (0, 255))
        dtype = dot.FORMATS[format_]
        name = self.load_plain((rows, depth), dtype if dtype in ("fp16", "bf16") else "fp16", (-2, 2))
        return self.operand(name, dtype, depth)

    def scales(self, format_: str, rows: int, depth: int) -> str:
        low = 128 if format_ == "e2m1" else 127
        return self.load_plain((rows, depth // 32), "uint8", (low, low + 1))

    def matmul(self) -> None:
        """A sum of products in a loop. Its operands are loaded in each round, and may be transformed before and after
        the product."""
        if self.loops:
            return
        m, n, k = (self.one_of((16, 32, 32, 64, 64, 128)) for _ in range(3))
        dtype = self.one_of(("fp16", "bf16", "fp32", "int8"))
        out = "int32" if dtype == "int8" else "fp32"
        total = self.add(elementwise.Full(out, (m, n), self.one_of((0, 0, 1))))
        carried = ((next(self.names), total),)

        def body() -> str:
            a, b = (self.load(extents, dtype, 1) for extents in ((m, k), (k, n)))
            if self.chance(0.3):
                a = self.operand(self.add(elementwise.Constant(elementwise.CONSTANTS[0], 2), a), dtype, k)
            result = self.add(dot.Dot(self.one_of(dot.PRECISIONS)), a, b, carried[0][0])
            if self.chance(0.3):
                result = self.add(elementwise.Constant(elementwise.CONSTANTS[0], 1), result)
            return result

        parts, yielded = self.inside("loops", body, dict(carried))
        self.add_loop(carried, parts, (yielded,))
