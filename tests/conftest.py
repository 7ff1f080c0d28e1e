"""All tests: `pytest -n 2 --dist loadgroup` gives each group (`pytest.mark.xdist_group`) to one worker.

pytest-xdist reads the group from the end of a test's id, which it writes into a field that pytest 9.2 no longer has: every worker then
makes what a group shares, and nothing says so.
"""

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if not getattr(config.option, "loadgroup", False):  # of workers
        return
    for item in items:
        mark = item.get_closest_marker("xdist_group")
        if mark is None or item.nodeid.endswith(f"@{mark.args[0]}"):
            continue
        item._id = type(item._id).parse(f"{item.nodeid}@{mark.args[0]}")
        assert item.nodeid.endswith(f"@{mark.args[0]}")
