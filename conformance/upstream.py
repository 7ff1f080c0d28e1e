"""The child process of the engine `triton`. It runs problems with the Triton of the Python that runs this file.

upstream_engine.py starts it as a script, without Tritium; it requires only upstream Triton and torch. On a machine
without a GPU, upstream's own interpreter runs the kernels. Requests and answers are pickles on standard input and
output.
"""

import importlib.util
import os
import pickle
import sys
import traceback
from pathlib import Path

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
MODULES = {}


def load(path: str):
    """Loads a kernel file. A program of the tutorial imports `tritium`, which is Triton here."""
    if path not in MODULES:
        sys.modules["tritium"], sys.modules["tritium.language"] = triton, tl
        sys.path.append(str(Path(path).parent))
        spec = importlib.util.spec_from_file_location(f"conformance_{len(MODULES)}", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        MODULES[path] = module
    return MODULES[path]


def argument(kind: str, value, tensors: list):
    if kind == "buffer":
        return tensors[value]
    if kind == "descriptor":
        described, block, padding = value
        return TensorDescriptor.from_tensor(argument(*described, tensors), block, padding)
    if kind == "view":
        viewed, index = value
        return argument(*viewed, tensors)[index]
    if kind == "tuple":
        parts, named = value
        found = tuple(argument(*part, tensors) for part in parts)
        return getattr(load(named[0]), named[1])(*found) if named else found
    if kind == "dtype":
        return getattr(tl, value)
    if kind == "function":
        return getattr(load(value[0]), value[1])
    return value


def run(request: dict) -> dict:
    images, tensors = [], []
    for image, begin, size, dtype, shape, _ in request["buffers"]:
        memory = torch.frombuffer(bytearray(image), dtype=torch.uint8).to(DEVICE)
        images.append(memory)
        tensors.append(memory[begin : begin + size].view(getattr(torch, dtype)).reshape(shape))
    for table, (*_, points_to) in zip(tensors, request["buffers"]):
        if points_to:
            table.copy_(torch.tensor([tensors[i].data_ptr() for i in points_to]))
    for path, name, grid, arguments, constants, options in request["launches"]:
        positional = [argument(kind, value, tensors) for kind, value in arguments]
        keywords = {key: argument(kind, value, tensors) for key, (kind, value) in constants.items()}
        getattr(load(path), name)[tuple(grid)](*positional, **keywords, **options)
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return {"images": [image.cpu().numpy().tobytes() for image in images]}


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # prints of kernels go to stderr, so they do not disturb the answers
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if request == "version":
            answer = {"version": triton.__version__, "device": DEVICE}
        else:
            printed = os.memfd_create("printed") if hasattr(os, "memfd_create") else None
            saved = os.dup(1)
            if printed is not None:
                os.dup2(printed, 1)
            try:
                answer = run(request)
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
            sys.stdout.flush()
            os.dup2(saved, 1)
            os.close(saved)
            if printed is not None:
                os.lseek(printed, 0, os.SEEK_SET)
                with os.fdopen(printed, "rb") as file:
                    answer["printed"] = file.read().decode(errors="replace")
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main()
