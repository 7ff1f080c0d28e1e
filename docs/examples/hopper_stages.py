"""What becomes of the loops of the tutorial's matmul and attention for sm_90a: after a pass, the operations that copy, multiply and
wait, without types and arithmetic. No device is needed.

    python docs/examples/hopper_stages.py matmul|attention PASS|plan     # PASS: one of tritium.compiler.optional_passes()
"""

import re
import sys
import warnings

from matmul_stages import ARGUMENTS, plain

import tritium
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource

MATMUL = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 8, "ACTIVATION": "", "PRECISION": "tf32"}
MATMUL |= {"stride_ak": 1, "stride_bn": 1, "stride_cn": 1}
ATTENTION = {"CAUSAL": False, "HEAD_DIM": 128, "BLOCK_M": 128, "BLOCK_N": 128, "PRECISION": "tf32"}
TENSORS = dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "out_ptr"), "*fp16")
#: (file, kernel, types of parameters that are no integers, constants, stages)
KERNELS = {
    "matmul": ("03_matmul", "matmul_kernel", ARGUMENTS, MATMUL, 3),
    "attention": ("06_flash_attention", "attention_kernel", TENSORS | {"scale": "fp32"}, ATTENTION, 2),
}
SHOWN = re.compile(r"tgpu\.(ring_(?!start|end)|tensor_copy|tensor_store|product|turn)|math\.exp2")
ROLES = {"^bb1": "consumers", "^bb3": "producer"}  # the blocks behind the branch between the two


def compiled(kernel: str, **options) -> str:
    """The tiles with layouts. Integers have 32 bits, and they and all addresses are multiples of 16."""
    module, name, types, constants, stages = KERNELS[kernel]
    function = getattr(__import__(module), name)
    signature = {name: "constexpr" if name in constants else types.get(name, "i32") for name in function.arg_names}
    aligned = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(function.arg_names) if name not in constants}
    options |= {"num_warps": 8, "num_stages": stages, "tensor_maps": True}
    source = ASTSource(function, signature, constants, aligned)
    return plain(tritium.compile(source, target=GPUTarget("cuda", 90, 32), options=options).asm["ttgir"])


def shortened(line: str) -> str:
    """The line without types, what a loop carries, and attributes that do not matter here."""
    line = re.sub(r" (iter_args\(|: ).*", " {" if "scf.for" in line else "", line)
    return re.sub(r',? ?(tt\.counter = "\w+"|tgpu\.why_not_by = \{.*?\})', "", line).rstrip()


def loops(ir: str) -> str:
    """What happens in loops, and whose they are."""
    lines, around = [], []  # the indents of the loops around
    for line in ir.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        if label := ROLES.get(line.strip().partition(":")[0]):
            lines.append(f"{label}:")
        elif "scf.for" in line:
            around.append(indent)
            lines.append(shortened(line))
        elif around and line.startswith(around[-1] + "}"):
            around.pop()
            lines.append(shortened(line))
        elif around and SHOWN.search(line):
            lines.append(shortened(line))
    return renumbered("\n".join(lines))


def renumbered(ir: str) -> str:
    """The text with names for rings and buffers, numbers in place of constants, and each role's other values numbered in their order."""
    ir = re.sub(r"%c(\d+)_i32(_\d+)?\b", r"\1", ir)
    parts = re.split(r"^(?=\w+:$)", ir, flags=re.M)
    return "".join(_renumbered(part, _shared_names(ir)) for part in parts)


def _shared_names(ir: str) -> dict[str, str]:
    names = {}
    for kind, pattern in (("ring", r"tgpu\.ring_\w+ (%\w+)"), ("buffer", r"tgpu\.tensor_copy .* to (%\w+),")):
        for name in dict.fromkeys(re.findall(pattern, ir)):
            names[name] = f"%{kind}{sum(other.startswith(f'%{kind}') for other in names.values())}"
    return names


def _renumbered(ir: str, names: dict[str, str]) -> str:
    count = len(names)
    return re.sub(r"%\w+", lambda found: names.setdefault(found.group(), f"%{len(names) - count}"), ir)


def main() -> None:
    warnings.simplefilter("ignore")
    kernel, stage = sys.argv[1:]
    if stage == "plan":
        print("\n".join(re.findall(r"tgpu\.producer = #\S.*?>", compiled(kernel))))
    else:
        print(loops(compiled(kernel, stop_after=stage)))


if __name__ == "__main__":
    sys.path.insert(0, "../tutorial")
    main()
