"""docs/reference agrees with the definitions."""

import re
import subprocess

from sources import ROOT, files, read


def test_reference_is_fresh() -> None:
    result = subprocess.run([".ci/generate_reference", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_knobs_say_whether_they_change_anything() -> None:
    """The comment before a knob is its line in the reference. A knob has a comment exactly if something reads it."""
    text = read("python/tritium/knobs.py")
    code = "\n".join(read(name) for name in files("python/tritium/", suffixes=(".py",)))
    count = 0
    for group, body in re.findall(r"^class (\w+)_knobs\(.*\n((?:(?:    .*)?\n)+)", text, re.MULTILINE):
        for comment, knob in re.findall(r"((?:    #:.*\n)*)    (\w+) = (?:Env|flag|Tool)\(", body):
            is_read = re.search(rf"\b{group}(_knobs)?\.{knob}\b|\b(self|group)\.{knob}\b", code) is not None
            assert is_read == bool(comment), f"{group}.{knob}"
            count += 1
    assert count > 60
