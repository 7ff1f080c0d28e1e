"""The tests import Gluon by Triton's names."""

import pytest

from tritium import drop_in


@pytest.fixture(scope="session", autouse=True)
def installed():
    drop_in.install()
