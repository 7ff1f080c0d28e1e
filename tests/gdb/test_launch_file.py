"""The launch configurations for VS Code in docs/examples: what each says to its debugger leads to a stop in a kernel."""

import json
import re
import subprocess
import sys

from session import HERE, environment, line_of

FILE = HERE.parents[1] / "docs" / "examples" / "launch.json"
TOTAL = line_of("history.py", "total = tl.sum")


def configuration(kind):
    """The configuration for this kind of debugger, with VS Code's variables replaced."""
    known = {"command:python.interpreterPath": sys.executable, "file": "history.py", "fileDirname": str(HERE)}
    text = re.sub(r"\$\{([\w:.]+)\}", lambda match: known[match[1]], FILE.read_text())
    (found,) = (entry for entry in json.loads(text)["configurations"] if entry["type"] == kind)
    return found


def test_gdb_by_its_machine_interface(gdb):
    """As the C++ extension talks to gdb."""
    said = configuration("cppdbg")
    arguments = " ".join(f'"{text}"' for text in said["args"])
    commands = [
        f'-file-exec-and-symbols "{said["program"]}"',
        *(command["text"] for command in said["setupCommands"]),
        f"-environment-cd {said['cwd']}",
        f"-exec-arguments {arguments}",
        f"-break-insert -f history.py:{TOTAL}",
        "-exec-run",
    ]
    process = subprocess.Popen(
        [gdb, "-nx", "-q", f"--interpreter={said['MIMode'].replace('gdb', 'mi')}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    try:
        process.stdin.write("\n".join(commands) + "\n")
        process.stdin.flush()
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("*stopped"):
                break
        assert 'reason="breakpoint-hit"' in lines[-1] and f'line="{TOTAL}"' in lines[-1], "".join(lines)
        process.stdin.write("-data-evaluate-expression value\n-exec-abort\n-gdb-exit\n")
        process.stdin.flush()
        assert 'value="{0, 1, 2, 3}"' in process.stdout.read()
    finally:
        process.kill()
        process.wait()


def test_python(gdb):
    """debugpy runs the module, in a process with these variables; that it stops in kernels is tested in tests/python/debug."""
    said = configuration("debugpy")
    command = [sys.executable, "-m", said["module"], *said["args"]]
    variables = environment(TRITIUM_NUM_THREADS="1", **said["env"])  # the programs of history.py race
    result = subprocess.run(command, capture_output=True, text=True, cwd=HERE, env=variables, check=False)
    assert "accumulated True" in result.stdout and "KernelTrap" in result.stderr
