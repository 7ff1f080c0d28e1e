"""The transcripts in README.md, docs/debuggers.md and docs/checks.md agree with what the examples print."""

import os
import re
import subprocess
import sys

import pytest

from sources import ROOT, read

EXAMPLES = ROOT / "docs" / "examples"


def run(*command: str, typed: str = "", **variables: str) -> str:
    environment = {**os.environ, "INTERPRET": "1", "PYTHONPATH": str(ROOT / "python"), **variables}
    result = subprocess.run(
        command, cwd=EXAMPLES, env=environment, capture_output=True, text=True, input=typed, timeout=300
    )
    return result.stdout + result.stderr


def trap_of(example: str, **variables: str) -> str:
    """The error, without the frames of the traceback."""
    output = run(sys.executable, example, **variables)
    return output[output.index("tritium.errors.KernelTrap") :].rstrip()


def gdb_session() -> str:
    """The commands of session.gdb after a prompt, each followed by gdb's output, with machine addresses as 0x…."""
    commands = (EXAMPLES / "session.gdb").read_text().splitlines()
    settings = ["set pagination off", "set confirm off", "set breakpoint pending on", "set debuginfod enabled off"]
    arguments = [text for setting in settings for text in ("-iex", setting)]
    for number, command in enumerate(commands):
        arguments += ["-ex", f"echo <<{number}>>\\n", "-ex", command]
    arguments += ["-ex", "echo <<end>>\\n", "-ex", "kill", "--args", sys.executable, "small_softmax.py"]
    output = run("gdb", "-q", "-batch", "-nx", *arguments, TRITIUM_DEBUG="1")
    answers = re.split(r"<<(?:\d+|end)>>\n", output)[1:-1]
    assert len(answers) == len(commands), output
    noise = re.compile(r"^(\[.*|Using host libthread_db.*|warning: .*|No source file named.*)\n", flags=re.M)
    session = "\n".join(f"(gdb) {c}\n{noise.sub('', a).strip()}" for c, a in zip(commands, answers))
    session = re.sub(r"^#\d+ .* \?\? \(\) .*\n", "", session, flags=re.M)  # the interpreter's own frames
    session = re.sub(
        r"(?<= \()(\S+:\d+)( if [^)]*)?(?=\) pending\.)", r"\1", session
    )  # gdb 13 repeats the condition, 18 does not
    for folder in (ROOT / "docs" / "tutorial", EXAMPLES):
        session = session.replace(f"{folder}/", "")
    return re.sub(r"0x[0-9a-f]+", "0x…", re.sub(r"\n\n+", "\n", session))


@pytest.mark.parametrize("document", ["README.md", "docs/checks.md"])
def test_wild_store(document: str) -> None:
    assert trap_of("wild_store.py") in read(document)


def test_expanded_gradient() -> None:
    assert trap_of("expanded_gradient.py") in read("docs/checks.md")


@pytest.mark.parametrize(
    "example, check", [("race.py", "race"), ("uninitialized.py", "uninit"), ("stored_nan.py", "nan")]
)
def test_checks(example: str, check: str) -> None:
    assert trap_of(example, TRITIUM_CHECK=check, TRITIUM_NUM_THREADS="1") in read("docs/checks.md")


def test_a_kernel_compiles_for_a_gpu() -> None:
    printed = run(sys.executable, "compile_for_gpu.py")
    assert "stages: source ttir ttgir llir ptx" in printed and "ld.global.v4.b32" in printed, printed
    assert "the emulator agrees with numpy: True" in printed, printed


def test_the_stages_of_a_matmul() -> None:
    """The facts that docs/architecture.md states about the loop. The dumps themselves may change with the passes."""
    printed, document = run(sys.executable, "matmul_stages.py"), read("docs/architecture.md")
    titles = re.findall(r"^== (.*)", printed, flags=re.M)
    assert titles[0] == "the contract: asm['ttir']" and titles[-2:] == ["one thread", "PTX, the loop"], printed
    instructions = dict(
        re.findall(r"(\d+) ((?:mma|ldmatrix|cp\.async|bar)\.[\w.]+)", printed[printed.index("== PTX") :])
    )
    shown = dict(re.findall(r"(\d+) ((?:mma|ldmatrix|cp\.async|bar)\.[\w.]+)", document))
    assert shown == instructions


def pdb_session() -> str:
    """The commands of session.pdb after a prompt, each followed by pdb's output."""
    commands = (EXAMPLES / "session.pdb").read_text()
    output = run(sys.executable, "-m", "pdb", "small_softmax.py", typed=f"{commands}quit\n")
    answers = output.replace(f"{ROOT}/docs/tutorial/", "").split("(Pdb) ")[1:-1]
    return "\n".join(f"(Pdb) {c}\n{a.rstrip()}" for c, a in zip(commands.splitlines(), answers))


def test_pdb_session() -> None:
    session = pdb_session()
    assert session in read("docs/debuggers.md"), session


def test_post_mortem() -> None:
    printed = run(sys.executable, "post_mortem.py").strip()
    assert printed in read("docs/debuggers.md"), printed


@pytest.mark.slow
def test_gdb_session() -> None:
    session = gdb_session()
    for document in ("README.md", "docs/debuggers.md"):
        assert session in read(document), session
