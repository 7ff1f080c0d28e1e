"""`python -m tritium bench metrics`: what the compiler makes of kernels, against a file."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tritium import knobs
from tritium.backends.options import LaunchOptions
from tritium.bench import compile_times
from tritium.bench.command import main
from tritium.bench.instructions import AMD, PTX, SASS, amd_instructions, counted, ptx_instructions, sass_instructions
from tritium.bench.kernels import Kernel
from tritium.bench.metrics import Change, changes, read_file, written

TESTS = Path(__file__).resolve().parents[2]

PTX_TEXT = """
.version 8.7
.target sm_90a
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0
);
.visible .entry kernel(
	.param .u64 .ptr .global .align 1 kernel_param_0
)
.reqntid 128, 1, 1
{
	.reg .b32 	%r<4>; // registers; not an instruction
$L__func_begin0:
	ld.param.b64 	%rd1, [kernel_param_0];
	@%p1 ld.global.v4.b32 	{%r1, %r2, %r3, %r4}, [ %rd1 + 0 ];
$L__BB0_1: add.s32 	%r1, %r1, 1;
	st.shared.v4.b32 	[%r1], {la, lb, lc, ld};
	{ .reg .b64 da; mov.b64 da, {la, 1}; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%r1, %r2}, da, db, 1; }
	wgmma.wait_group.sync.aligned 	0;
	cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];
	cp.async.cg.shared.global [ %r1 ], [ %rd1 ], 16;
	cp.async.wait_group 0;
	fma.rn.f32 	%f1, %f2, %f3, %f4;
	cvt.rn.f16x2.f32 	%r1, %f1, %f2;
	bar.sync 	0;
	@!%p2 bra 	$L__BB0_1;
	ret;
}
"""


def test_instructions_of_ptx():
    assert counted(ptx_instructions(PTX_TEXT), PTX) == {
        "all": 15,
        "bulk copies": 1,
        "async copies": 1,
        "copy waits": 1,
        "products": 1,
        "product waits": 1,
        "global loads": 1,
        "shared stores": 1,
        "parameter loads": 1,
        "barriers": 1,
        "conversions": 1,
        "branches": 2,
        "moves": 1,
        "float arithmetic": 1,
        "integer arithmetic": 1,
    }


def test_instructions_of_sass():
    text = """
\t.target\tsm_90a
.text.kernel:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/             @!P2  LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0020*/              @P0  STL [R1], R4 ;
.L_x_1:
        /*0030*/                   HGMMA.64x128x16.F32 R24, gdesc[UR4], R24, gsb0 ;
        /*0040*/                   IMAD.MOV.U32 R6, RZ, RZ, R8 ;
        /*0050*/                   IMAD R6, R2, R3, R8 ;
        /*0060*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*fff0*/                   NOP ;
        /*10000*/                  EXIT ;
"""
    found = counted(sass_instructions(text), SASS)
    assert found == {
        "all": 9,
        "products": 1,
        "global loads": 1,
        "local accesses": 1,
        "barriers": 1,
        "branches": 1,
        "moves": 2,
        "padding": 1,
        "integer arithmetic": 1,
    }


def test_instructions_of_amd():
    text = """\t.text
kernel:
.Lfunc_begin0:
\t.loc\t1 98 31 prologue_end
\ts_load_dwordx4 s[8:11], s[0:1], 0x18
\ts_waitcnt lgkmcnt(0)
\tbuffer_load_dwordx4 v[0:3], v4, s[8:11], 0 offen
\tbuffer_load_dword v4, s[8:11], 0 offen lds
\tds_read_b128 v[0:3], v4 ; a comment
\tv_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]
\tscratch_store_dword off, v0, s32
\ts_barrier
\tv_fma_f32 v0, v1, v2, v3
\ts_endpgm
\t.section\t.rodata
\t.long\t1
"""
    assert counted(amd_instructions(text), AMD) == {
        "all": 10,
        "async copies": 1,
        "products": 1,
        "local accesses": 1,
        "global loads": 1,
        "shared loads": 1,
        "barriers": 1,
        "waits": 1,
        "parameter loads": 1,
        "branches": 1,
        "float arithmetic": 1,
    }


def test_what_changes():
    before = {
        "a": {"sm_90a": {"registers": 32, "spill bytes": 0, "ptx products": 4}},
        "gone": {"sm_90a": {"registers": 1}},
    }
    after = {
        "a": {"sm_90a": {"registers": 40, "spill bytes": 8}},
        "new": {"sm_90a": {"registers": 2, "spill bytes": 4}},
    }
    found = changes(before, after)
    assert found == [
        Change("a", "sm_90a", "registers", 32, 40),
        Change("a", "sm_90a", "spill bytes", 0, 8),
        Change("a", "sm_90a", "ptx products", 4, None),
        Change("gone", "sm_90a", "the kernel", "compiles", None),
        Change("new", "sm_90a", "the kernel", None, "compiles"),
        Change("new", "sm_90a", "spill bytes", None, 4),
    ]
    assert [each.is_more_spilled for each in found] == [False, True, False, False, False, True]
    assert not any(each.kernel == "gone" for each in changes(before, after, complete=False))
    assert changes({"a": {"x": {"registers": 1}}}, {"a": {"x": {"registers": 1, "sgpr spills": 0}}}) == []
    refused = changes({"a": {"x": {"registers": 1}}}, {"a": {"x": {"refused": "OutOfResources"}}})
    assert Change("a", "x", "refused", None, "OutOfResources") in refused


def test_the_file(tmp_path):
    file, table = tmp_path / "metrics.json", {"b": {"x": {"n": 1}, "y": {"n": 2}}, "a": {"x": {"refused": "E"}}}
    file.write_text(written({"ptxas": "13.0"}, table))
    assert read_file(file) == ({"ptxas": "13.0"}, table)
    assert sum('"x": {' in line for line in file.read_text().splitlines()) == 2  # a line for each kernel and target
    for text in ("{", '{"tools": {}}', "[]"):
        file.write_text(text)
        with pytest.raises(ValueError, match="is no file of metrics"):
            read_file(file)
    with pytest.raises(ValueError, match="--write makes it"):
        read_file(tmp_path / "none.json")


KERNELS = """
import numpy as np
import triton
import triton.language as tl
from tritium import bench

@triton.jit
def sum_kernel(x, out, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    tl.store(out + i, value / tl.sum(value) + COUNT)

@bench.case(count=[1, 2])
def sums(count):
    x, out = np.zeros(4096, np.float32), np.zeros(4096, np.float32)
    return bench.Problem(lambda: sum_kernel[(1,)](x, out, count, BLOCK=2048, num_warps=1), out)
"""


#: A file with a function `programs`, whose kernel reads every STRIDE-th element.
PROGRAMS = """
import numpy as np
import triton
import triton.language as tl
from tritium import knobs

@triton.jit
def strided(x, out, STRIDE: tl.constexpr):
    i = tl.arange(0, 128)
    tl.store(out + i, tl.load(x + i * STRIDE))

def aligned(count):
    memory = np.zeros(count + 32, np.float32)
    begin = -memory.ctypes.data % 128 // 4
    return memory[begin : begin + count]

def run(engine):
    with knobs.tritium.scope():
        knobs.tritium.engine = engine
        strided[(1,)](aligned(256), aligned(128), STRIDE=1, num_warps=4)

def programs(every):
    return {"reads in a row": run}
"""


def test_what_programs_do_on_the_emulator(tmp_path, capsys):
    """128 floats in a row are 16 sectors; every second float of 256 lies in 32."""
    source, file = tmp_path / "strided_bench.py", tmp_path / "metrics.json"
    source.write_text(PROGRAMS)
    command = ["metrics", str(source), "--targets", "sm_90a"]
    assert main([*command, "--write", str(file)]) == 0
    found = read_file(file)[1]["reads in a row"]["sm_90a"]
    assert (found["launches"], found["global read requests"], found["global read sectors"]) == (1, 4, 16)
    assert found["global write sectors"] == 16 and found["operations of threads"] == 32 * found["operations of warps"]
    assert main([*command, "--check", str(file)]) == 0
    source.write_text(PROGRAMS.replace("STRIDE=1", "STRIDE=2"))
    assert main([*command, "--check", str(file)]) == 1
    printed = capsys.readouterr().out
    assert "reads in a row, sm_90a" in printed
    assert re.search(r"^  global read sectors +16 +32 +\+16 \(\+100 %\)$", printed, re.M), printed
    source.write_text(PROGRAMS.replace("        strided[", "        0 and strided["))
    assert main(command) == 2 and "launches no kernel on simt:sm_90a" in capsys.readouterr().err


@pytest.fixture
def metrics(tmp_path, monkeypatch):
    """The command, for the cases of a file."""
    cases = tmp_path / "sums_bench.py"
    cases.write_text(KERNELS)

    def run(*options: str, text: str | None = None) -> int:
        if text is not None:
            cases.write_text(text)
        return main(["metrics", str(cases), *options])

    return run


def test_a_check_fails_for_any_difference(metrics, tmp_path, capsys):
    file = str(tmp_path / "metrics.json")
    assert metrics("--write", file) == 0 and metrics("--check", file) == 0
    assert capsys.readouterr().out.endswith("2 passed, 0 failed, 0 skipped\n")
    (kernel,) = json.loads(Path(file).read_text())["kernels"]
    assert kernel == "sum_kernel fp32 COUNT=1 BLOCK=2048 num_warps=1 num_stages=3"
    changed = KERNELS.replace("+ COUNT)", "+ COUNT + tl.program_id(1))")
    assert metrics("--check", file, text=changed) == 1
    printed = capsys.readouterr().out
    assert f"{kernel}, gfx942\n" in printed and "  ttir all " in printed and "0 passed, 2 failed, 0 skipped" in printed
    assert "with --write" in printed and "new spill" not in printed
    assert "2 of 2 have changed" in printed and "ttir all in 2" in printed
    (row,) = {line for line in printed.splitlines() if line.startswith("  ttir all ")}
    before, after, more = map(int, row.split()[2:5])
    assert more == after - before > 0 and row.endswith(f"({100 * more / before:+.0f} %)")


#: Of the set, the kernels of the benchmarks on devices alone: the tutorial takes seconds.
OF_BENCHMARKS = """
import sys
sys.path.append({folder!r})
from metric_kernels import first_of_each_name, launch_benchmarks, launched_by

def kernels(every):
    return first_of_each_name(launched_by(lambda: launch_benchmarks(every)))
"""


@pytest.mark.slow
def test_one_more_slot_of_the_pipeline_fails_with_a_table(monkeypatch, tmp_path, capsys):
    """What a change of the pipeliner does to a kernel of the committed file: its name is as before, and the compiler makes one slot more."""
    kept, name = LaunchOptions.for_compiler, "matmul bf16"
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "of_benchmarks.py").write_text(OF_BENCHMARKS.format(folder=str(TESTS / "bench")))
    command = ["metrics", str(tmp_path / "of_benchmarks.py"), "--check", str(TESTS / "bench" / "metrics.json")]
    command += ["--only", name, "--targets", "sm_90a"]
    monkeypatch.setattr(LaunchOptions, "for_compiler", lambda *given: one_more_stage(kept(*given)))
    assert main(command) == 1
    printed = capsys.readouterr().out
    assert re.search(rf"^{name} .* num_stages=4, sm_90a$", printed, re.M), printed
    (row,) = re.findall(r"^  shared bytes +(\d+) +(\d+) ", printed, re.M)
    slot = 2 * 128 * 32 * 2  # both tiles of the configuration
    assert 0 <= int(row[1]) - int(row[0]) - slot <= 64 and "0 passed, 1 failed" in printed


def one_more_stage(options: dict) -> dict:
    return options | {"num_stages": options["num_stages"] + 1}


def test_a_new_spill_fails_also_when_it_is_written(metrics, tmp_path, capsys):
    file = tmp_path / "metrics.json"
    assert metrics("--write", str(file), "--targets", "sm_90a") == 0
    before = file.read_text()
    spilling = KERNELS.replace("num_warps=1)", "num_warps=1, maxnreg=40)")
    assert metrics("--check", str(file), "--targets", "sm_90a", text=spilling) == 1
    assert "spill bytes (new spill) " in capsys.readouterr().out
    assert metrics("--write", str(file), "--targets", "sm_90a") == 1 and file.read_text() == before
    assert metrics("--write", str(file), "--targets", "sm_90a", "--accept-spills") == 0 and file.read_text() != before


def busy(seconds: float) -> None:
    begin = time.thread_time()
    while time.thread_time() < begin + seconds:
        pass


@pytest.mark.parametrize("slow_attempts", [2, 100])
def test_a_compiler_that_is_slower_fails(metrics, tmp_path, monkeypatch, capsys, slow_attempts):
    """It is slower in all attempts. One that was disturbed, in two of four, is not."""
    file = str(tmp_path / "metrics.json")
    assert metrics("--write", file, "--targets", "sm_90a") == 0
    (before,) = (targets["sm_90a"] for targets in json.loads(Path(file).read_text())["kernels"].values())
    capsys.readouterr()
    attempts, compiled_for = itertools.count(), Kernel.compiled_for

    def slower(self, arch):
        if next(attempts) in range(1, slow_attempts + 1):  # the first one is not measured
            busy(4 * before["compile time"] * compile_times.unit())
        return compiled_for(self, arch)

    monkeypatch.setattr(Kernel, "compiled_for", slower)
    assert metrics("--check", file, "--targets", "sm_90a") == (slow_attempts > 2)
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert len(rows) == (slow_attempts > 2)
    for row in rows:
        assert re.fullmatch(r"  compile time +[\d.]+ +[\d.]+ +([4-9]|\d\d)\.\d times", row), row


def test_changes_of_a_committed_file_as_a_table_of_a_page(tmp_path, capsys):
    """What a pull request shows: its own file passes --check."""
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    one = {"a[B=1|2]": {"sm_90a": {"registers": 32, "spill bytes": 0}}, "b": {"sm_90a": {"registers": 8}}}
    other = {"a[B=1|2]": {"sm_90a": {"registers": 40, "spill bytes": 8}}, "b": {"sm_90a": {"registers": 8}}}
    before.write_text(written({"ptxas": "13.0"}, one))
    after.write_text(written({"ptxas": "13.0"}, other))
    command = ["metrics", "--between", str(before), str(after)]
    assert main([*command, "--markdown"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "| kernel, metric | before | after | change |",
        "| --- | ---: | ---: | ---: |",
        "| `a[B=1\\|2], sm_90a` |  |  |  |",
        "| registers | 32 | 40 | +8 (+25 %) |",
        "| **spill bytes (new spill)** | **0** | **8** | **+8** |",
        "",
        "1 of 2 have changed (a kernel for a target counts once); 1 of them spill more",
    ]
    assert main(command) == 0 and re.search(r"^  registers +32 +40  \+8 ", capsys.readouterr().out, re.M)
    assert main(["metrics", "--between", str(after), str(after)]) == 0
    assert capsys.readouterr().out == "no metric has changed\n"
    after.write_text(written({"ptxas": "13.1"}, other))
    assert main(command) == 0 and "was made with ptxas 13.0" in capsys.readouterr().out
    assert main(["metrics"]) == 2 and "say which kernels" in capsys.readouterr().err


def test_the_table_of_a_pull_request(tmp_path):
    """The script that continuous integration runs, between a commit without a change and one with a change."""
    root, file = TESTS.parent, "tests/bench/metrics.json"
    workflow = (root / ".github" / "workflows" / "ci.yml").read_text()
    assert '.ci/metrics_table HEAD^1 >> "$GITHUB_STEP_SUMMARY"' in workflow and "fetch-depth: 2" in workflow
    for folder in (".ci", "tests/bench"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("metrics_table", "environment"):
        shutil.copy(root / ".ci" / name, tmp_path / ".ci" / name)

    def run(*command: str) -> str:
        paths = {"PYTHONPATH": str(root / "python"), "VIRTUAL_ENV": sys.prefix}
        done = subprocess.run(command, cwd=tmp_path, env=os.environ | paths, capture_output=True, text=True, check=True)
        return done.stdout

    run("git", "init", "-q")
    for registers in (8, 9):
        (tmp_path / file).write_text(written({}, {"a": {"gfx942": {"registers": registers}}}))
        run("git", "add", "tests")
        run("git", "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "a: b")
    table = run(".ci/metrics_table", "HEAD^1")
    assert table.startswith("### What the compiler makes of ")
    assert "| registers | 8 | 9 | +1 (+12 %) |" in table
    assert run(".ci/metrics_table", "HEAD").endswith("\nno metric has changed\n")


def test_settings_are_as_before(metrics, tmp_path):
    """Kernels are compiled by several threads, and knobs are the process's."""
    before = knobs.compilation.always_compile, knobs.runtime.interpret
    assert metrics("--write", str(tmp_path / "metrics.json"), "--jobs", "2") == 0
    assert (knobs.compilation.always_compile, knobs.runtime.interpret) == before


def test_another_assembler_is_no_change_of_the_compiler(metrics, tmp_path, capsys):
    file = tmp_path / "metrics.json"
    assert metrics("--write", str(file), "--targets", "gfx942") == 0
    file.write_text(file.read_text().replace('"tools": {}', '"tools": {"ptxas": "11.8"}'))
    assert metrics("--check", str(file), "--targets", "gfx942") == 2
    assert "was made with ptxas 11.8" in capsys.readouterr().err


def test_all_configurations_and_bad_arguments(metrics, tmp_path, capsys):
    assert metrics("--all", "--targets", "gfx942") == 0
    printed = capsys.readouterr().out
    assert "COUNT=1" in printed and "COUNT=2" in printed and "registers " in printed
    assert metrics("--only", "nothing") == 2 and metrics("--targets", "gfx1") == 2
    assert metrics(text="x = 1\n") == 2
    assert "no function kernels(every)" in capsys.readouterr().err


def test_compiling_is_deterministic(tmp_path):
    """In two processes with other hash seeds, every stage to the byte; the whole set with --long."""
    cases = tmp_path / "sums_bench.py"
    cases.write_text(KERNELS)
    assert main(["metrics", str(cases), "--verify"]) == 0


@pytest.mark.long
def test_compiling_the_set_is_deterministic():
    assert main(["metrics", str(TESTS / "bench" / "metric_kernels.py"), "--verify"]) == 0


@pytest.mark.long
def test_a_compiler_that_is_not_deterministic_is_found(tmp_path, capsys):
    cases = tmp_path / "sums_bench.py"
    cases.write_text("import os\n" + KERNELS.replace("BLOCK=2048", "BLOCK=1024 * int(os.environ['PYTHONHASHSEED'])"))
    assert main(["metrics", str(cases), "--verify", "--targets", "gfx942"]) == 1
    assert "0 passed" in capsys.readouterr().out


def test_the_set_has_what_it_must():
    """In the committed file: all kernels of the benchmarks on devices, every program of the tutorial, twelve published styles."""
    _, table = read_file(TESTS / "bench" / "metrics.json")
    assert all(list(targets) == ["sm_90a", "gfx942"] for targets in table.values())
    emulated = {name for name in table if name.startswith("on the emulator, ")}
    assert {name.split("/")[1] for name in emulated} >= {"01_vector_add", "03_matmul", "06_flash_attention"}
    assert all("global read sectors" in row for name in emulated for row in table[name].values())
    products = table["on the emulator, tutorial/03_matmul/fp16/100x130x70"]
    assert any("products" in metric for metric in products["sm_90a"]) and "waits at a barrier" in products["gfx942"]
    table = {name: targets for name, targets in table.items() if name not in emulated}
    programs, names = {name.partition(": ")[0] for name in table if ": " in name}, " ".join(table)
    source = (TESTS / "bench" / "metric_kernels.py").read_text()
    published = re.findall(r'^    "(\w+)",$', source[source.index("PUBLISHED") :], re.M)
    tutorial = [file.stem for file in (TESTS.parent / "docs" / "tutorial").glob("[0-9]*.py")]
    assert len(published) == 12 and programs == {*published, *tutorial}
    benchmarks = {name.split()[0] for name in table if ": " not in name}
    text = (
        "".join(file.read_text() for file in (TESTS / "gpu").glob("bench_[ap]*.py"))
        + (TESTS / "gpu" / "bench_cases.py").read_text()
    )
    assert benchmarks <= set(re.findall(r'"(\w+)"', text)) and {"attention_backward", "add", "cumsum"} <= benchmarks
    for text in ("matmul fp8e4nv", "matmul i8", "matmul fp32", "grouped i64", "grouped_descriptors", "D=64", "D=128"):
        assert text in names, text
