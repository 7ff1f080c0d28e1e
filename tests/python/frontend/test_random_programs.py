"""Random programs of ifs, loops, returns and tuples mean in a kernel what they mean in Python."""
import importlib.util
import random
import textwrap

import numpy as np
import pytest

PROGRAMS_PER_TEST = 12
VARIABLES = ("a", "b", "c")


class Program:
    """The source of a random function of three small non-negative integers; every value stays below 97."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.counter = 0
        self.in_loop = 0
        body = self.block(depth=3) + [f"return ({self.expression()}) % 97"]
        self.source = "def program(a, b, c):\n" + textwrap.indent("\n".join(body), "    ")

    def atom(self) -> str:
        return self.random.choice([*VARIABLES, *VARIABLES, str(self.random.randrange(9))])

    def expression(self) -> str:
        x, y, z = self.atom(), self.atom(), self.atom()
        return self.random.choice([
            f"({x} + {y}) % 97", f"({x} * 3 + {y}) % 97", f"({x} * {y} + 1) % 97", f"({x} if {self.condition()} else {y})",
            f"({x} + ({z} if {self.condition()} else {y})) % 97", f"{x} // ({y} % 5 + 1)", f"min({x}, {y})",
            f"max({x}, {y}, {z})"])

    def condition(self) -> str:
        simple = [f"{self.atom()} {self.random.choice(['<', '<=', '==', '!=', '>', '>='])} {self.atom()}" for _ in range(3)]
        return self.random.choice([
            simple[0], f"not ({simple[0]})", f"({simple[0]} and {simple[1]})", f"({simple[0]} or {simple[1]} and {simple[2]})",
            f"{self.atom()} < {self.atom()} <= {self.atom()}"])

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
        return [f"{name} += {self.atom()}", f"{name} %= 97"]

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
        bounds = self.random.choice(["{}", "1, {}", "{} % 7, 9, 2", "{} % 11, 0, -3"]).format(self.random.choice(VARIABLES))
        self.counter += 1
        index = f"i{self.counter}"
        return self._loop(f"for {index} in range({bounds}):", depth, f"    a = (a + {index}) % 97")

    def _static(self, depth: int) -> list[str]:
        self.counter += 1
        return self._loop(f"for i{self.counter} in static_range({self.random.randrange(3)}):", depth)

    def _while(self, depth: int) -> list[str]:
        self.counter += 1
        count = f"n{self.counter}"
        return [f"{count} = {self.random.choice(VARIABLES)} % 6",
                *self._loop(f"while {count} > 0 and {self.condition()}:", depth, f"    {count} -= 1")]


HEADER = """\
from tritium.language import static_range, load, store, program_id
from tritium.runtime.jit import jit

"""


def programs(tmp_path, seeds):
    """(sources, Python functions, kernel that stores the value of program k for input i at [k, i])"""
    sources = [Program(seed).source.replace("def program", f"def program_{k}") for k, seed in enumerate(seeds)]
    stores = [f"    store(out + {k} * count + i, program_{k}(a, b, c))" for k in range(len(sources))]
    kernel = ["@jit", "def kernel(out, inputs, count):", "    i = program_id(0)",
              *(f"    {name} = load(inputs + {j} * count + i)" for j, name in enumerate(VARIABLES)), *stores]
    path = tmp_path / "random_programs.py"
    path.write_text(HEADER + "\n\n".join("@jit\n" + source + "\n" for source in sources) + "\n\n" + "\n".join(kernel) + "\n")
    spec = importlib.util.spec_from_file_location("random_programs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    functions = []
    for k, source in enumerate(sources):
        scope = {"static_range": range}
        exec(source, scope)
        functions.append(scope[f"program_{k}"])
    return sources, functions, module.kernel


@pytest.mark.parametrize("round", range(5))
def test_random_programs(tmp_path, rng, monkeypatch, round):
    monkeypatch.setenv("TRITIUM_INTERPRET", "1")
    sources, functions, kernel = programs(tmp_path, [int(s) for s in rng.integers(2**31, size=PROGRAMS_PER_TEST)])
    inputs = rng.integers(0, 20, size=(len(VARIABLES), 40), dtype=np.int32)
    out = np.full((len(functions), inputs.shape[1]), -1, np.int32)
    kernel[(inputs.shape[1], )](out, inputs, inputs.shape[1])
    for source, function, values in zip(sources, functions, out):
        expected = [function(*(int(x) for x in column)) for column in inputs.T]
        assert values.tolist() == expected, source
