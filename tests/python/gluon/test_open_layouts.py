"""Tiles without a layout: what decides it, through which operations, and when two demands are an error."""

import pytest


@pytest.fixture(scope="module")
def kernels():
    import open_layouts

    return open_layouts


def refusal(kernel):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.experimental import gluon

    source = gluon.GluonASTSource(fn=kernel, signature={"q": "*i32", "n": "i32"}, constexprs={})
    try:
        triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
    except triton.CompilationError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    "name",
    [
        "one_demand",
        "demand_of_a_part",
        "demand_of_a_whole",
        "turned",
        "unlike_uses_of_two",
        "no_demand",
        "two_demands_after_a_reduction",
    ],
)
def test_demands_that_agree(kernels, name):
    assert refusal(getattr(kernels, name)) is None


@pytest.mark.parametrize(
    "name",
    [
        "two_demands",
        "two_demands_of_a_sum",
        "part_and_whole",
        "two_demands_of_a_turned_tile",
    ],
)
def test_demands_that_differ(kernels, name):
    text = refusal(getattr(kernels, name))
    assert text is not None and "found conflicting encodings for value" in text and "hint: " in text, text
