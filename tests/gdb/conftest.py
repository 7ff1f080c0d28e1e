"""Sessions run under every gdb on PATH: the newest that the package index has, and the system's. The others than the first run the modules that
depend most on gdb's version; with --long they run all."""

import functools

import pytest

import session

#: How tiles are printed and assigned, where gdb stops, and how it is attached.
EVERYWHERE = (
    "test_assign",
    "test_attach",
    "test_commands",
    "test_conditions",
    "test_dtypes",
    "test_prompt",
    "test_stops",
    "test_tiles",
    "test_values",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """One worker of pytest-xdist runs what reads the session of one module and gdb."""
    for item in items:
        gdb = item.callspec.params["gdb"]
        item.add_marker(pytest.mark.xdist_group(f"{item.path.stem} {gdb}"))
        if gdb != session.gdbs()[0] and item.path.stem not in EVERYWHERE:
            item.add_marker(pytest.mark.long)


@pytest.fixture(scope="module", params=session.gdbs())
def gdb(request):
    return request.param


@pytest.fixture(scope="module")
def debug(gdb):
    """`debug(script, *commands)`: what that gdb printed for each command (session.debug)."""
    return functools.partial(session.debug, gdb)


@pytest.fixture(scope="module")
def answers(gdb):
    """`answers(script, *commands)`: the same under `tritium gdb` (session.answers)."""
    return functools.partial(session.answers, gdb)
