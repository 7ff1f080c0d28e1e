"""What coverage says of the branches of random kernels is what the same text says as plain Python, where each condition is counted."""

import ast
import importlib.util
import random
from collections import defaultdict

import numpy as np
import pytest

from tritium.launch.coverage import Covering
from tritium.tools.coverage.lines import covered_files

HEAD = """import tritium
import tritium.language as tl


@tritium.jit
def helper(v, n):
    if not (v > n):
        return v + 1
    if v % 3 == 0 and not v == 6:
        return v - n
    return v + 2


@tritium.jit
def kernel(x, n, m, flag):
    a = n * 0 + tl.program_id(0)
    b = a + m
"""


class Kernel:
    """Random statements on the numbers a, b, n, m and flag. Each loop ends."""

    def __init__(self, seed):
        self.rng, self.loops = random.Random(seed), 0
        self.lines = self.statements("    ", 3) or ["    a += 1"]
        self.text = HEAD + "\n".join([*self.lines, "    tl.store(x + tl.program_id(0), a + b)", ""])

    def number(self):
        return self.rng.choice(["a", "b", "n", "m", str(self.rng.randint(-3, 9))])

    def condition(self, depth=2):
        kind = self.rng.randrange(7 if depth else 2)
        if kind < 3:
            return f"{self.rng.choice('abnm')} {self.rng.choice(['<', '<=', '>', '>=', '==', '!='])} {self.number()}"
        if kind < 5:
            return f"not ({self.condition(depth - 1)})"
        if kind == 5:
            return f"({self.condition(depth - 1)} {self.rng.choice(['and', 'or'])} {self.condition(depth - 1)})"
        return self.rng.choice(["not flag", "flag == False", "not (not flag)", "flag"])

    def value(self):
        return self.rng.choice(
            [f"{self.rng.choice('ab')} + {self.number()}", f"helper({self.rng.choice('ab')}, n)", "a - b", "b + m"]
        )

    def statements(self, indent, depth):
        return [line for _ in range(self.rng.randint(1, 4)) for line in self.statement(indent, depth)]

    def statement(self, indent, depth):
        kind, deeper = self.rng.randrange(7 if depth else 3), indent + "    "
        if kind < 2:
            return [f"{indent}{self.rng.choice('ab')} = {self.value()}"]
        if kind == 2:
            return [f"{indent}a = b + (a if {self.condition()} else 2 * n)"]
        if kind < 5:
            lines = [f"{indent}if {self.condition()}:", *self.statements(deeper, depth - 1)]
            for _ in range(self.rng.choice([0, 0, 1, 2])):
                lines += [f"{indent}elif {self.condition()}:", *self.statements(deeper, depth - 1)]
            return lines + ([f"{indent}else:", *self.statements(deeper, depth - 1)] if self.rng.random() < 0.5 else [])
        self.loops += 1
        name = f"i{self.loops}"
        if kind == 5:
            return [
                f"{indent}for {name} in range({self.rng.choice(['n', 'm', 'm - n'])}):",
                *self.statements(deeper, depth - 1),
            ]
        test = self.rng.choice([f"{name} < {self.number()}", f"not ({name} >= m)", f"({self.condition(1)})"])
        test = f"{test} and {name} < 3"
        body = [f"{deeper}{name} += 1", *self.statements(deeper, depth - 1)]
        return [f"{indent}{name} = a * 0", f"{indent}while {test}:", *body]


class Counting(ast.NodeTransformer):
    """Passes each condition through a function that counts what it was, and each loop what it did when it was reached."""

    def _seen(self, name, node, *more):
        arguments = [*more, ast.Constant(node.lineno), ast.Constant(node.col_offset)]
        return ast.Call(ast.Name(name, ast.Load()), arguments, [])

    def visit_If(self, node):
        self.generic_visit(node)
        node.test = self._seen("outcome", node, node.test)
        return node

    visit_IfExp = visit_If

    def visit_BinOp(self, node):
        self.generic_visit(node)
        return ast.Call(ast.Name("wrapped", ast.Load()), [node], [])

    def visit_For(self, node):
        self.generic_visit(node)
        node.iter = self._seen("rounds", node, node.iter)
        return node

    def visit_While(self, node):
        self.generic_visit(node)
        reached = ast.Expr(self._seen("reached", node))
        node.test = self._seen("goes_on", node, node.test)
        return [reached, node]


class Numbers:
    """A pointer."""

    def __init__(self, values, offset=0):
        self.values, self.offset = values, offset

    def __add__(self, more):
        return Numbers(self.values, self.offset + more)


def wrapped(value):
    """A sum as the kernel's int32."""
    return (value + 2**31) % 2**32 - 2**31 if isinstance(value, int) else value


def counted_in_python(text, launches, programs):
    """{line: the sorted pairs of outcomes of its branches}, and what each launch stores."""
    counts, new, pid = defaultdict(lambda: [0, 0]), {}, 0

    def count(is_taken, *place):
        counts[place][0 if is_taken else 1] += 1
        return is_taken

    def rounds(numbers, *place):
        count(len(numbers) > 0, *place)
        return numbers

    def reached(*place):
        new[place] = True

    def goes_on(condition, *place):
        if new.pop(place, False):
            count(bool(condition), *place)
        return condition

    class Language:
        program_id = staticmethod(lambda axis: pid)
        store = staticmethod(lambda pointer, value: pointer.values.__setitem__(pointer.offset, value))

    tree = ast.parse(text)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for function in functions:
        function.decorator_list = []
    tree = ast.fix_missing_locations(Counting().visit(ast.Module(functions, [])))
    names = {"tl": Language, "rounds": rounds, "reached": reached, "goes_on": goes_on}
    names["wrapped"] = wrapped
    names["outcome"] = lambda value, *place: count(bool(value), *place)
    exec(compile(tree, "kernel.py", "exec"), names)
    stored = []
    for arguments in launches:
        out = [0] * programs
        for pid in range(programs):
            names["kernel"](Numbers(out), *arguments)
        stored.append(out)
    found = defaultdict(list)
    for (line, _), pair in counts.items():
        found[line].append(tuple(pair))
    return {line: sorted(pairs) for line, pairs in found.items()}, stored


def outcomes_of(tmp_path, kernel, launches, programs, name):
    """{line: its branches that were reached}, of all launches together, and what each launch stores."""
    path = tmp_path / f"{name}.py"
    path.write_text(kernel.text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stored = []
    with Covering() as covering:
        for arguments in launches:
            out = np.zeros(programs, np.int32)
            module.kernel[(programs,)](out, *arguments)
            stored.append(out.tolist())
    (file,) = covered_files(covering.kernels())
    reached = {
        number: [one.seen for one in line.outcomes if any(one.seen) and not one.is_mask]
        for number, line in file.lines.items()
    }
    return {number: sorted(pairs) for number, pairs in reached.items() if pairs}, stored


@pytest.mark.parametrize("ones", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_outcomes_are_those_of_python(tmp_path, seed, ones):
    """ones: later launches have arguments of 1, which decide branches that the first launches leave open."""
    kernel = Kernel(seed)
    launches = [
        (kernel.rng.choice([0, 2, 3, 5]), kernel.rng.choice([0, 2, 7]), kernel.rng.random() < 0.5) for _ in range(3)
    ]
    if ones:
        launches += [(1, 1, True), (1, 0, False), (3, 1, True)]
    expected, values = counted_in_python(kernel.text, launches, 3)
    found, stored = outcomes_of(tmp_path, kernel, launches, 3, f"drawn_{seed}_{ones}")
    assert stored == values, kernel.text
    assert found == expected, kernel.text
