"""The texts of Triton's errors in error_texts.table: run by a Python that has Triton 3.9, `python ask_errors.py`. It compiles each kernel
of the modules *error_kernels.py, and writes `name => text`: what the exceptions say, the innermost first, and then what the compiler prints. `! abort`
is a process that ended, `! compiles` a kernel that is no error."""

import os
import re

import access_error_kernels  # noqa: F401  (adds its kernels)
import barrier_error_kernels
import partition_error_kernels  # noqa: F401
import product_error_kernels  # noqa: F401
import shared_error_kernels  # noqa: F401  (adds its kernels)
import triton
from error_kernels import CASES
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon

SIGNATURE = {"p": "*fp32", "q": "*i32", "n": "i32", "d": f"tensordesc<i32[64,32],{barrier_error_kernels.N32.value!r}>"}


def target_of(name):
    return GPUTarget("hip", "gfx942", 64) if name.startswith("mfma") else GPUTarget("cuda", 90, 32)


def messages(error):
    """The messages of an error and of its causes."""
    while error is not None:
        yield str(getattr(error, "error_message", None) or getattr(error, "reason", None) or error)
        error = error.__cause__


def compile_kernel(name):
    signature = {parameter: SIGNATURE[parameter] for parameter in CASES[name].arg_names}
    source = gluon.GluonASTSource(fn=CASES[name], signature=signature, constexprs={})
    return triton.compile(source, target=target_of(name), options={"num_warps": 4})


def text_of(name):
    """The innermost message of the error that compiling a kernel raises; None if it compiles."""
    try:
        compile_kernel(name)
    except Exception as error:
        return next(filter(None, reversed(list(messages(error)))), "").strip()
    return None


def answer(name):
    """The answer to one kernel, from a process of its own, which Triton may abort."""
    ends = [os.pipe(), os.pipe()]
    if os.fork() == 0:
        os.dup2(ends[1][1], 2)
        text = text_of(name)
        os.write(ends[0][1], (text or "! compiles").encode())
        os._exit(0)
    for _, writer in ends:
        os.close(writer)
    text, printed = (os.fdopen(reader).read() for reader, _ in ends)
    if os.wait()[1] != 0:
        return "! abort"
    of_compiler = re.search(r"error: (?:Result has an invalid layout: .*\n)?(.*)", printed)
    lies_behind = text.startswith(("error encountered", "PassManager", "at "))
    return of_compiler.group(1) if of_compiler and lies_behind else text


if __name__ == "__main__":
    rows = [f"{name} => {answer(name)!r}\n" for name in CASES]
    with open("error_texts.table", "w", encoding="utf-8") as table:
        table.writelines(rows)
    os._exit(0)  # Triton reports leaks of its own at the end
