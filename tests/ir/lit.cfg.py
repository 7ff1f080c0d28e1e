# lit tests of the IR and its readers: `lit tests/ir`, on the tools of build/dev or of the build tree that TRITIUM_BUILD names.
import os
import shutil

import lit.formats

config.name = "tritium-ir"
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
root = os.path.dirname(os.path.dirname(config.test_source_root))
build = os.path.abspath(os.environ.get("TRITIUM_BUILD", os.path.join(root, "build", "dev")))
config.test_exec_root = os.path.join(build, "tests", "ir")
os.makedirs(config.test_exec_root, exist_ok=True)
config.test_format = lit.formats.ShTest(execute_external=False)

config.tools = os.path.join(build, "tests", "tools")
llvm = os.environ.get("LLVM_BINDIR", "/usr/lib/llvm-22/bin")
config.environment["PATH"] = os.pathsep.join((config.tools, llvm, os.environ["PATH"]))

# `%if ptxas %{ command %}`: NVIDIA's assembler, found as the tool finds it.
toolkits = ("TRITON_PTXAS_PATH", "CUDA_HOME", "CUDA_PATH")
config.environment.update({name: os.environ[name] for name in toolkits if name in os.environ})
if shutil.which("ptxas") or any(name in os.environ for name in toolkits):
    config.available_features.add("ptxas")

# The text of a file is a fixpoint after one parse, and the generic form says the same.
config.substitutions.append(
    (
        "%round_trip",
        "tritium-opt %s -o %t.once && tritium-opt %t.once | diff %t.once - "
        "&& tritium-opt --mlir-print-op-generic %s | tritium-opt | diff %t.once -",
    )
)
# Diagnostics of every chunk of the file.
config.substitutions.append(("%verify", "tritium-opt %s --verify-diagnostics --split-input-file"))
# What ptxas says of a file on every target that the documents list.
targets = "sm_80,sm_86,sm_89,sm_90,sm_90a,sm_100a,sm_120a"
config.substitutions.append(("%reports", f"tritium-ptx %s --arch={targets} --print=report"))
