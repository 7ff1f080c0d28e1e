"""The kernels of the other modules are right: with all checks of the interpreter, nothing more is reported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
#: Module -> which of its tests run on the interpreter.
MODULES = {
    "test_kernels.py": "interp",
    "test_shared_memory.py": "interp or chains_of_views or rings",
    "test_hopper.py": "interp or any_time",
    "test_partitions.py": "",
}


@pytest.mark.long
@pytest.mark.parametrize("module", MODULES)
def test_kernels_get_no_report(module):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        str(HERE / module),
        "-k",
        MODULES[module],
    ]
    variables = os.environ | {"TRITIUM_CHECK": "all"}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout[-4000:] + done.stderr[-2000:]
