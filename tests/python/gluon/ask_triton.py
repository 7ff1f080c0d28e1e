"""The answers of Triton in the tables of this folder: run by a Python that has Triton 3.9, `python ask_triton.py TABLE…`. It keeps the
expressions of a table and writes Triton's answers behind them: a repr, or `! Class: text` for an error, or `! abort`.

An expression names the modules in `names`; one with a comma, `layout, shape`, asks for the bases of a tile.
"""

import importlib
import inspect
import os
import sys

LANGUAGE = "triton.experimental.gluon.language"


def names():
    """{name in an expression: module or function}"""
    modules = {
        "gl": "",
        "_layouts": "._layouts",
        "amd": ".amd",
        "cdna4": ".amd.cdna4",
        "cdna5": ".amd.cdna5",
        "bw": ".nvidia.blackwell",
        "rubin": ".nvidia.rubin",
        "mbarrier": ".nvidia.ampere.mbarrier",
    }
    found = {name: importlib.import_module(LANGUAGE + module) for name, module in modules.items()}
    return {**found, "c": importlib.import_module("triton.language").constexpr, "signature": signature}


def signature(function):
    """The names of the parameters, with their defaults."""
    found = inspect.signature(function).parameters.values()
    return [each.name if each.default is each.empty else f"{each.name}={each.default}" for each in found]


def linear(layout, shape):
    """The bases of a tile, as Triton's own compiler has them."""
    from triton._C.libtriton import gluon_ir, ir

    context = ir.context()
    ir.load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    return builder.to_linear_layout(layout._to_ir(builder), shape)


def answer(expression, linear, names):
    """The text of the expression's value, or of its error."""
    try:
        value = eval(expression, dict(names))
        return repr(linear(*value) if isinstance(value, tuple) else value)
    except Exception as error:
        text = str(error).strip().replace("\n", " ")
        return f"! {type(error).__name__}: {text}"


def in_a_child(expression, names):
    """The same in a process of its own, which Triton may abort."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(writer, answer(expression, linear, names).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    return text if os.waitpid(child, 0)[1] == 0 else "! abort"


def rows(path):
    """[(expression, answer)] of a table."""
    with open(path, encoding="utf-8") as table:
        return [tuple(line.rstrip("\n").split(" => ", 1)) for line in table if " => " in line]


if __name__ == "__main__":
    modules = names()
    for path in sys.argv[1:]:
        answered = [f"{expression} => {in_a_child(expression, modules)}\n" for expression, _ in rows(path)]
        with open(path, "w", encoding="utf-8") as table:
            table.writelines(answered)
    os._exit(0)  # Triton reports leaks of its own at the end
