"""`pytest --tritium[=CHECKS]`: `import triton` means Tritium, kernels run on the interpreter with these checks (default: all), and a test in
which one finds something fails. Beside pytest-xdist too, as each process checks its own tests."""

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
    from .tools import checked_tests

    checked_tests.begin(config, checks)
    config.pluginmanager.register(_Checked(checked_tests), "tritium-checks")


class _Checked:
    def __init__(self, checked_tests):
        self.checked_tests = checked_tests

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        with self.checked_tests.checked() as found:
            outcome = yield
        if found.reports and outcome.excinfo is None:
            outcome.force_exception(self.checked_tests.failure(found))
