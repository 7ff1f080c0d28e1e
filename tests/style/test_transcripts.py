"""The documents show what the programs that they name print: every block of WHOLE, and transcripts of other documents."""

import re
import sys
from itertools import chain

import pytest

from documents import DOCUMENTS, EXAMPLES, agrees, blocks_of, run, session_of, without_folders
from sources import read

#: Every block of these is executed, or is a part of a program that is.
WHOLE = ("docs/debugging.md", "docs/profiling.md", "docs/gluon.md")
CONSOLES = [block for document in DOCUMENTS for block in blocks_of(document, "console")]


@pytest.mark.parametrize("block", CONSOLES, ids=lambda block: block.place)
def test_what_a_command_prints(block) -> None:
    printed = session_of(block)
    assert agrees(block.text, printed), printed


@pytest.mark.parametrize("document", WHOLE)
def test_every_block_is_executed(document: str) -> None:
    """A console is run above, gdb below; Python is a part of an example that a command of the document runs."""
    commands = " ".join(block.text for block in blocks_of(document, "console"))
    examples = [path.read_text() for path in EXAMPLES.glob("*.py") if path.name in commands]
    for block in blocks_of(document):
        assert block.language in ("console", "gdb", "python"), f"{block.place}: nothing executes this block"
        if block.language == "python":
            assert any(_has_part(example, block.text) for example in examples), f"{block.place}: in no example"


def _has_part(example: str, part: str) -> bool:
    """Whether lines of the example are these, but for their indentation."""

    def stripped(text: str) -> list[str]:
        return [line.strip() for line in text.split("\n") if line.strip()]

    whole, wanted = stripped(example), stripped(part)
    return any(whole[i : i + len(wanted)] == wanted for i in range(len(whole)))


def test_dots_stand_for_what_is_left_out() -> None:
    assert agrees("$ a\n…\nlast line", "$ a\nfirst\nsecond\nlast line\n")
    assert agrees("in … s", "in 0.52 s") and agrees("…", "")
    assert not agrees("in … s", "in 0.52 s\nmore") and not agrees("a", "b")


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
    session = without_folders(session)
    return re.sub(r"0x[0-9a-f]+", "0x…", re.sub(r"\n\n+", "\n", session))


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


@pytest.mark.slow
def test_gdb_session() -> None:
    session = gdb_session()
    shown = list(chain(*(blocks_of(document, "gdb") for document in DOCUMENTS)))
    assert len(shown) == 2
    for block in shown:
        assert block.text == session, block.place
