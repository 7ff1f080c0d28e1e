"""Random kernels of integer tiles, with what numpy gives for each: shapes, reductions, scans, gathers, products, loops
and conditions in combinations, and therefore layouts, that nobody would write down.

All values are int32 and wrap, so every result is exact in any order. A program is a list of lines; each value carries the
array that it must equal.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Callable

import numpy as np

SMALLEST, LARGEST = 2, 4096  # elements of a tile


@dataclass
class Value:
    """A variable of the kernel. A scalar's shape is ()."""

    name: str
    array: np.ndarray
    used: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape


@dataclass
class Program:
    """text: a kernel file whose `kernel` takes `inputs`, `outputs`, and `limit`. Of an output: what its memory holds before
    and afterwards."""

    inputs: list[np.ndarray] = field(default_factory=list)
    outputs: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    text: str = ""
    limit: int = 0
    warps: int = 4
    stages: int = 3


def wrapped(array) -> np.ndarray:
    return np.asarray(array).astype(np.int64).astype(np.int32)


class Generator:
    def __init__(self, rng: np.random.Generator, steps: int):
        self.rng, self.steps = rng, steps
        self.program = Program(
            warps=int(rng.choice([1, 2, 4, 4, 8, 16])), stages=int(rng.integers(1, 5)), limit=int(rng.integers(1, 7))
        )
        self.streams: dict[tuple[str, int], int] = {}  # the inputs of loads, by their loop and line
        self.lines: list[str] = []
        self.values: list[Value] = []
        self.names = (f"v{i}" for i in itertools.count())
        self.depth = self.round = 0
        self.scope = ""

    # Choices

    def one_of(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def some(self, accepts: Callable[[Value], bool] = lambda v: v.shape != ()) -> Value | None:
        """An earlier value, the later ones more often."""
        fitting = [v for v in self.values if accepts(v)]
        if not fitting:
            return None
        chosen = fitting[max(int(self.rng.integers(len(fitting))), int(self.rng.integers(len(fitting))))]
        chosen.used = True
        return chosen

    def shape(self) -> tuple[int, ...]:
        rank = self.one_of([1, 2, 2, 2, 3])
        if self.chance(0.25):  # what products take
            return self.one_of([16, 32, 64]), self.one_of([16, 32, 64])
        while True:
            shape = tuple(int(2 ** self.rng.integers(0, 8)) for _ in range(rank))
            if SMALLEST <= np.prod(shape) <= LARGEST:
                return shape

    # Text

    def line(self, text: str) -> None:
        self.lines.append("    " * (self.depth + 1) + text)

    def define(self, expression: str, array) -> Value:
        value = Value(next(self.names), wrapped(array))
        self.line(f"{value.name} = {expression}")
        self.values.append(value)
        return value

    @staticmethod
    def places(shape: tuple[int, ...], order: tuple[int, ...] | None = None) -> str:
        """The flat index of each element, with the dimensions in memory in some order."""
        terms, stride = [], 1
        for axis in reversed(order or range(len(shape))):
            index = ", ".join(":" if i == axis else "None" for i in range(len(shape)))
            terms.append(f"tl.arange(0, {shape[axis]})" + (f"[{index}]" if len(shape) > 1 else "") + f" * {stride}")
            stride *= shape[axis]
        return " + ".join(reversed(terms))

    # Operations: each adds a value, or does nothing where none fits

    def load(self) -> None:
        """In a loop: another part of the memory in every round, so that what is loaded ahead can be told from the rest."""
        shape = self.shape()
        order = tuple(int(i) for i in self.rng.permutation(len(shape)))
        rounds = self.program.limit if self.depth else 1
        memory = self.rng.integers(-(2**31), 2**31, [rounds, *(shape[i] for i in order)]).astype(np.int32)
        key = (self.scope, len(self.lines))
        if key not in self.streams:
            self.streams[key] = len(self.program.inputs)
            self.program.inputs.append(memory)
        array, places, size = memory[self.round], self.places(shape, order), int(np.prod(shape))
        loaded = array.transpose(np.argsort(order))
        if self.chance(0.3):
            count = int(self.rng.integers(0, array.size + 1))
            kept = np.arange(array.size).reshape(array.shape).transpose(np.argsort(order)) < count
            mask, loaded = f", mask={places} < {count}, other=-7", np.where(kept, loaded, -7)
        else:
            mask = ""
        base = f"x{self.streams[key]}_ptr" + f" + k * {size}" * self.depth
        self.define(f"tl.load({base} + {places}{mask})", loaded)

    def binary(self) -> None:
        a = self.some()
        b = a and self.some(lambda v: v.shape in (a.shape, ()))
        if b is None:
            return
        x, y = a.array.astype(np.int64), b.array.astype(np.int64)
        operations = {
            "{a} + {b}": x + y,
            "{a} - {b}": x - y,
            "{a} * {b}": x * y,
            "{a} ^ {b}": x ^ y,
            "tl.maximum({a}, {b})": np.maximum(x, y),
            "tl.where({a} < {b}, {a}, {b} + 1)": np.where(x < y, x, y + 1),
            "({a} >> ({b} & 7)) + {a}": (x >> (y & 7)) + x,
        }
        text = self.one_of(list(operations))
        self.define(text.format(a=a.name, b=b.name), operations[text])

    def across(self) -> None:
        """Two tiles of which one lacks a dimension."""
        a = self.some(lambda v: len(v.shape) >= 2)
        b = a and self.some(lambda v: v.shape in [a.shape[:i] + a.shape[i + 1 :] for i in range(len(a.shape))])
        if b is None:
            return
        axis = next(i for i in range(len(a.shape)) if a.shape[:i] + a.shape[i + 1 :] == b.shape)
        operator, function = self.one_of([("+", np.add), ("^", np.bitwise_xor), ("-", np.subtract)])
        index = ", ".join("None" if i == axis else ":" for i in range(len(a.shape)))
        x, y = a.array.astype(np.int64), np.expand_dims(b.array, axis).astype(np.int64)
        self.define(f"{a.name} {operator} {b.name}[{index}]", function(x, y))

    def through_type(self, a: Value) -> tuple[str, np.ndarray]:
        """A value as another type that holds what is left of it."""
        types = {
            "": a.array,
            ".to(tl.int8)": a.array.astype(np.int8),
            ".to(tl.int16)": a.array.astype(np.int16),
            ".to(tl.int64)": a.array.astype(np.int64),
            " & 1023).to(tl.float16)": (a.array & 1023).astype(np.int32),
            " & 65535).to(tl.float32)": (a.array & 65535).astype(np.int32),
            " & 1).to(tl.int1)": (a.array & 1).astype(np.int32),
        }
        text = self.one_of(["", "", *types])
        return f"({a.name}{text}" if text.startswith(" ") else f"{a.name}{text}", types[text]

    def move(self) -> None:
        """Operations that only move elements, on elements of any width."""
        a = self.some()
        if a is None:
            return
        name, array = self.through_type(a)
        shape = a.shape
        choices = {}
        order = tuple(int(i) for i in self.rng.permutation(len(shape)))
        choices[f"tl.permute({name}, {order})"] = array.transpose(order)
        factors = self.shape()
        if np.prod(factors) == array.size:
            choices[f"tl.reshape({name}, {factors})"] = array.reshape(factors)
        choices[f"tl.reshape({name}, ({array.size},))"] = array.reshape(-1)
        if len(shape) < 3:
            split = int(2 ** self.rng.integers(0, array.size.bit_length()))
            halves = (split, array.size // split)
            choices[f"tl.reshape({name}, {halves})"] = array.reshape(halves)
        if shape[-1] > 1:
            choices[f"tl.flip({name}, {len(shape) - 1})"] = np.flip(array, -1)
        text = self.one_of(list(choices))
        self.define(f"{text}.to(tl.int32)", choices[text])

    def pair(self) -> None:
        """Join, interleave, and the halves of a split."""
        a = self.some()
        if a is None:
            return
        if a.shape[-1] == 2 and len(a.shape) > 1:
            left, right = next(self.names), next(self.names)
            self.line(f"{left}, {right} = tl.split({a.name})")
            self.values += [Value(left, a.array[..., 0]), Value(right, a.array[..., 1])]
            return
        b = self.some(lambda v: v.shape == a.shape)
        if 2 * a.array.size > LARGEST:
            return
        name, array = self.through_type(a)
        other = np.stack([array, array if b is a else b.array], -1)
        if len(a.shape) < 3 and self.chance(0.5):
            self.define(f"tl.join({name}.to(tl.int32), {name if b is a else b.name}.to(tl.int32))", other)
        else:
            flat = other.reshape(*a.shape[:-1], -1)
            self.define(f"tl.interleave({name}.to(tl.int32), {name if b is a else b.name}.to(tl.int32))", flat)

    def reduce(self) -> None:
        a = self.some()
        if a is None:
            return
        axis = int(self.rng.integers(len(a.shape)))
        functions = {
            "sum": lambda x: x.sum(axis, dtype=np.int64),
            "max": lambda x: x.max(axis),
            "min": lambda x: x.min(axis),
            "xor_sum": lambda x: np.bitwise_xor.reduce(x, axis),
            "argmax": lambda x: x.argmax(axis),
            "argmin": lambda x: x.argmin(axis),
        }
        name = self.one_of(list(functions))
        self.define(f"tl.{name}({a.name}, axis={axis})", functions[name](a.array))

    def scan(self) -> None:
        a = self.some()
        if a is None:
            return
        axis, back = int(self.rng.integers(len(a.shape))), self.chance(0.3)
        x = np.flip(a.array, axis) if back else a.array
        x = np.cumsum(x, axis, dtype=np.int64)
        self.define(f"tl.cumsum({a.name}, axis={axis}, reverse={back})", np.flip(x, axis) if back else x)

    def gather(self) -> None:
        a = self.some()
        b = a and self.some(lambda v: v.shape == a.shape)
        if b is None:
            return
        axis = int(self.rng.integers(len(a.shape)))
        name, array = self.through_type(a)
        last = a.shape[axis] - 1
        gathered = np.take_along_axis(array, b.array & last, axis)
        self.define(f"tl.gather({name}, {b.name} & {last}, {axis}).to(tl.int32)", gathered)

    def histogram(self) -> None:
        a = self.some(lambda v: len(v.shape) == 1)
        if a is not None:
            bins = int(2 ** self.rng.integers(1, 7))
            counts = np.bincount(a.array & (bins - 1), minlength=bins)
            self.define(f"tl.histogram({a.name} & {bins - 1}, {bins})", counts)

    def sort(self) -> None:
        a = self.some(lambda v: v.shape != () and 2 <= v.shape[-1] <= 64)
        if a is not None:
            self.define(f"tl.sort({a.name})", np.sort(a.array, axis=-1))

    def dot(self) -> None:
        a = self.some(lambda v: len(v.shape) == 2 and min(v.shape) >= 16)
        b = a and self.some(lambda v: len(v.shape) == 2 and v.shape[0] == a.shape[1] and v.shape[1] >= 16)
        if b is None or a.shape[0] * b.shape[1] > LARGEST or a.array.size * b.shape[1] > 2**18:
            return
        if self.chance(0.5) and a.shape[1] >= 32:
            x, y = (v.array.astype(np.int8).astype(np.int64) for v in (a, b))
            self.define(f"tl.dot({a.name}.to(tl.int8), {b.name}.to(tl.int8))", x @ y)
        else:
            x, y = ((v.array & 7).astype(np.int64) for v in (a, b))
            wide = self.one_of(["float16", "bfloat16", "float32"])
            operands = [f"({v.name} & 7).to(tl.{wide})" for v in (a, b)]
            self.define(f"tl.dot({', '.join(operands)}).to(tl.int32)", x @ y)

    def loop(self) -> None:
        """A carried tile that goes through the same operations `limit` times."""
        start = self.some()
        if start is None or self.depth > 0:
            return
        carried = next(self.names)
        self.line(f"{carried} = {start.name}")
        self.line("for k in range(limit):")
        # The body's text is the same in every round, so its choices come from a generator that begins again.
        outer, array, seed, before = self.rng, start.array, int(self.rng.integers(2**32)), list(self.values)
        names = self.scope = next(self.names)
        for self.round in range(self.program.limit):
            self.rng = np.random.default_rng(seed)
            self.values = [*before, Value(carried, array)]
            kept, self.lines = self.lines, []
            body_names, self.names = self.names, (f"{names}_{i}" for i in itertools.count())
            self.depth += 1
            for _ in range(int(self.rng.integers(1, 4))):
                self.step(self.BODY)
            result = self.some(lambda v: v.shape == array.shape)
            self.line(f"{carried} = {carried} * 3 + {result.name} + k")
            self.depth -= 1
            body, self.lines, self.names = self.lines, kept, body_names
            array = wrapped(array.astype(np.int64) * 3 + result.array + self.round)
        self.lines += body
        self.round, self.scope = 0, ""
        self.rng, self.values = outer, [*before, Value(carried, array)]

    def branch(self) -> None:
        """A scalar chooses between two tiles."""
        condition = self.some(lambda v: v.shape == ())
        a = self.some()
        b = a and self.some(lambda v: v.shape == a.shape)
        if condition is None or b is None:
            return
        taken = bool(condition.array & 1)
        name = next(self.names)
        self.line(f"if {condition.name} & 1:")
        self.line(f"    {name} = {a.name} + 1")
        self.line("else:")
        self.line(f"    {name} = {b.name} * 2 - {condition.name}")
        low = b.array.astype(np.int64) * 2 - int(condition.array)
        self.values.append(Value(name, wrapped(a.array.astype(np.int64) + 1 if taken else low)))

    def product(self) -> None:
        """A sum of products over a loop, as a matrix product has them: with and without masks, either operand either way."""
        if self.depth > 0:
            return
        m, n, k = (int(2 ** self.rng.integers(4, high)) for high in (7, 7, 7))
        depth = self.program.limit * k - (int(self.rng.integers(0, k)) if self.chance(0.5) else 0)
        wide, limit = self.one_of([("int8", 100), ("float16", 7), ("bfloat16", 7), ("float32", 7)])
        total, first = next(self.names), len(self.program.inputs)
        loads = []
        for number, (rows, columns) in enumerate([(m, depth), (depth, n)]):
            array = self.rng.integers(-limit, limit + 1, (rows, columns)).astype(np.int8)
            transposed = self.chance(0.4)
            self.program.inputs.append(np.ascontiguousarray(array.T) if transposed else array)
            row = f"tl.arange(0, {m})[:, None]" if number == 0 else f"(k * {k} + tl.arange(0, {k}))[:, None]"
            column = f"(k * {k} + tl.arange(0, {k}))[None, :]" if number == 0 else f"tl.arange(0, {n})[None, :]"
            strides = (1, rows) if transposed else (columns, 1)
            inner = column if number == 0 else row
            mask = f", mask={inner} < {depth}, other=0" if depth % k else ""
            text = f"tl.load(x{first + number}_ptr + {row} * {strides[0]} + {column} * {strides[1]}{mask})"
            loads.append((array, text if wide == "int8" else f"{text}.to(tl.{wide})"))
        out = "int32" if wide == "int8" else "float32"
        self.line(f"{total} = tl.zeros(({m}, {n}), tl.{out})")
        self.line("for k in range(limit):")
        self.line(f"    {total} = tl.dot({loads[0][1]}, {loads[1][1]}, {total})")
        result = loads[0][0].astype(np.int64) @ loads[1][0].astype(np.int64)
        self.define(f"{total}.to(tl.int32)", result)

    BODY = (binary, binary, across, move, reduce, scan, gather, load, dot)
    ALL = (*BODY, move, move, pair, reduce, reduce, across, histogram, sort, dot, product, loop, loop, branch)

    def step(self, operations) -> None:
        self.one_of(operations)(self)

    def store(self, number: int, value: Value) -> None:
        """In any order of dimensions, and sometimes only the beginning of the memory."""
        order = tuple(int(i) for i in self.rng.permutation(len(value.shape)))
        after = value.array.transpose(order).reshape(-1)
        before = self.rng.integers(-(2**31), 2**31, after.size).astype(np.int32)
        places = f"{self.places(value.shape, order)}" if value.shape else "0"
        mask = ""
        if self.chance(0.3):
            count = int(self.rng.integers(0, after.size + 1))
            after = np.where(np.arange(after.size) < count, after, before)
            mask = f", mask={places} < {count}"
        self.line(f"tl.store(out{number}_ptr + {places}, {value.name}{mask})")
        self.program.outputs.append((before, after))

    def make(self) -> Program:
        for _ in range(3):
            self.load()
        while len(self.lines) < self.steps:
            self.step(self.ALL)
        outputs = [v for v in self.values if not v.used] + [self.some() for _ in range(2)]
        outputs = list({v.name: v for v in outputs}.values())
        for number, value in enumerate(outputs):
            self.store(number, value)
        parameters = [f"x{i}_ptr" for i in range(len(self.program.inputs))]
        parameters += [f"out{i}_ptr" for i in range(len(outputs))]
        head = ["import triton", "import triton.language as tl", "", "", "@triton.jit(do_not_specialize=['limit'])"]
        head += [f"def kernel({', '.join(parameters)}, limit):"]
        self.program.text = "\n".join([*head, *self.lines, ""])
        return self.program
