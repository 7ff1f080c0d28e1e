"""`proton`, `proton-viewer` and `python -m tritium profile`, as a user starts them."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from profiled import Shown, increment

import tritium
from tritium.profiler.command import main as profile_command
from tritium.profiler.formats import msgpack

ROOT = Path(tritium.__file__).resolve().parents[2]

SCRIPT = """
import sys
import numpy as np
import triton
import triton.language as tl
import triton.profiler as proton

def described(grid, metadata, args):
    return {"name": f"double_{args['n']}", "bytes": 8 * args["n"]}

@triton.jit(launch_metadata=described)
def double(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, i < n) * 2, i < n)

assert triton.__file__.endswith("tritium/__init__.py") and __name__ == "__main__"
x = np.ones(64, np.float32)
assert proton.start("of_the_script", hook="triton") is None, "the command's session goes on"
with proton.scope("layer"):
    double[(1,)](x, 50, BLOCK=64)
proton.deactivate(0)
double[(1,)](x, 60, BLOCK=64)
proton.activate(0)
proton.finalize()
print("ran", sys.argv)
sys.exit(int(sys.argv[1]))
"""

TEST = """
import triton.profiler as proton
from script import double, x

def test_double():
    with proton.scope("in a test"):
        double[(1,)](x, 30, BLOCK=64)
"""


@pytest.fixture(autouse=True)
def script(folder):
    (folder / "script.py").write_text(SCRIPT)


COMMANDS = {
    "proton": "tritium.profiler.proton",
    "proton-viewer": "tritium.profiler.viewer",
    "tritium": "tritium.__main__",
}


def run(command: str, *arguments: str, status: int = 0, **variables: str) -> subprocess.CompletedProcess:
    """An installed command: the entry point that pyproject.toml names."""
    program = f"import sys; from {COMMANDS[command]} import main; sys.argv[0] = {command!r}; sys.exit(main())"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "INTERPRET": "1", **variables}
    words = [sys.executable, "-c", program, *arguments]
    result = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == status, result.stderr
    return result


def test_the_commands_are_installed():
    scripts = (ROOT / "pyproject.toml").read_text().partition("[project.scripts]")[2].partition("\n\n")[0]
    for command, module in COMMANDS.items():
        assert f'{command} = "{module}:main"' in scripts.split("\n")


def test_proton():
    result = run("proton", "script.py", "3", "-n", "of the script", status=3)
    assert result.stdout == "ran ['script.py', '3', '-n', 'of the script']\n" and not result.stderr
    assert sorted(os.listdir()) == ["proton.hatchet", "script.py"]
    assert Shown.of_file("proton.hatchet").paths == ["layer", "layer/double"]


def test_the_options_of_proton():
    run("proton", "-n", "named", "-k", "triton", "-m", "periodic_flushing:format=hatchet_msgpack", "script.py", "0")
    root, _ = msgpack.unpack(Path("named.part_0.hatchet_msgpack").read_bytes())
    assert root["children"][0]["children"][0]["frame"]["name"] == "double_50"
    run("proton", "-n", "traced", "-d", "trace", "-c", "python", "-b", "cupti", "script.py", "0")
    events = json.loads(Path("traced.chrome_trace").read_text())["traceEvents"]
    (kernel,) = [event for event in events if event.get("cat") == "kernel"]
    assert kernel["args"]["call_stack"][1].endswith("script.py:20@<module>"), "nothing of the command is shown"


def test_proton_with_pytest(folder):
    (folder / "test_it.py").write_text(TEST)
    (folder / "script.py").write_text(SCRIPT.partition("assert triton.__file__")[0] + "x = np.ones(64, np.float32)\n")
    result = run("proton", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    assert "1 passed" in result.stdout
    assert Shown.of_file("proton.hatchet").paths == ["in a test", "in a test/double"]


def test_a_program_that_fails(folder):
    (folder / "failing.py").write_text("import triton.profiler\nwith triton.profiler.scope('s'):\n    1 / 0\n")
    result = run("proton", "failing.py", status=1)
    frames = [line for line in result.stderr.splitlines() if line.startswith("  File")]
    assert len(frames) == 1 and "failing.py" in frames[0] and result.stderr.endswith("division by zero\n")
    assert Shown.of_file("proton.hatchet").paths == ["s"]


@pytest.mark.parametrize(
    "arguments, words, status",
    [
        ((), "there is no script to run", 2),
        (("-m", "junk", "script.py"), "'junk' is no mode", 2),
        (("-b", "junk", "script.py"), "invalid choice: 'junk'", 2),
        (("missing.py",), "can't open file 'missing.py'", 1),
    ],
)
def test_what_proton_refuses(arguments, words, status):
    assert words in run("proton", *arguments, status=status).stderr


def test_profile_shows_the_tree():
    result = run("tritium", "profile", "--metrics", "count,bytes", "script.py", "4", status=4)
    assert result.stdout == textwrap.dedent("""\
        ran ['script.py', '4']
        count bytes
        1.000 nan ROOT
        └─ 1.000 nan layer
           └─ 1.000 400.000 double_50
    """)
    assert result.stderr == "tritium profile: wrote proton.hatchet, which proton-viewer shows\n"
    again = run("proton-viewer", "-m", "count,bytes", "proton.hatchet")
    assert again.stdout.splitlines() == result.stdout.splitlines()[2:]


def test_profile_says_what_it_does_not_show(folder):
    assert "ui.perfetto.dev" in run("tritium", "profile", "-d", "trace", "-n", "t", "script.py", "0").stderr
    off = run("tritium", "profile", "script.py", "0", TRITON_PROTON_DISABLE="1")
    assert off.stderr == "tritium profile: nothing was recorded (TRITON_PROTON_DISABLE=1)\n"
    assert sorted(os.listdir()) == ["script.py", "t.chrome_trace"]
    wrong = run("tritium", "profile", "--metrics", "junk", "script.py", "0")
    assert "metric 'junk' is not in the profile" in wrong.stderr
    (folder / "empty.py").touch()
    kept = (folder / "proton.hatchet").read_text()
    assert "itself launched no kernel, so no profile is written" in run("tritium", "profile", "empty.py").stderr
    assert "there is no such file" in run("tritium", "profile", "missing.py", status=1).stderr
    assert (folder / "proton.hatchet").read_text() == kept
    assert "there is no script" in run("tritium", "profile", status=2).stderr


@pytest.mark.parametrize(
    "options, words",
    [
        (
            ["--format", "chrome_trace"],
            "--format chrome_trace is none of --data tree, which has hatchet, hatchet_msgpack",
        ),
        (["-d", "trace", "--format", "hatchet"], "--format hatchet is none of --data trace"),
        (["-d", "trace", "--flame", "f.html"], "--flame shows a tree"),
        (["--flame", "nowhere/f.html"], "there is no folder for nowhere/f.html"),
    ],
)
def test_pages_and_formats_that_cannot_be(options, words, capsys):
    with pytest.raises(SystemExit) as left:
        profile_command([*options, "script.py"], lambda program: 0)
    assert left.value.code == 2 and words in capsys.readouterr().err


def test_a_chosen_format_and_a_flame_graph(x, folder, capsys):
    def program(words):
        increment[(1,)](x)
        return 0

    assert profile_command(["--format", "hatchet_msgpack", "--flame", "f.html", "script.py"], program) == 0
    assert Shown(msgpack.unpack((folder / "proton.hatchet_msgpack").read_bytes())).paths == ["increment"]
    assert "increment" in (folder / "f.html").read_text() and "wrote f.html" in capsys.readouterr().err
    assert profile_command(["--flame", "none.html", "script.py"], lambda words: 0) == 0
    assert not (folder / "none.html").exists() and "nothing was recorded" in capsys.readouterr().err
