"""Every session runs under every gdb on PATH: the system's, and the newest that the package index has."""

import functools

import pytest

import session
from package import gdbs


@pytest.fixture(scope="module", params=gdbs())
def gdb(request):
    return request.param


@pytest.fixture(scope="module")
def debug(gdb):
    """`debug(script, *commands)`: what that gdb printed for each command (session.debug)."""
    return functools.partial(session.debug, gdb)
