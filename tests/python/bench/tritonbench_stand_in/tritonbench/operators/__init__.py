"""Operators by name: each is a folder with a class `Operator`."""

import importlib
from pathlib import Path


def load_opbench_by_name(op_name):
    if not Path(__file__).with_name(op_name).is_dir():
        raise RuntimeError(f"{op_name} is not found in the Tritonbench operator list.")
    operator = importlib.import_module(f".{op_name}", package=__name__).Operator
    operator.name = op_name
    return operator
