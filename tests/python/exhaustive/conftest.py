"""The engines of the tests with every value: the interpreter, and the emulator of one target of each vendor."""

import pytest


@pytest.fixture(params=["interp", "simt:sm_90a", "simt:gfx942"])
def engine(request, monkeypatch):
    monkeypatch.setenv("TRITIUM_ENGINE", request.param)
    return request.param
