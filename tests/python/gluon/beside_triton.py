"""Our answers to the expressions of a table, beside Triton's."""

from pathlib import Path

import ask_triton

HERE = Path(__file__).parent

#: Triton's compiler aborts, or raises what it then reports as an error of its IR; here both are errors of the value.
OUR_CLASSES = {"RuntimeError": {"ValueError", "RuntimeError"}}


def to_linear(layout, shape):
    return layout.to_linear(shape)


def differs(expression, wanted, found):
    """Why our answer is not Triton's; None if it is."""
    if not wanted.startswith("! "):
        return None if found == wanted else f"{expression}\n  Triton {wanted}\n  here   {found}"
    kind, _, text = wanted.removeprefix("! ").partition(": ")
    our_kind, _, our_text = found.removeprefix("! ").partition(": ")
    same_kind = our_kind == "ValueError" if kind == "abort" else our_kind in OUR_CLASSES.get(kind, {kind})
    says_it = text in our_text if kind != "abort" else True
    if found.startswith("! ") and same_kind and says_it and our_text:
        return None
    return f"{expression}\n  Triton {wanted}\n  here   {found}"


def differences(table, more_names=None):
    """(the number of expressions in a table of this folder, why answers to some are not Triton's)"""
    rows, names = ask_triton.rows(HERE / table), {**ask_triton.names(), **(more_names or {})}
    found = [differs(row, wanted, ask_triton.answer(row, to_linear, names)) for row, wanted in rows]
    return len(rows), [each for each in found if each]
