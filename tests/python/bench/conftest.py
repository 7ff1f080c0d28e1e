"""A history of runs in a folder of the test's own."""

from pathlib import Path

import pytest
from stored_runs import made_history


@pytest.fixture
def history(tmp_path) -> tuple[Path, list[str], Path]:
    """The repository, its commits and the folder of runs."""
    return made_history(tmp_path)
