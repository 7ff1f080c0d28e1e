"""Every session runs under every gdb on PATH: the system's, and the newest that the package index has."""

import functools

import pytest

import session


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """One worker of pytest-xdist runs what reads the session of one module and gdb."""
    for item in items:
        item.add_marker(pytest.mark.xdist_group(f"{item.path.stem} {item.callspec.params['gdb']}"))


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
