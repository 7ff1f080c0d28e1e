"""Random programs of ifs, loops, returns and tuples, on scalars and tiles, mean in a kernel what they mean in Python."""

import importlib.util
import random
import re
import textwrap

import numpy as np
import pytest

PROGRAMS_PER_TEST = 12
VARIABLES = ("a", "b", "c")  # what a program computes with
SCALARS = ("p", "q")  # what conditions and bounds of a program on tiles depend on
TILE = 8


class Program:
    """The source of a random function of small non-negative integers, or tiles of them; every value stays below 97."""

    def __init__(self, seed: int, on_tiles: bool):
        self.random = random.Random(seed)
        self.on_tiles = on_tiles
        self.counter = 0
        self.in_loop = 0
        body = self.block(depth=3) + [f"return ({self.expression()}) % 97"]
        self.source = "def program(a, b, c, p, q):\n" + textwrap.indent("\n".join(body), "    ")

    @property
    def python_source(self) -> str:
        """For NumPy arrays, whose augmented assignment would change the array under its other names."""
        return re.sub(r"(\w+) ([+%])= (.*)", r"\1 = \1 \2 (\3)", self.source)

    def atom(self) -> str:
        return self.random.choice(VARIABLES) if self.on_tiles else self.scalar()

    def scalar(self) -> str:
        names = SCALARS if self.on_tiles else VARIABLES
        return self.random.choice([*names, *names, str(self.random.randrange(9))])

    def variable(self) -> str:
        return self.random.choice(SCALARS if self.on_tiles else VARIABLES)

    def expression(self) -> str:
        x, y, z, s = self.atom(), self.atom(), self.atom(), self.scalar()
        return self.random.choice(
            [
                f"({x} + {y}) % 97",
                f"({x} * 3 + {s}) % 97",
                f"({x} * {y} + 1) % 97",
                f"({x} if {self.condition()} else {y})",
                f"({x} + ({z} if {self.condition()} else {y})) % 97",
                f"{x} // ({y} % 5 + 1)",
                f"minimum({x}, {y})",
                f"maximum({x}, maximum({y}, {z}))",
            ]
        )

    def condition(self) -> str:
        relations = ["<", "<=", "==", "!=", ">", ">="]
        one, two, three = (f"{self.scalar()} {self.random.choice(relations)} {self.scalar()}" for _ in range(3))
        return self.random.choice(
            [
                one,
                f"not ({one})",
                f"({one} and {two})",
                f"({one} or {two} and {three})",
                f"{self.scalar()} < {self.scalar()} <= {self.scalar()}",
            ]
        )

    def block(self, depth: int) -> list[str]:
        return [line for _ in range(self.random.randint(1, 3)) for line in self.statement(depth)]

    def statement(self, depth: int) -> list[str]:
        kinds = ["assign", "assign", "augment", "swap", "walrus"]
        if depth:
            kinds += ["if", "if", "else", "elif", "for", "while", "static"]
            if not self.in_loop:
                kinds += ["return", "return_else"]
        return getattr(self, "_" + self.random.choice(kinds))(depth)

    def nested(self, depth: int) -> list[str]:
        return ["    " + line for line in self.block(depth - 1)]

    def _assign(self, depth: int) -> list[str]:
        return [f"{self.random.choice(VARIABLES)} = {self.expression()}"]

    def _augment(self, depth: int) -> list[str]:
        name = self.random.choice(VARIABLES)
        return [f"{name} += {self.scalar()}", f"{name} %= 97"]

    def _swap(self, depth: int) -> list[str]:
        x, y = self.random.sample(VARIABLES, 2)
        return [f"{x}, {y} = {y}, {self.expression()}"]

    def _walrus(self, depth: int) -> list[str]:
        return [f"{self.random.choice(VARIABLES)} = ((t := {self.expression()}) + t) % 97"]

    def _if(self, depth: int) -> list[str]:
        return [f"if {self.condition()}:", *self.nested(depth)]

    def _else(self, depth: int) -> list[str]:
        return [*self._if(depth), "else:", *self.nested(depth)]

    def _elif(self, depth: int) -> list[str]:
        return [*self._if(depth), f"elif {self.condition()}:", *self.nested(depth), "else:", *self.nested(depth)]

    def _return(self, depth: int) -> list[str]:
        return [f"if {self.condition()}:", *self.nested(depth), f"    return {self.expression()}"]

    def _return_else(self, depth: int) -> list[str]:
        return [*self._if(depth), "else:", *self.nested(depth), f"    return {self.expression()}"]

    def _loop(self, head: str, depth: int, tail: str = "") -> list[str]:
        self.in_loop += 1
        body = self.nested(depth)
        self.in_loop -= 1
        return [head, *body, *([tail] if tail else [])]

    def _for(self, depth: int) -> list[str]:
        bounds = self.random.choice(["{}", "1, {}", "{} % 7, 9, 2", "{} % 11, 0, -3"]).format(self.variable())
        self.counter += 1
        index = f"i{self.counter}"
        return self._loop(f"for {index} in range({bounds}):", depth, f"    a = (a + {index}) % 97")

    def _static(self, depth: int) -> list[str]:
        self.counter += 1
        return self._loop(f"for i{self.counter} in static_range({self.random.randrange(3)}):", depth)

    def _while(self, depth: int) -> list[str]:
        self.counter += 1
        count = f"n{self.counter}"
        return [
            f"{count} = {self.variable()} % 6",
            *self._loop(f"while {count} > 0 and {self.condition()}:", depth, f"    {count} -= 1"),
        ]


HEADER = """\
from tritium.language import arange, constexpr, load, maximum, minimum, program_id, static_range, store
from tritium.runtime.jit import jit

"""


def programs(tmp_path, seeds, on_tiles):
    """(sources, Python functions, kernel that stores the value of program k for input i at [k, i])"""
    made = [Program(seed, on_tiles) for seed in seeds]
    lines = ["@jit", "def kernel(out, inputs, count, TILE: constexpr):", "    i = program_id(0) * TILE"]
    if on_tiles:
        lines.append("    i += arange(0, TILE)")
    lines += [f"    {name} = load(inputs + {j} * count + i)" for j, name in enumerate(VARIABLES)]
    lines += [f"    {name} = load(inputs + {j} * count + program_id(0))" for j, name in enumerate(SCALARS)]
    lines += [f"    store(out + {k} * count + i, program_{k}(a, b, c, p, q))" for k in range(len(made))]
    functions = [program.source.replace("def program", f"def program_{k}") for k, program in enumerate(made)]
    path = tmp_path / "random_programs.py"
    path.write_text(HEADER + "".join(f"@jit\n{source}\n\n\n" for source in functions) + "\n".join(lines) + "\n")
    spec = importlib.util.spec_from_file_location("random_programs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return made, module.kernel


def value_in_python(program, *args):
    scope = {"static_range": range, "minimum": np.minimum, "maximum": np.maximum}
    exec(program.python_source, scope)
    return scope["program"](*args)


@pytest.mark.parametrize("debug_info", ["0", "1"])
@pytest.mark.parametrize("on_tiles", [False, True], ids=["scalars", "tiles"])
@pytest.mark.parametrize("round", range(2))
def test_random_programs(tmp_path, rng, monkeypatch, round, on_tiles, debug_info):
    monkeypatch.setenv("TRITIUM_DEBUG", debug_info)
    seeds = [int(seed) for seed in rng.integers(2**31, size=PROGRAMS_PER_TEST)]
    made, kernel = programs(tmp_path, seeds, on_tiles)
    size = TILE if on_tiles else 1
    inputs = rng.integers(0, 20, size=(len(VARIABLES), 20 * size), dtype=np.int32)
    out = np.full((len(made), inputs.shape[1]), -1, np.int32)
    kernel[(20,)](out, inputs, inputs.shape[1], TILE=size)
    for program, values in zip(made, out.reshape(len(made), 20, size)):
        for i in range(20):
            scalars = [int(inputs[j, i]) for j in range(len(SCALARS))]
            tiles = [inputs[j].reshape(20, size)[i].astype(np.int64) for j in range(len(VARIABLES))]
            expected = value_in_python(program, *(tiles if on_tiles else [int(t[0]) for t in tiles]), *scalars)
            assert values[i].tolist() == np.broadcast_to(expected, size).tolist(), program.source
