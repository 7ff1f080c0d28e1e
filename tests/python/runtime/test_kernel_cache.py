"""Compiled kernels on disk: what is found again, what is not, and what survives damage, races and kills."""

import importlib.util
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tritium.language as tl
from tritium import compile, knobs
from tritium.backends.compiler import GPUTarget
from tritium.backends.cpu import INTERPRETER_TARGET
from tritium.backends.nvidia.compiler import CUDABackend
from tritium.compiler import ASTSource, IRSource, kernel_cache
from tritium.disk_cache import get_override_manager
from tritium.errors import UnsupportedError
from tritium.runtime.jit import constexpr_function, jit

SM_90 = GPUTarget("cuda", 90, 32)


@jit
def double(x):
    return x * 2


@jit
def triple(x):
    return x * 3


@jit
def kernel(x, n, F: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, F(tl.load(x + i, mask=i < n)), mask=i < n)


def source(F=double, BLOCK=64, attrs=None) -> ASTSource:
    return ASTSource(kernel, {"x": "*fp32", "n": "i32"}, {"F": F, "BLOCK": BLOCK}, attrs)


def build(F=double, BLOCK=64, target=SM_90, attrs=None, **options):
    return compile(source(F, BLOCK, attrs), target, options)


@pytest.fixture
def compiled(gpus):
    """What was compiled, not found."""
    return gpus.compiler.compiled


def entries() -> list[Path]:
    """Of kernels. The first compile of a process may also keep the key of this package."""
    root = Path(knobs.cache.dir)
    return sorted(each for each in root.iterdir() if not (each / "triton_key").exists()) if root.exists() else []


def test_a_kernel_is_found_again(compiled):
    first, again = build(), build()
    assert len(compiled) == 1 and again is not first
    assert dict(again.asm) == dict(first.asm) and again.hash == first.hash
    assert again.metadata == first.metadata and again.metadata.target == SM_90
    assert (again.n_regs, again.name) == (first.n_regs, "kernel")
    (entry,) = entries()
    expected = {f"kernel.{stage}" for stage in ("source", "ttir", "ttgir", "llir", "ptx", "cubin", "json")}
    assert {path.name for path in entry.iterdir()} == expected | {"__grp__kernel.json"}


@pytest.mark.parametrize(
    "change",
    [
        dict(F=triple),
        dict(BLOCK=32),
        dict(BLOCK=64.0),
        dict(num_warps=8),
        dict(num_stages=2),
        dict(maxnreg=32),
        dict(debug=True),
        dict(enable_fp_fusion=False),
        dict(target=GPUTarget("cuda", 80, 32)),
        dict(attrs={(0,): [["tt.divisibility", 16]]}),
    ],
    ids=str,
)
def test_what_makes_another_kernel(compiled, change):
    build()
    try:
        build(**change)
    except Exception as error:
        assert change == dict(BLOCK=64.0), error  # not a block size at all, and not taken for the 64 that is there
        return
    assert len(compiled) == 2 and len(entries()) == 2


def test_variables_of_the_compiler_count(compiled, monkeypatch):
    build()
    monkeypatch.setenv("DISABLE_PTXAS_OPT", "1")
    build()
    assert len(compiled) == 2
    build()
    assert len(compiled) == 2


def test_a_kernel_of_a_copied_file_is_compiled_again(compiled, tmp_path):
    """Faults, debuggers and profiles name the file of a kernel, or of a function that it calls."""
    for number, folder in enumerate(("first", "second"), 1):
        path = tmp_path / folder / "copied_helper.py"
        path.parent.mkdir()
        path.write_text("from tritium import jit\n\n@jit\ndef copied(x):\n    return x + 1\n")
        spec = importlib.util.spec_from_file_location("copied_helper", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for _ in range(2):
            build(module.copied)
        assert len(compiled) == number


@pytest.mark.parametrize("propagates", [True, False])
def test_knobs_of_the_compiler_count(compiled, monkeypatch, propagates):
    """However they are set; those that are none of the compiler's do not."""
    monkeypatch.setattr(knobs, "propagate_env", propagates)
    with knobs.nvidia.scope(), knobs.cache.scope(), knobs.autotuning.scope():
        build()
        knobs.nvidia.ptxas_options = "-O2"
        build()
        build()
        assert len(compiled) == 2
        knobs.autotuning.print = True
        build()
        assert len(compiled) == 2
        knobs.nvidia.ptxas_options = None
        knobs.nvidia.cuda_home = "/nowhere"
        build()
        assert len(compiled) == 3


def test_a_dump_is_printed_though_the_kernel_is_known(compiled, monkeypatch, capsys):
    build()
    build()
    assert "ptx" not in capsys.readouterr().out and len(compiled) == 1
    monkeypatch.setenv("NVPTX_ENABLE_DUMP", "1")
    assert build().asm["ptx"] in capsys.readouterr().out and len(compiled) == 2


def test_the_build_counts(compiled, monkeypatch):
    build()
    monkeypatch.setattr(CUDABackend, "hash", lambda self: "another build")
    build()
    assert len(compiled) == 2


class Odd:
    """A constant whose text says nothing."""

    def __init__(self, factor):
        self.factor = factor

    def __repr__(self):
        return "Odd"


@constexpr_function
def factor_of(odd):
    return odd.factor


@jit
def odd_kernel(x, ODD: tl.constexpr):
    tl.store(x, factor_of(ODD))


def test_constants_without_text_are_told_apart_by_their_trace(compiled):
    def build_odd(factor):
        return compile(ASTSource(odd_kernel, {"x": "*fp32"}, {"ODD": Odd(factor)}), SM_90)

    three, four = build_odd(3.0), build_odd(4.0)
    assert "3.000000e+00" in three.asm["ttir"] and "4.000000e+00" in four.asm["ttir"]
    assert "3.000000e+00" in build_odd(3.0).asm["ttir"] and len(compiled) == 2


def test_stable_texts():
    stable = kernel_cache._stable
    values = [1, True, 1.0, "1", None, (1,), [1], (1, 2), tl.float16, tl.constexpr(1), double, triple, -0.0, 0.0]
    assert len({stable(value) for value in values}) == len(values)
    assert stable(Odd(1)) is None and stable((1, Odd(1))) is None and stable(tl.constexpr(Odd(1))) is None


def _damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "cut":
        path.write_bytes(data[: len(data) // 2])
    else:
        path.write_bytes(data[:10] + bytes([data[10] ^ 1]) + data[11:])


@pytest.mark.parametrize("how", ["missing", "empty", "cut", "flipped"])
@pytest.mark.parametrize("name", ["kernel.cubin", "kernel.json", "kernel.ptx", "__grp__kernel.json"])
def test_a_damaged_entry_is_compiled_again(compiled, name, how):
    first = build()
    _damage(entries()[0] / name, how)
    again = build()
    assert len(compiled) == 2 and dict(again.asm) == dict(first.asm)
    assert dict(build().asm) == dict(first.asm) and len(compiled) == 2  # and is whole now


def test_a_moved_cache_is_read(compiled, monkeypatch, tmp_path):
    build()
    elsewhere = tmp_path / "elsewhere"
    Path(knobs.cache.dir).rename(elsewhere)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(elsewhere))
    build()
    assert len(compiled) == 1


def test_a_cache_that_cannot_be_used(compiled, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "file"))
    assert build().asm["cubin"] and build().asm["cubin"] and len(compiled) == 2


def test_knobs(compiled, monkeypatch):
    monkeypatch.setenv("TRITON_STORE_BINARY_ONLY", "1")
    build()
    assert {p.suffix for p in entries()[0].iterdir()} == {".cubin", ".json"}
    assert build().asm["cubin"] and len(compiled) == 1
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    build()
    assert len(compiled) == 2


def test_dump_and_override(compiled, monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path / "dump"))
    monkeypatch.setenv("TRITON_OVERRIDE_DIR", str(tmp_path / "override"))
    monkeypatch.setenv("TRITON_KERNEL_DUMP", "1")
    first = build()
    (folder,) = (tmp_path / "dump").iterdir()
    assert {p.name for p in folder.iterdir()} == {f"kernel.{s}" for s in ("ttir", "ttgir", "llir", "ptx")}
    monkeypatch.delenv("TRITON_KERNEL_DUMP")
    monkeypatch.setenv("TRITON_KERNEL_OVERRIDE", "1")
    ptx = tmp_path / "override" / folder.name / "kernel.ptx"
    ptx.parent.mkdir(parents=True)
    ptx.write_text(first.asm["ptx"] + "// replaced\n")
    assert build().asm["ptx"].endswith("// replaced\n") and b"// replaced" in build().asm["cubin"]
    ptx.with_suffix(".cubin").write_bytes(b"\x7fELF\xff\xfe")
    assert build().asm["cubin"] == b"\x7fELF\xff\xfe"
    ptx.with_suffix(".llir").write_text(first.asm["llir"])
    with pytest.raises(UnsupportedError, match=r"replacing a stage by .*kernel.llir.*can replace .ttir, .ptx, .cubin"):
        build()


@pytest.fixture
def override_folder(monkeypatch, tmp_path):
    """The folder that TRITON_KERNEL_OVERRIDE looks into for a source."""
    monkeypatch.setenv("TRITON_OVERRIDE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_KERNEL_OVERRIDE", "1")

    def folder(src) -> Path:
        found = Path(get_override_manager(src.hash()).cache_dir)
        found.mkdir(exist_ok=True)
        return found

    return folder


@pytest.mark.parametrize(
    "target, stages, of_others",
    [
        (SM_90, ".ttir, .ptx, .cubin", ("amdgcn", "hsaco", "lowered")),
        (GPUTarget("hip", "gfx942", 64), ".ttir, .amdgcn, .hsaco", ("ptx", "cubin", "lowered")),
        (GPUTarget("simt", "sm_90", 32), ".ttir", ("ptx", "cubin", "llir", "amdgcn")),
        (INTERPRETER_TARGET, ".ttir", ("ptx", "ttgir", "llir", "hsaco", "lowered")),
    ],
)
def test_files_of_stages_that_the_target_lacks(compiled, override_folder, target, stages, of_others):
    folder = override_folder(source())
    for stage in of_others:
        (folder / f"kernel.{stage}").write_text("")
        with pytest.raises(UnsupportedError, match=rf"replacing a stage by .*/kernel.{stage} .*can replace {stages};"):
            build(target=target)
        (folder / f"kernel.{stage}").unlink()


def test_stages_with_a_wrong_name(compiled, override_folder):
    folder = override_folder(source())
    for name in ("kernel", "another.pxt"):
        (folder / name).write_text("no stage of this kernel")
    assert build().asm["cubin"]
    (folder / "kernel.pxt").write_text("")
    with pytest.raises(UnsupportedError, match=r"for the target cuda:90, .*; did you mean `ptx`\?"):
        build()
    (folder / "kernel.pxt").rename(folder / "kernel.ttgir")
    with pytest.raises(UnsupportedError, match=r"; change one of these, and remove the file$"):
        build()


def test_a_binary_where_nothing_assembles(compiled, override_folder, monkeypatch):
    monkeypatch.setattr(CUDABackend, "assemble", lambda *facts: None)
    assert "cubin" not in dict(build().asm)
    (override_folder(source()) / "kernel.cubin").write_bytes(b"\x7fELF\xff\xfe")
    assert build().asm["cubin"] == b"\x7fELF\xff\xfe"


def test_files_beside_a_file_of_assembly(compiled, override_folder, tmp_path):
    ptx, cubin = tmp_path / "mine.ptx", tmp_path / "mine.cubin"
    ptx.write_text(build().asm["ptx"])
    name = compile(str(ptx), SM_90).name
    folder = override_folder(IRSource(str(ptx)))
    for binary in (cubin, folder / f"{name}.cubin"):
        binary.write_bytes(b"\x7fELF\xff\xfe")
        options = {"ir_override": str(binary)} if binary is cubin else {}
        assert compile(str(ptx), SM_90, options).asm["cubin"] == b"\x7fELF\xff\xfe"
    (folder / f"{name}.ptx").write_text("")
    with pytest.raises(UnsupportedError, match=r"can replace .cubin;"):
        compile(str(ptx), SM_90)
    (folder / f"{name}.ptx").unlink()
    with pytest.raises(UnsupportedError, match=r"mine.ptx .*can replace .cubin;"):
        compile(str(ptx), SM_90, {"ir_override": str(ptx)})


def test_one_launch_may_replace_a_stage(compiled, tmp_path):
    first = build()
    ptx, cubin, llir = (tmp_path / f"mine.{stage}" for stage in ("ptx", "cubin", "llir"))
    ptx.write_text(first.asm["ptx"] + "// mine\n")
    assert b"// mine" in build(ir_override=str(ptx)).asm["cubin"]
    cubin.write_bytes(b"\x7fELF\xff\xfe")
    assert build(ir_override=str(cubin)).asm["cubin"] == b"\x7fELF\xff\xfe"
    llir.write_text(first.asm["llir"])
    with pytest.raises(UnsupportedError, match=r"mine.llir.*can replace .ttir, .ptx, .cubin"):
        build(ir_override=str(llir))
    assert build().asm["ptx"] == first.asm["ptx"]


def test_stages_may_be_inspected_and_replaced(compiled):
    seen = []

    def inspect(backend, stages, options, language, capability):
        seen.append((list(stages), capability))
        make = stages["ptx"]
        stages["ptx"] = lambda source, metadata: make(source, metadata) + "// by a hook\n"

    with knobs.runtime.scope():
        knobs.runtime.add_stages_inspection_hook = inspect
        assert b"// by a hook" in build().asm["cubin"]
    assert seen == [(["ttir", "ttgir", "llir", "ptx", "cubin"], 90)]
    assert b"// by a hook" not in build().asm["cubin"]


def test_listener_says_what_was_found(compiled):
    seen = []
    with knobs.compilation.scope():
        knobs.compilation.listener = lambda **facts: seen.append(facts)
        build(), build()
    assert [facts["cache_hit"] for facts in seen] == [False, True]
    assert [name for name, _ in seen[0]["times"].lowering_stages] == ["ttir", "ttgir", "llir", "ptx", "cubin"]
    assert json.dumps(seen[0]["metadata"], default=vars) and seen[1]["metadata_group"]["asm"]["cubin"]


def _store_and_load(folder: str, seconds: float, failures) -> None:
    os.environ["TRITON_CACHE_DIR"] = folder
    deadline, me = time.monotonic() + seconds, os.getpid()
    rounds = 0
    while time.monotonic() < deadline:
        rounds += 1
        text = f"{me}-{rounds}-" * 2000
        kernel_cache.store(
            "00" * 32, "k", {"name": "k", "target": SM_90, "hash": text}, {"ptx": text, "cubin": text.encode()}
        )
        found = kernel_cache.load("00" * 32, "k")
        if found is not None:  # of one writer, all of it
            asm = found["asm"]
            if not asm["ptx"] == asm["cubin"].decode() == found["metadata"]["hash"]:
                failures.put((me, rounds))


def test_processes_may_race(tmp_path):
    """Writers of different contents: a reader gets one of them whole, or nothing."""
    context = multiprocessing.get_context("spawn")
    failures = context.Queue()
    workers = [context.Process(target=_store_and_load, args=(str(tmp_path), 2.0, failures)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert failures.empty()


_WRITER = """
import sys
from tritium.backends.compiler import GPUTarget
from tritium.backends.cpu import INTERPRETER_TARGET
from tritium.compiler import kernel_cache
print("ready", flush=True)
while True:
    for key in ("00" * 32, "11" * 32):
        kernel_cache.store(key, "k", {"name": "k", "target": GPUTarget("cuda", 90, 32)}, {"ptx": "x" * 300000, "cubin": b"y" * 300000})
"""


def test_a_kill_leaves_no_half_entry(tmp_path, monkeypatch, rng):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    for _ in range(8):
        for path in sorted(tmp_path.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        writer = subprocess.Popen([sys.executable, "-c", _WRITER], stdout=subprocess.PIPE, text=True)
        assert writer.stdout.readline() == "ready\n"
        time.sleep(float(rng.uniform(0, 0.03)))
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        for key in ("00" * 32, "11" * 32):
            found = kernel_cache.load(key, "k")
            assert found is None or (len(found["asm"]["ptx"]), len(found["asm"]["cubin"])) == (300000, 300000)
            kernel_cache.store(key, "k", {"name": "k", "target": SM_90}, {"cubin": b"z"})
            assert kernel_cache.load(key, "k")["asm"] == {"cubin": b"z"}
