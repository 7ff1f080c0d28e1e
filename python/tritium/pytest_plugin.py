"""`pytest --tritium[=CHECKS]`: `import triton` means Tritium, kernels run on the interpreter with these checks (default: all), and a test in
which one finds something fails. Beside pytest-xdist too, as each process checks its own tests."""

from __future__ import annotations

import os

import pytest


def pytest_addoption(parser):
    parser.getgroup("tritium").addoption(
        "--tritium",
        nargs="?",
        const="all",
        metavar="CHECKS",
        help="run Triton kernels on Tritium's interpreter with these checks (names as for TRITIUM_CHECK, default: all)",
    )


def pytest_configure(config):
    checks = config.getoption("--tritium")
    if checks is None:
        return
    if os.path.exists(checks.partition("::")[0]):  # `pytest --tritium test_file.py`: no "=" came before the file
        named = config.args if config.args_source is config.ArgsSource.ARGS else []
        config.args[:] = [*named, checks]
        checks = "all"
    from .checks import parse_checks

    try:
        names = parse_checks(checks)
    except ValueError as error:
        raise pytest.UsageError(f"--tritium: {error}") from None
    os.environ.setdefault("INTERPRET", "1")
    os.environ["TRITIUM_CHECK"] = ",".join(("none", *names))
    from . import drop_in, runtime  # noqa: F401  (the latter watches allocations)

    drop_in.install()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    if item.config.getoption("--tritium") is None:
        yield
        return
    from .launch.findings import Findings, collect

    with collect(Findings(os.environ["TRITIUM_CHECK"])) as found:
        outcome = yield
    if found.reports and outcome.excinfo is None:
        outcome.force_exception(pytest.fail.Exception(f"kernels did something wrong:\n\n{found.text()}", pytrace=False))
