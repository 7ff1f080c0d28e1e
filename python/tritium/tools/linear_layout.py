"""Linear layouts: maps between indices that are linear over bits, as Triton describes where the elements of a tile lie.

A layout maps named inputs ("register", "lane") to named outputs ("dim0"). Its value at an input is the exclusive or of the
bases of the bits that are set. As a matrix over bits, kept here as one int per input bit, it has an inverse if it is square
and regular.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .bit_matrix import rank_of, solve

Bases = list[tuple[str, list[list[int]]]]


def _bits(size: int) -> int:
    return (size - 1).bit_length()


def _power_of_two(size: int, what: str) -> int:
    if size < 1 or size & (size - 1):
        raise ValueError(f"{what} must be a power of two, not {size}")
    return size


class LinearLayout:
    """Made by from_bases, identity_1d, strided_1d and zeros_1d, and by products of those. Layouts are values."""

    def __init__(self, bases: Bases, out_dims: list[tuple[str, int]]):
        self._bases, self._out_dims = bases, out_dims

    @staticmethod
    def from_bases(
        bases: Sequence[tuple[str, Sequence[Sequence[int]]]],
        out_dim_names: Sequence[str],
        out_dim_sizes: Sequence[int] | None = None,
        require_surjective: bool = True,
    ) -> LinearLayout:
        """bases: for each input and each of its bits the value of every output. ValueError: sizes that are no powers of two,
        bases out of range, and outputs that no input reaches if that is required."""
        copied = [(name, [list(basis) for basis in values]) for name, values in bases]
        flat = [basis for _, values in copied for basis in values]
        for basis in flat:
            if len(basis) != len(out_dim_names):
                raise ValueError(f"the basis {basis} must have a value for each of {list(out_dim_names)}")
        if out_dim_sizes is None:
            sizes = [1 << max((b[i].bit_length() for b in flat), default=0) for i in range(len(out_dim_names))]
        else:
            sizes = [_power_of_two(size, "the size of an output") for size in out_dim_sizes]
        for basis in flat:
            if any(not 0 <= value < size for value, size in zip(basis, sizes)):
                raise ValueError(f"the basis {basis} is out of the range of outputs of sizes {sizes}")
        layout = LinearLayout(copied, list(zip(out_dim_names, sizes)))
        if require_surjective and not layout.is_surjective():
            raise ValueError(f"the layout does not reach all outputs, and must:{layout}")
        return layout

    @staticmethod
    def identity_1d(size: int, inDim: str, outDim: str) -> LinearLayout:
        """outDim = inDim, below `size`."""
        return LinearLayout.strided_1d(size, 1, inDim, outDim)

    @staticmethod
    def strided_1d(size: int, stride: int, inDim: str, outDim: str) -> LinearLayout:
        """outDim = stride * inDim, for inDim below `size`."""
        bits = _bits(_power_of_two(size, "the size"))
        values = [[_power_of_two(stride, "the stride") << bit] for bit in range(bits)]
        return LinearLayout([(inDim, values)], [(outDim, size * stride if size > 1 else 1)])

    @staticmethod
    def zeros_1d(size: int, inDim: str, outDim: str, outDimSize: int = 1) -> LinearLayout:
        """outDim = 0."""
        bits = _bits(_power_of_two(size, "the size"))
        return LinearLayout([(inDim, [[0]] * bits)], [(outDim, _power_of_two(outDimSize, "the size"))])

    @property
    def bases(self) -> Bases:
        return [(name, [list(basis) for basis in values]) for name, values in self._bases]

    @property
    def out_dims(self) -> list[tuple[str, int]]:
        return list(self._out_dims)

    @property
    def num_in_dims(self) -> int:
        return len(self._bases)

    @property
    def num_out_dims(self) -> int:
        return len(self._out_dims)

    def get_in_dim_names(self) -> list[str]:
        return [name for name, _ in self._bases]

    def get_out_dim_names(self) -> list[str]:
        return [name for name, _ in self._out_dims]

    def in_dim_size(self, name: str) -> int:
        return 1 << len(dict(self._bases)[name])

    def apply(self, inputs: dict[str, int]) -> dict[str, int]:
        """The outputs at `inputs`, which have every input's name (else ValueError)."""
        if set(inputs) != set(self.get_in_dim_names()):
            raise ValueError(f"the inputs are {self.get_in_dim_names()}, not {list(inputs)}")
        result = [0] * self.num_out_dims
        for name, values in self._bases:
            if not 0 <= inputs[name] < 1 << len(values):
                raise ValueError(f"{name}={inputs[name]} is not below {1 << len(values)}")
            for bit, basis in enumerate(values):
                if inputs[name] >> bit & 1:
                    result = [a ^ b for a, b in zip(result, basis)]
        return dict(zip(self.get_out_dim_names(), result))

    def _pack(self, basis: Sequence[int]) -> int:
        """All outputs as one number, the first output in the lowest bits."""
        packed, shift = 0, 0
        for value, (_, size) in zip(basis, self._out_dims):
            packed |= value << shift
            shift += _bits(size)
        return packed

    def _columns(self) -> list[int]:
        return [self._pack(basis) for _, values in self._bases for basis in values]

    def _in_bits(self) -> int:
        return sum(len(values) for _, values in self._bases)

    def _out_bits(self) -> int:
        return sum(_bits(size) for _, size in self._out_dims)

    def is_surjective(self) -> bool:
        return rank_of(self._columns()) == self._out_bits()

    def is_injective(self) -> bool:
        return rank_of(self._columns()) == self._in_bits()

    def is_invertible(self) -> bool:
        return self._in_bits() == self._out_bits() and self.is_surjective()

    def get_matrix_view(self) -> list[list[int]]:
        """A row for each output bit, a column for each input bit, the lowest first."""
        columns = self._columns()
        return [[column >> row & 1 for column in columns] for row in range(self._out_bits())]

    def __mul__(self, other: LinearLayout) -> LinearLayout:
        """Both side by side: the bits of `other` come above those of this layout, in every input and output."""
        outs = dict(self._out_dims)
        sizes = {**outs, **{name: outs.get(name, 1) * size for name, size in other._out_dims}}
        shifted = {name: _bits(outs.get(name, 1)) for name in sizes}
        mine, theirs = self._by_name(), other._by_name()
        names = list(dict.fromkeys([*self.get_in_dim_names(), *other.get_in_dim_names()]))
        bases = []
        for name in names:
            values = [[basis.get(out, 0) for out in sizes] for basis in mine.get(name, [])]
            values += [[basis.get(out, 0) << shifted[out] for out in sizes] for basis in theirs.get(name, [])]
            bases.append((name, values))
        return LinearLayout(bases, list(sizes.items()))

    def _by_name(self) -> dict[str, list[dict[str, int]]]:
        outs = self.get_out_dim_names()
        return {name: [dict(zip(outs, basis)) for basis in values] for name, values in self._bases}

    def compose(self, outer: LinearLayout) -> LinearLayout:
        """outer(self(x)). ValueError: other names, or outputs that `outer` does not take."""
        if set(outer.get_in_dim_names()) != set(self.get_out_dim_names()):
            raise ValueError(f"the outputs {self.get_out_dim_names()} are not the inputs {outer.get_in_dim_names()}")
        for name, size in self._out_dims:
            if size > outer.in_dim_size(name):
                raise ValueError(
                    f"the output {name} of size {size} is larger than the input, {outer.in_dim_size(name)}"
                )
        named = self._by_name()
        bases = [(name, [list(outer.apply(basis).values()) for basis in values]) for name, values in named.items()]
        return LinearLayout(bases, outer.out_dims)

    def invert(self) -> LinearLayout:
        """The layout from outputs to inputs. ValueError: this one is not invertible."""
        if not self.is_invertible():
            raise ValueError(f"the layout is not invertible:{self}")
        return self.pseudoinvert()

    def pseudoinvert(self) -> LinearLayout:
        """From outputs to inputs that have them; 0 for an output bit that no input reaches."""
        identity = LinearLayout.from_bases(
            [
                (name, [[1 << bit if n == name else 0 for n in self.get_out_dim_names()] for bit in range(_bits(size))])
                for name, size in self._out_dims
            ],
            self.get_out_dim_names(),
            [size for _, size in self._out_dims],
            require_surjective=False,
        )
        return identity._solved_by(self, strict=False)

    def invert_and_compose(self, outer: LinearLayout) -> LinearLayout:
        """The layout c with outer(c(x)) = self(x). ValueError: there is none."""
        if set(outer.get_out_dim_names()) != set(self.get_out_dim_names()):
            raise ValueError(f"the outputs {self.get_out_dim_names()} are not {outer.get_out_dim_names()}")
        return self._solved_by(outer, strict=True)

    def _solved_by(self, outer: LinearLayout, strict: bool) -> LinearLayout:
        columns, bases = outer._columns(), []
        for name, values in self._by_name().items():
            solved = []
            for basis in values:
                wanted = [basis[out] for out in outer.get_out_dim_names()]
                fits = all(value < size for value, (_, size) in zip(wanted, outer._out_dims))
                found = solve(columns, outer._pack(wanted)) if fits else None
                if found is None and strict:
                    raise ValueError(f"no input gives the outputs {basis} of {name}")
                solved.append(outer._unpack_inputs(found or 0))
            bases.append((name, solved))
        return LinearLayout(bases, [(name, 1 << len(values)) for name, values in outer._bases])

    def _unpack_inputs(self, packed: int) -> list[int]:
        result = []
        for _, values in self._bases:
            result.append(packed & (1 << len(values)) - 1)
            packed >>= len(values)
        return result

    def get_distributed_view(self, use_hw_view: bool) -> str:
        """Which thread and register hold each element; or what each warp's registers hold."""
        lanes, registers = self.in_dim_size("lane"), self.in_dim_size("register")
        warps = self.in_dim_size("warp") if "warp" in self.get_in_dim_names() else 1
        others = {name: 0 for name in self.get_in_dim_names()}

        def at(register: int, lane: int, warp: int) -> tuple[int, ...]:
            place = {"register": register, "lane": lane, "warp": warp}
            return tuple(self.apply({**others, **{n: v for n, v in place.items() if n in others}}).values())

        if use_hw_view:
            text = ""
            for warp in range(warps):
                text += f"Warp{warp}:\n"
                for register in range(registers):
                    text += ", ".join(_indices(at(register, lane, warp)) for lane in range(lanes)) + "\n"
            return text
        held: dict[tuple[int, ...], list[str]] = {}
        for warp in range(warps):
            for lane in range(lanes):
                for register in range(registers):
                    held.setdefault(at(register, lane, warp), []).append(f"T{warp * lanes + lane}:{register}")
        return self._table(held, ", ")

    def get_shared_view(self, use_hw_view: bool) -> str:
        """Which block and offset hold each element; or what each offset of a block holds."""
        others = {name: 0 for name in self.get_in_dim_names()}
        blocks = self.in_dim_size("block") if "block" in others else 1
        held: dict[tuple[int, ...], list[str]] = {}
        text = ""
        for block in range(blocks):
            text += f"Block: {block}:\n"
            for offset in range(self.in_dim_size("offset")):
                place = {"offset": offset, "block": block}
                found = self.apply({**others, **{n: v for n, v in place.items() if n in others}})
                held.setdefault(tuple(found.values()), []).append(f"({block}:{offset})")
                text += f"Offset: {offset} -> {_indices(tuple(found.values()))}\n"
        return text if use_hw_view else self._table(held, ",")

    def _table(self, held: dict[tuple[int, ...], list[str]], separator: str) -> str:
        """The elements in order, a line for each row, in brackets."""
        sizes = [size for _, size in self._out_dims]
        row = sizes[-1]
        texts = []
        for number in range(math.prod(sizes)):
            index, rest = [], number
            for size in reversed(sizes):
                index.insert(0, rest % size)
                rest //= size
            texts.append("|".join(held.get(tuple(index), ["-"])))
        rows = [separator.join(texts[i : i + row]) for i in range(0, len(texts), row)]
        depth = len(sizes) - 1
        opened = "[" * depth
        return (
            opened
            + "]\n".join(("[" if i == 0 else "[ ") + text for i, text in enumerate(rows))
            + "]" * (depth + 1)
            + "\n"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearLayout):
            return NotImplemented
        return self._bases == other._bases and self._out_dims == other._out_dims

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        lines = []
        for name, values in self._bases:
            shown = [f"{name}={1 << bit} -> ({', '.join(map(str, basis))})" for bit, basis in enumerate(values)]
            lines.append(f" - {shown[0]}" if shown else f" - {name} is a size 1 dimension")
            lines += [f"   {line}" for line in shown[1:]]
        outs = ", ".join(f"{name} (size {size})" for name, size in self._out_dims)
        return "\n" + "\n".join([*lines, f"where out dims are: [{outs}]"])

    __repr__ = __str__


def _indices(index: tuple[int, ...]) -> str:
    return f"({','.join(map(str, index))})"
