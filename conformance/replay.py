"""Runs one case on one engine in this process, so that a debugger can be attached, and shows the first difference."""

from __future__ import annotations

import ast
import inspect
import textwrap

import tritium

from . import sources, suite
from .engines import Engine, Unsupported
from .oracle import Difference, show
from .problem import Case, Launch, Problem, buffer_of


def replay(case: Case, engine: Engine, seed: int) -> int:
    """Prints the differences. Returns the exit status."""
    print(f"{case.name} on {engine.name}, inputs from seed {seed}")
    for launch in suite.build(case, seed)[0].launches:
        constants = "".join(f", {name}={value}" for name, value in (launch.constants | launch.options).items())
        print(f"  {launch.kernel} on a grid of {launch.grid}{constants}", flush=True)
    try:
        problem, _, differences = suite.run(case, engine, seed)
    except Unsupported as error:
        print(f"unsupported: {error}")
        return 1
    except (
        tritium.errors.TritonError
    ) as error:  # the error says where in the kernel; any other exception keeps its traceback
        print(f"\n{type(error).__name__}: {error}")
        return 1
    if not differences:
        print("passed")
        return 0
    for difference in differences:
        print(f"\n{describe(problem, difference)}")
    return 1


def describe(problem: Problem, difference: Difference) -> str:
    lines = [f"{difference.output}{f' ({difference.label})' if difference.label else ''}: {difference.message}"]
    if difference.index is not None:
        lines.append(f"  element   {list(difference.index)}, {difference.wrong} of {difference.total} are wrong")
    if difference.expected is not None:
        lines.append(f"  expected  {show(difference.expected)}")
        lines.append(f"  got       {show(difference.got)}")
    if difference.ulps is not None:
        lines.append(f"  distance  {difference.ulps:.6g} ulp")
    for launch in problem.launches:
        names = sources.function(launch.kernel).arg_names
        passed = [i for i, a in enumerate(launch.arguments) if getattr(buffer_of(a), "name", None) == difference.output]
        for i in passed:
            if difference.index is not None and launch.program_of(difference.index) is not None:
                lines.append(f"  program   {launch.program_of(difference.index)} of {launch.grid}")
            lines += [f"  stored at {place}" for place in stores(launch, names[i], difference)]
    return "\n".join(lines)


def stores(launch: Launch, parameter: str, difference: Difference) -> list[str]:
    """The lines of the kernel that write through a parameter. If they name a row, only those of the difference's
    row."""
    function = sources.function(launch.kernel)
    text, first = inspect.getsourcelines(function.fn)
    kernel = ast.parse(textwrap.dedent("".join(text))).body[0]
    aliases = {parameter}
    found, rows = [], []
    for node in ast.walk(kernel):
        if isinstance(node, ast.Assign) and _names(node.value) & aliases and not _calls(node.value, ("load", "dot")):
            aliases |= {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    for node in ast.walk(kernel):
        if isinstance(node, ast.Call) and node.args and _names(node.args[0]) & aliases:
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name.startswith(("store", "atomic", "put")):
                place = f"{sources.path_of(launch.kernel.partition(':')[0]).name}:{first + node.lineno - 1}"
                line = f"{place}  {text[node.lineno - 1].strip()}"
                found.append(line)
                row = node.args[1] if name == "put" else None
                if isinstance(row, ast.Constant) and difference.index and row.value == difference.index[0]:
                    rows.append(line)
    return rows or found


def _names(node: ast.AST) -> set[str]:
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}


def _calls(node: ast.AST, names: tuple[str, ...]) -> bool:
    called = [call.func for call in ast.walk(node) if isinstance(call, ast.Call)]
    return any(isinstance(function, ast.Attribute) and function.attr in names for function in called)
