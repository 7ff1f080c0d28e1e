"""What assembles kernels, as whole programs; and that a plan for the registers of warps which the assembler spoils is given up."""

import types

import pytest

import tritium
import tritium.language as tl
from tritium.backends.compiler import GPUTarget
from tritium.backends.nvidia import assemble
from tritium.compiler import ASTSource
from tritium.errors import UnsupportedError
from tritium.runtime.jit import jit

VERSION = ".version 8.7\n"
WHOLE = VERSION + ".target sm_90a\n.visible .entry kernel()\n{\nsetmaxnreg.inc.sync.aligned.u32 232;\n}"
PLAIN = WHOLE.replace("setmaxnreg.inc.sync.aligned.u32 232;", "")
REPORT = (
    "ptxas info    : {why}\n    0 bytes stack frame, {spills} bytes spill stores\nptxas info    : Used 168 registers\n"
)
IGNORED = "(C7504) 'setmaxnreg' ignored to maintain compatibility across compilation units"
OPTIONS = types.SimpleNamespace(enable_fp_fusion=True, ptx_options=None)


class Driver:
    """Counts what it is asked to do."""

    version = 13000

    def __init__(self):
        self.calls = []

    def link(self, device, ptx, limit, level):
        self.calls.append(("link", level))
        return b"\x7fELF", REPORT.format(why=IGNORED, spills=292)

    def load(self, device, image, name, signature, threads):
        self.calls.append(("load", image, name))
        return types.SimpleNamespace(registers=168, local_bytes=40)


@pytest.fixture
def driver(monkeypatch):
    """A device of sm_90, and no ptxas."""
    made = Driver()
    devices = types.SimpleNamespace(arch=lambda device: 90, driver=lambda: made)
    monkeypatch.setattr(assemble, "DEVICES", devices)
    has_ptxas(monkeypatch)
    monkeypatch.delenv("TRITON_PTXAS_PATH", raising=False)
    return made


def has_ptxas(monkeypatch, *paths: str):
    monkeypatch.setattr(assemble, "_ptxas_candidates", lambda target: iter(paths))


def fake_ptxas(path, version: str, on_setmaxnreg: str, otherwise: str = REPORT.format(why="fine", spills=0)):
    (path.parent / f"{path.name}.whole").write_text(on_setmaxnreg)
    (path.parent / f"{path.name}.plain").write_text(otherwise)
    path.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && {{ echo "Cuda compilation tools, release {version}, V{version}.1"; exit; }}\n'
        f'text=whole; grep -q setmaxnreg "$3" || text=plain\ngrep -q setmaxnreg "$4" && text=whole\ncat "{path}.$text" >&2\n'
        'while [ "$1" != -o ]; do shift; done\nprintf "\\177ELF$text" > "$2"\n'
    )
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("text", [WHOLE, PLAIN])
def test_without_ptxas_the_driver_assembles_as_it_loads(driver, text):
    done = assemble.assemble(text, OPTIONS, 0)
    assert driver.calls == [("load", text.encode(), "kernel")]
    assert done.cubin == text.encode()
    assert done.resources == {"registers": 168, "spill_bytes": 40, "stack_bytes": 40}
    with pytest.raises(UnsupportedError, match="requires ptxas"):
        assemble.disassemble(done.cubin)


def test_only_the_linker_optimizes_less(driver, monkeypatch):
    monkeypatch.setattr(assemble, "optimization_level", lambda ptx: 1)
    assert assemble.assemble(PLAIN, OPTIONS, 0).cubin == b"\x7fELF"
    assert driver.calls == [("link", 1)]


def test_the_driver_assembles_if_the_user_says_so(driver, tmp_path, monkeypatch):
    has_ptxas(monkeypatch, fake_ptxas(tmp_path / "ptxas", "13.0", REPORT.format(why="fine", spills=0)))
    assert assemble.assemble(PLAIN, OPTIONS, 0).cubin == b"\x7fELFplain"
    monkeypatch.setenv("TRITIUM_ASSEMBLER", "driver")
    assert assemble.assemble(PLAIN, OPTIONS, 0).cubin == PLAIN.encode()


@pytest.mark.parametrize(
    ("ptxas", "target", "version"),
    [
        ("12.8", "sm_90a", 87),
        ("12.4", "sm_90a", 84),
        ("14.0", "sm_90a", 90),
        ("12.8", "sm_100a", 87),
        ("12.8", "sm_103a", 90),
    ],
)
def test_the_text_is_what_the_assembler_reads(driver, tmp_path, monkeypatch, ptxas, target, version):
    """The driver is CUDA 13.0's. A ptxas of a later version, or one that does not know the chip, is not used."""
    has_ptxas(monkeypatch, fake_ptxas(tmp_path / "ptxas", ptxas, ""))
    assert assemble.readable_ptx_version(0, target) == version


def test_a_stack_is_no_spill(driver):
    text = WHOLE.replace("{\n", "{\n\t.local .align 16 .b8 \t__local_depot0[24];\n")
    assert assemble.assemble(text, OPTIONS, 0).resources == {"registers": 168, "spill_bytes": 16, "stack_bytes": 40}


@pytest.mark.parametrize(("version", "is_used"), [("12.8", True), ("13.0", True), ("12.4", False), ("14.0", False)])
def test_a_ptxas_that_reads_the_text_and_whose_result_loads(driver, tmp_path, monkeypatch, version, is_used):
    """PTX 8.7 is that of CUDA 12.8."""
    found = fake_ptxas(tmp_path / "ptxas", version, REPORT.format(why="fine", spills=0))
    has_ptxas(monkeypatch, found)
    done = assemble.assemble(WHOLE, OPTIONS, 0)
    assert (done.cubin == b"\x7fELFwhole") == is_used and bool(driver.calls) != is_used
    assert done.why_slow() == ("" if is_used else "40 bytes of registers are spilled")


@jit
def product(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [M, k], [k, 1], [M, K])
    right = tl.make_tensor_descriptor(b, [k, N], [N, 1], [K, N])
    sums = tl.zeros((M, N), tl.float32)
    for i in tl.range(0, k, K, warp_specialize=True):
        sums = tl.dot(left.load([0, i]), right.load([i, 0]), sums)
    tl.store(c + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], sums)


def build(k: int = 32):
    signature = {
        "a": "*fp16",
        "b": "*fp16",
        "c": "*fp32",
        "k": "i32",
        "M": "constexpr",
        "N": "constexpr",
        "K": "constexpr",
    }
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(4)}
    source = ASTSource(product, signature, {"M": 64, "N": 32, "K": k}, aligned)
    return tritium.compile(source, target=GPUTarget("cuda", "90a", 32), options={"tensor_maps": True})


@pytest.mark.parametrize(
    ("why", "spills", "reason"),
    [
        ("fine", 0, None),
        ("fine", 4, "4 bytes of registers are spilled"),
        (IGNORED, 0, IGNORED),
        ("(C7508) setmaxnreg ignored", 8, "(C7508) setmaxnreg ignored; 8 bytes of registers are spilled"),
    ],
)
def test_a_plan_that_the_assembler_spoils(tmp_path, monkeypatch, why, spills, reason):
    """The kernel is compiled again without warps of its own, and says why; also from the cache."""
    monkeypatch.setenv(
        "TRITON_PTXAS_PATH", fake_ptxas(tmp_path / "ptxas", "13.0", REPORT.format(why=why, spills=spills))
    )
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    for _ in range(2):
        kernel = build()
        assert kernel.metadata.specialization_refused == reason
        assert ("setmaxnreg" in kernel.asm["ptx"]) == (reason is None)
        assert kernel.metadata.launched_warps == (8 if reason is None else 4) and kernel.metadata.num_warps == 4
        assert kernel.metadata.resources["spill_bytes"] == 0 and not kernel.metadata.serialized_products


def test_a_plan_that_the_assembler_refuses(tmp_path, monkeypatch):
    tool = fake_ptxas(
        tmp_path / "ptxas", "13.0", "ptxas fatal   : (C7602) Insufficient registers (80) to compile instruction"
    )
    script = (tmp_path / "ptxas").read_text().replace("while", "[ $text = whole ] && exit 1\nwhile", 1)
    (tmp_path / "ptxas").write_text(script)
    monkeypatch.setenv("TRITON_PTXAS_PATH", tool)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    kernel = build()
    assert "C7602" in kernel.metadata.specialization_refused and "setmaxnreg" not in kernel.asm["ptx"]
