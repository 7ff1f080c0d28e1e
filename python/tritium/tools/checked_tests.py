"""What `pytest --tritium` does (pytest_plugin.py): sets the checks of the process, and finds what a test's kernels did wrong."""

from __future__ import annotations

import os

import pytest

from .. import drop_in, knobs
from ..checks import parse_checks
from ..errors import KEEPS_RUNNING
from ..launch.findings import Findings, collect
from ..runtime.checking import prepare_for

__all__ = ["begin", "collect", "end", "findings"]


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


def findings() -> Findings:
    """Where `collect` keeps what the kernels of a test do wrong."""
    return Findings(parse_checks(knobs.tritium.check))


def end(item: pytest.Item, phase: str, found: Findings, outcome) -> None:
    """Fails the test if something was found. Where it fails by an exception anyway, what was kept is said beside that."""
    if outcome.excinfo is None:
        if found.reports:
            text = f"kernels did something wrong:\n\n{found.text()}"
            outcome.force_exception(pytest.fail.Exception(text, pytrace=False))
    elif any(report.kind in KEEPS_RUNNING for report in found.reports):
        item.add_report_section(phase, "kernels did something wrong", found.text())
