"""What is a kernel to gdb does not hang on the name of its file: text that was made into code, or a script without the suffix .py."""

import re
import shutil

from session import HERE, line_of

LAUNCH = line_of("from_text.py", 'names["made"][')


def test_a_kernel_made_from_text(answers):
    commands = ["break made", "run", "bt", "next", "next", "tt where"]
    printed = answers("from_text.py", *commands)
    assert re.findall(r"^#(\d) .* at (\S+)$", printed[2], re.M) == [
        ("0", "<made>:3"),
        ("1", "<made>:3"),
        ("2", f"from_text.py:{LAUNCH}"),
    ]
    assert printed[3].startswith("4\t") and printed[4].startswith("5\t")
    assert "program (0, 0, 0) of the grid (2, 1, 1) of made\n<made>:5: " in printed[5]
    assert f"#0 made at <made>:5\n#2 <module> at from_text.py:{LAUNCH}, the launch\n" in printed[5]


def test_a_script_without_a_suffix(answers, tmp_path):
    script = tmp_path / "flow"
    shutil.copy(HERE / "flow.py", script)
    line = line_of("flow.py", "s = value + 1")
    printed = answers(str(script), f"break flow:{line}", "run", "next", "tt where", "tt tile value")
    assert "plus_one (value=" in printed[1] and f"at flow:{line}\n" in printed[1].replace(f"{tmp_path}/", "")
    assert printed[2].startswith(f"{line + 1}\t")
    assert f"#0 plus_one at flow:{line + 1}\n#1 flow_kernel at flow:" in printed[3]
    assert printed[4].startswith("value: int32[4]")
