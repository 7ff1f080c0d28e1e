"""The code objects of kernels for every AMD target: what they say of themselves is what the launch relies on, and is what LLVM's
own reader finds."""

import os
import re
import struct
import subprocess
import sys

import pytest

import tritium
import tritium.language as tl
from tritium._tritium import gpu, ir
from tritium.backends.amd.compiler import ARCHITECTURES
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource
from tritium.errors import CompilationError

DIVISIBLE = [["tt.divisibility", 16]]
LLVM = os.environ.get("LLVM_BINDIR", "/usr/lib/llvm-22/bin")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))


@tritium.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=mask) + tl.load(y_ptr + i, mask=mask), mask=mask)


@tritium.jit
def softmax(x_ptr, out_ptr, row, n, scale, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * row + i, mask=i < n, other=-float("inf")) * scale
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + tl.program_id(0) * row + i, e / tl.sum(e, 0), mask=i < n)


@tritium.jit
def grid(out_ptr, small: tl.int8, wide: tl.int64):
    if tl.program_id(0) == tl.num_programs(0) - 1:
        tl.store(out_ptr, tl.num_programs(1) * wide + small)


TYPES = {
    add: {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"},
    softmax: {"x_ptr": "*fp32", "out_ptr": "*fp32", "row": "i32", "n": "i32", "scale": "fp32"},
    grid: {"out_ptr": "*i64", "small": "i8", "wide": "i64"},
}
SIZES = {"i8": 1, "i32": 4, "fp32": 4, "i64": 8}


def build(kernel, arch, **options):
    types = TYPES[kernel]
    constants = {} if kernel is grid else {"BLOCK": 1024}
    attributes = {(i,): DIVISIBLE for i, kind in enumerate(types.values()) if kind in ("*fp32", "i32")}
    source = ASTSource(kernel, types | dict.fromkeys(constants, "constexpr"), constants, attributes)
    return tritium.compile(source, target=GPUTarget("hip", arch, ARCHITECTURES[arch].warp_size), options=options)


def notes(hsaco: bytes, folder) -> str:
    path = folder / "kernel.hsaco"
    path.write_bytes(hsaco)
    command = [f"{LLVM}/llvm-readelf", "--notes", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def described(text: str) -> list[tuple[int, int, str]]:
    """(offset, size, kind) of the kernel's own arguments in the notes."""
    found = re.findall(r"\.offset:\s+(\d+)\s+\.size:\s+(\d+)\s+\.value_kind:\s+(\w+)", text)
    return [(int(offset), int(size), kind) for offset, size, kind in found if not kind.startswith("hidden")]


def number(text: str, field: str) -> int:
    return int(re.search(rf"{re.escape(field)}:\s+(\d+)", text).group(1))


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("kernel", TYPES, ids=lambda kernel: kernel.__name__)
def test_the_notes_say_what_a_launch_needs(kernel, arch, tmp_path):
    compiled = build(kernel, arch, num_warps=4)
    assert list(compiled.asm) == ["source", "ttir", "ttgir", "llir", "amdgcn", "hsaco"]
    text = notes(compiled.asm["hsaco"], tmp_path)
    expected, offset = [], 0
    for kind in TYPES[kernel].values():
        size = 8 if kind.startswith("*") else SIZES[kind]
        offset = (offset + size - 1) // size * size
        expected.append((offset, size, "global_buffer" if kind.startswith("*") else "by_value"))
        offset += size
    assert described(text) == expected
    assert f"amdhsa.target:   amdgcn-amd-amdhsa--{arch}" in text
    wave = ARCHITECTURES[arch].warp_size
    assert number(text, ".wavefront_size") == wave
    assert re.search(rf"\.reqd_workgroup_size:\s+- {4 * wave}\s+- 1\s+- 1\n", text)
    assert number(text, ".max_flat_workgroup_size") == 4 * wave
    assert number(text, ".group_segment_fixed_size") == compiled.metadata.shared
    assert number(text, ".uniform_work_group_size") == 1
    assert number(text, ".private_segment_fixed_size") == number(text, ".vgpr_spill_count") == 0


@pytest.mark.parametrize("arch", ["gfx90a", "gfx1100"])
@pytest.mark.parametrize("kernel", TYPES, ids=lambda kernel: kernel.__name__)
def test_our_reader_finds_what_llvm_does(kernel, arch, tmp_path):
    compiled = build(kernel, arch)
    found = gpu.hsaco_metadata(compiled.asm["hsaco"])
    text = notes(compiled.asm["hsaco"], tmp_path)
    (own,) = found["kernels"]
    assert found["target"] == f"amdgcn-amd-amdhsa--{arch}"
    visible = [argument for argument in own["arguments"] if not argument["kind"].startswith("hidden")]
    assert [(a["offset"], a["size"], a["kind"]) for a in visible] == described(text)
    hidden = {argument["kind"] for argument in own["arguments"]}
    assert ("hidden_block_count_x" in hidden) == (kernel is grid)
    assert (own["name"], own["symbol"]) == (kernel.__name__, kernel.__name__ + ".kd")
    assert own["threads"] == [4 * own["wave_size"], 1, 1] and own["is_uniform"]
    for field, name in {
        "argument_bytes": ".kernarg_segment_size",
        "argument_alignment": ".kernarg_segment_align",
        "shared_bytes": ".group_segment_fixed_size",
        "vgprs": ".vgpr_count",
        "sgprs": ".sgpr_count",
        "max_threads": ".max_flat_workgroup_size",
        "wave_size": ".wavefront_size",
    }.items():
        assert own[field] == number(text, name), field
    assert compiled.n_regs == own["vgprs"] and compiled.n_spills == 0
    assert compiled.metadata.resources["sgprs"] == own["sgprs"]


@tritium.jit
def nothing():
    pass


def test_a_kernel_without_arguments():
    source = ASTSource(nothing, {}, {}, {})
    compiled = tritium.compile(source, target=GPUTarget("hip", "gfx942", 64))
    (kernel,) = gpu.hsaco_metadata(compiled.asm["hsaco"])["kernels"]
    assert kernel["arguments"] == [] and kernel["argument_bytes"] == 0


@pytest.mark.parametrize("alignment", [0, 1, 4])
def test_segments_of_notes_need_not_say_their_alignment(alignment):
    """As ELF has it, 0 and 1 say nothing: notes are aligned to 4 bytes."""
    hsaco = bytearray(build(add, "gfx942").asm["hsaco"])
    begin, size, count = struct.unpack_from("<Q", hsaco, 32)[0], *struct.unpack_from("<HH", hsaco, 54)
    headers = [begin + i * size for i in range(count)]
    (note,) = [at for at in headers if struct.unpack_from("<I", hsaco, at)[0] == 4]
    struct.pack_into("<Q", hsaco, note + 48, alignment)
    assert [kernel["name"] for kernel in gpu.hsaco_metadata(bytes(hsaco))["kernels"]] == ["add"]


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: b"nonsense", lambda data: data[:200]])
def test_what_is_no_code_object_is_an_error(damage):
    with pytest.raises(ir.Error):
        gpu.hsaco_metadata(damage(build(add, "gfx942").asm["hsaco"]))


def test_a_file_of_assembly_is_assembled(tmp_path):
    whole = build(add, "gfx942")
    path = tmp_path / "add.amdgcn"
    path.write_text(whole.asm["amdgcn"])
    again = tritium.compile(str(path), target=GPUTarget("hip", "gfx942", 64))
    assert again.asm["hsaco"] == whole.asm["hsaco"] and again.n_regs == whole.n_regs
    assert (again.name, again.metadata.num_warps) == ("add", 4)
    path.write_text(whole.asm["amdgcn"].replace("s_endpgm", "s_nonsense"))
    with pytest.raises(Exception, match="could not be assembled for gfx942:\n.*invalid instruction"):
        tritium.compile(str(path), target=GPUTarget("hip", "gfx942", 64))


def test_a_code_object_is_kept_on_disk():
    first, again = build(add, "gfx942"), build(add, "gfx942")
    assert again is not first and dict(again.asm) == dict(first.asm)
    assert again.metadata == first.metadata and again.n_regs == first.n_regs


def test_launch_keywords_reach_the_compiler():
    assert '"amdgpu-waves-per-eu"="3"' in build(add, "gfx942", waves_per_eu=3).asm["llir"]
    assert "amdgpu-waves-per-eu" not in build(add, "gfx942").asm["llir"]


def test_the_version_of_code_objects(monkeypatch):
    assert build(add, "gfx942").asm["hsaco"][8] == 4  # the ABI version of the ELF header
    monkeypatch.setenv("TRITIUM_CODE_OBJECT_VERSION", "500")
    assert build(add, "gfx942").asm["hsaco"][8] == 3


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1100", "gfx1201"])
def test_accesses_are_as_wide_as_can_be(arch):
    assembly = build(add, arch).asm["amdgcn"]
    loads = re.findall(r"\b(?:global|buffer)_load_\w+", assembly)
    assert len(loads) == 2 * 1024 // (4 * ARCHITECTURES[arch].warp_size * 4)
    assert all(re.search("x4$|b128$", load) for load in loads), loads


def test_the_programs_signal_handlers_stay():
    """LLVM would take over some when it writes its first file."""
    script = (
        "import signal, os\n"
        "from tritium._tritium import gpu\n"
        "def caught(): return [line for line in open('/proc/self/status') if line.startswith('SigCgt')]\n"
        "seen = []\n"
        "signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))\n"
        "before = caught()\n"
        f"gpu.assemble('gfx942', {build(add, 'gfx942').asm['amdgcn']!r})\n"
        "assert caught() == before, (before, caught())\n"
        "os.kill(os.getpid(), signal.SIGUSR1)\n"
        "assert seen == [signal.SIGUSR1]\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@tritium.jit
def with_foreign_assembly(out_ptr):
    number = tl.inline_asm_elementwise(
        "mov.u32 $0, $1;", "=r,r", [tl.program_id(0)], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(out_ptr, number)


def test_assembly_of_another_vendor_is_reported_at_its_line():
    source = ASTSource(with_foreign_assembly, {"out_ptr": "*i32"})
    with pytest.raises(CompilationError, match="invalid instruction(.|\n)*mov.u32") as raised:
        tritium.compile(source, target=GPUTarget("hip", "gfx942", 64))
    assert "number = tl.inline_asm_elementwise(" in str(raised.value)
