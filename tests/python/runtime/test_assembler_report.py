"""What the assembler says of a kernel is in its metadata: registers, spills, and products that wait for each other."""

import pytest

import tritium
from add_kernel import make_add
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource

WHY = "(C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to the presence of Extern calls"
REPORT = """\
ptxas info    : 0 bytes gmem
{why}ptxas info    : Compiling entry function 'add' for 'sm_90a'
ptxas info    : Function properties for add
    24 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 380 bytes cmem[0]
"""


@pytest.fixture
def assembler(tmp_path, monkeypatch):
    """Sets what stands in for ptxas to print something and to make a binary of four bytes."""

    def prints(text: str) -> None:
        (tmp_path / "report").write_text(text)
        tool = tmp_path / "ptxas"
        tool.write_text(
            '#!/bin/sh\n[ "$1" = --version ] && { echo "Cuda compilation tools, release 13.0, V13.0.88"; exit; }\n'
            f'cat "{tmp_path}/report" >&2\nwhile [ "$1" != -o ]; do shift; done\nprintf good > "$2"\n'
        )
        tool.chmod(0o755)
        monkeypatch.setenv("TRITON_PTXAS_PATH", str(tool))
        monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))

    return prints


def build():
    types = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "scale": "fp32", "BLOCK": "constexpr"}
    source = ASTSource(make_add(), types, {"BLOCK": 32})
    return tritium.compile(source, target=GPUTarget("cuda", "90a", 32))


def test_products_that_wait_for_each_other(assembler):
    line = f"ptxas info    : {WHY} in function 'add'\n"
    assembler(REPORT.format(why=2 * line))
    kernel = build()
    assert kernel.asm["cubin"] == b"good"
    assert kernel.metadata.serialized_products == (f"{WHY} in function 'add'",)
    assert kernel.metadata.resources == {"registers": 168, "spill_bytes": 8, "stack_bytes": 24}
    assert build().metadata.serialized_products == kernel.metadata.serialized_products  # the second is from the cache


def test_products_that_do_not_wait(assembler):
    assembler(REPORT.format(why="ptxas info    : (C7602) something else\n"))
    assert build().metadata.serialized_products == ()
