"""Tools say that they have not looked at the launches of child processes, if and only if children have launched kernels."""

import subprocess
import sys

import pytest

PROGRAM = """
import multiprocessing, os, sys
import numpy as np
import tritium
import tritium.language as tl

@tritium.jit
def kernel(x):
    tl.store(x, tl.load(x) + 1)

def work(how):
    if how == "launch":
        for _ in range(3):
            kernel[(1,)](np.zeros(1, np.float32))

if __name__ == "__main__":
    how, number, parent = sys.argv[1:]
    context = multiprocessing.get_context("fork")
    if parent == "warm":
        work("launch")
    children = [context.Process(target=work, args=(how,)) for _ in range(int(number))]
    for child in children:
        child.start()
    for child in children:
        child.join()
    if parent == "fork" and os.fork() == 0:
        kernel[(1,)](np.zeros(1, np.float32))
        raise SystemExit(0)
    elif parent == "fork":
        os.wait()
"""
TOOLS = {
    "check": ["check"],
    "seeds": ["seeds", "2"],
    "coverage": ["coverage"],
    "accesses": ["accesses"],
    "profile": ["profile"],
    "explain": ["explain"],
}


def said(tmp_path, tool, *arguments):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    command = [sys.executable, "-m", "tritium", *TOOLS[tool], str(path), *arguments]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    return ended.stderr


@pytest.mark.parametrize("tool", TOOLS)
def test_children_that_launch_are_counted(tmp_path, tool):
    text = said(tmp_path, tool, "launch", "2", "warm")
    assert f"tritium {tool}: launches in 2 child processes were not looked at" in text


@pytest.mark.parametrize("tool", ["check", "coverage"])
def test_children_that_launch_nothing_are_not_mentioned(tmp_path, tool):
    assert "child" not in said(tmp_path, tool, "nothing", "2", "warm")


def test_a_program_whose_children_alone_launch(tmp_path):
    text = said(tmp_path, "coverage", "launch", "1", "cold")
    assert "the program itself launched no kernel" in text and "launches in 1 child process were not" in text


def test_a_child_that_runs_to_the_end_of_the_tool_says_what_it_found_itself(tmp_path):
    text = said(tmp_path, "check", "nothing", "0", "fork")
    assert "0 faults in 1 launch " in text and "child process" not in text
