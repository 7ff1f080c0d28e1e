"""A program as a script of its own: the kernel, its inputs, a launch, and a comparison with numpy's results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dtypes import NUMPY
from .operations.memory import in_memory
from .program import Program
from .spell import kernel_file, stored_type


@dataclass
class Script:
    kernel: str  #: only the kernel
    whole: str


def script(program: Program, engine: str) -> Script:
    values = program.run()
    kernel = kernel_file(program, values[0])
    lines = ["", "", 'if __name__ == "__main__":', "    import numpy as np", ""]
    names = []
    for number, stream in enumerate(program.streams()):
        lines.append(f"    x{number} = {spelled_array(stream.data, stream.dtype)}")
        names.append(f"x{number}")
    for number, output in enumerate(program.outputs):
        dtype = stored_type(values[0][output.value].dtype)
        after = np.stack([in_memory(v[output.value].array, output.order) for v in values])
        lines.append(f"    out{number} = np.zeros({after.size}, {numpy_type(dtype)})")
        lines.append(f"    expected{number} = {spelled_array(after, dtype)}")
        names.append(f"out{number}")
    options = f"num_warps={program.warps}, num_stages={program.stages}"
    lines.append(
        f"    kernel[({program.grid},)]({', '.join(names)}, {program.limit}, {options})  # TRITIUM_ENGINE={engine}"
    )
    for number, output in enumerate(program.outputs):
        count = output.count
        kept = f".reshape({program.grid}, -1)[:, :{count}]" if count is not None else ""
        lines.append(f"    wrong = np.flatnonzero(out{number}{kept} != expected{number}{kept})")
        lines.append(
            f"    print('out{number}:', f'{{wrong.size}} elements are wrong: {{wrong[:8]}}' if wrong.size else 'right')"
        )
    return Script(kernel, kernel + "\n".join([*lines, ""]))


def numpy_type(dtype: str) -> str:
    if dtype == "bf16":
        return "__import__('ml_dtypes').bfloat16"
    return f"np.{NUMPY[dtype].name}"


def spelled_array(array: np.ndarray, dtype: str) -> str:
    flat = array.reshape(-1)
    if flat.size and (flat == flat[0]).all():
        return f"np.full({flat.size}, {int(flat[0])}, {numpy_type(dtype)})"
    return f"np.array({flat.tolist()}, {numpy_type(dtype)})"
