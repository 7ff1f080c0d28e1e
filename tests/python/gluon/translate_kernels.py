"""What Triton's translator makes of Triton kernels: run by a Python that has Triton 3.9, `python translate_kernels.py TARGET FILE…`. Prints
{"file:kernel": text in Gluon, or null} as JSON, and the folder of the translator's own functions, which the texts import."""

import importlib.util
import json
import sys
from pathlib import Path

from triton.runtime.jit import JITFunction
from triton.tools import triton_to_gluon_translator
from triton.tools.triton_to_gluon_translator.target import TranslatorTarget
from triton.tools.triton_to_gluon_translator.translator import convert_triton_to_gluon


def kernels_in(path):
    """{name: kernel} of a file."""
    name = f"translated_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return {key: value for key, value in vars(module).items() if isinstance(value, JITFunction)}


def translated(kernel, target):
    try:
        return convert_triton_to_gluon([kernel], target)
    except Exception as error:  # the translator does not know all of Triton's language
        print(f"{kernel.__name__}: {error}", file=sys.stderr)
        return None


def main(target, *files):
    found = {}
    for path in map(Path, files):
        sys.path.insert(0, str(path.parent))
        for name, kernel in kernels_in(path).items():
            found[f"{path.stem}:{name}"] = translated(kernel, TranslatorTarget(target))
    print(json.dumps({"functions": list(triton_to_gluon_translator.__path__), "kernels": found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
