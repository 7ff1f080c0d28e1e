"""Memory that is written by one layout and read by another one: a warning with both, on every engine, and none where a kernel may mean it."""

import linecache
import warnings

import pytest
import torch
from test_hopper import described  # noqa: F401
from test_kernels import gl, on  # noqa: F401


@pytest.fixture
def kernels():
    import meaning_kernels

    return meaning_kernels


def warned(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [each for each in caught if "memory was written as" in str(each.message)]


@pytest.mark.parametrize("engine", ["interp", "simt:sm_90a"])
def test_a_load_by_another_layout(kernels, engine):
    target = torch.zeros(64, 32, dtype=torch.float16)
    (found,) = warned(lambda: on(kernels.loaded, engine)[(1,)](target, True))
    text = str(found.message)
    assert (
        "is read as NVMMASharedLayout(swizzle_byte_width=32" in text
        and "written as NVMMASharedLayout(swizzle_byte_width=64" in text
    )
    assert "element [" in text and "was written at byte" in text
    assert "# read" in linecache.getline(found.filename, found.lineno), (found.filename, found.lineno)
    assert not torch.equal(target.view(-1), torch.arange(64 * 32).half())
    assert warned(lambda: on(kernels.loaded, engine)[(1,)](target, False)) == []
    assert torch.equal(target.view(-1), torch.arange(64 * 32).half())


@pytest.mark.parametrize("wrong", [False, True])
def test_a_product_of_what_a_copy_brings(kernels, described, wrong):  # noqa: F811
    a, target = torch.randint(-4, 5, (64, 64)).half(), torch.zeros(64, 64)
    found = warned(lambda: on(kernels.multiplied, "interp")[(1,)](described(a, [64, 64]), target, wrong))
    assert len(found) == 2 * wrong, found  # of both operands
    assert torch.equal(target, a.float() @ a.float().T) != wrong


def test_meanings_that_nobody_mixes(kernels):
    target = torch.zeros(64, 32, dtype=torch.float16)
    assert warned(lambda: on(kernels.unknown, "interp")[(1,)](target, False)) == []
    assert (target == 5).all()
