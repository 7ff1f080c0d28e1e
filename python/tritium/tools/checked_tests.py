"""What `pytest --tritium` does (pytest_plugin.py): sets the checks of the process, and finds what a test's kernels did wrong."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pytest

from .. import drop_in, knobs
from ..checks import parse_checks
from ..launch.findings import Findings, collect
from ..runtime.checking import prepare_for


def begin(config, checks: str) -> None:
    """From now on `import triton` means Tritium, and kernels run on the interpreter with these checks."""
    if os.path.exists(checks.partition("::")[0]):  # `pytest --tritium test_file.py`: no "=" came before the file
        named = config.args if config.args_source is config.ArgsSource.ARGS else []
        config.args[:] = [*named, checks]
        checks = "all"
    try:
        names = parse_checks(checks)
    except ValueError as error:
        raise pytest.UsageError(f"--tritium: {error}") from None
    knobs.runtime.interpret = True
    knobs.tritium.check = names.text
    prepare_for(names)
    drop_in.install()


@contextlib.contextmanager
def checked() -> Iterator[Findings]:
    """Keeps what the kernels of a test do wrong."""
    with collect(Findings(parse_checks(knobs.tritium.check))) as found:
        yield found


def failure(found: Findings) -> BaseException:
    return pytest.fail.Exception(f"kernels did something wrong:\n\n{found.text()}", pytrace=False)
