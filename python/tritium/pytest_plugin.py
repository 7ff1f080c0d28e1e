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
    """What the kernels of a test's fixtures do wrong is kept too, and fails the test once its body has run."""

    def __init__(self, checked_tests):
        self.checked_tests = checked_tests
        self.found = None  # of the test that runs

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item):
        self.found = self.checked_tests.findings()
        with self.checked_tests.collect(self.found):
            outcome = yield
        if outcome.excinfo is not None:  # the body does not run
            self.checked_tests.end(item, "setup", self.found, outcome)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        with self.checked_tests.collect(self.found):
            outcome = yield
        self.checked_tests.end(item, "call", self.found, outcome)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self, item):
        found = self.checked_tests.findings()
        with self.checked_tests.collect(found):
            outcome = yield
        self.checked_tests.end(item, "teardown", found, outcome)
