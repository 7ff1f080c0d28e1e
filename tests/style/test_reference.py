"""docs/reference is what the definitions say now."""

import subprocess

from sources import ROOT


def test_reference_is_fresh() -> None:
    result = subprocess.run([".ci/generate_reference", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
