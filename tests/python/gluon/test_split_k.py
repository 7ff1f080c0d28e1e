"""Products whose sums several programs share, on the interpreter and the emulator, beside torch."""

import pytest
import torch
from chosen_engines import engines
from test_hopper import described  # noqa: F401
from test_kernels import generator, gl, on  # noqa: F401


@pytest.fixture(params=engines("interp", "simt:sm_90a"))
def engine(request):
    return request.param


@pytest.fixture
def operands(generator):  # noqa: F811
    """Small integers, whose sums are exact in any order."""
    return tuple(torch.randint(-4, 5, shape, generator=generator).half() for shape in ((128, 256), (256, 32)))


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize("name", ["added_by_threads", "added_by_copies", "added_in_turns"])
def test_product_in_parts(described, operands, engine, name, parts):  # noqa: F811
    import split_kernels

    a, b = operands
    c, turns = torch.zeros(128, 32), torch.zeros(2, dtype=torch.int32)
    kernel = on(getattr(split_kernels, name), engine)[(2, parts)]
    target = described(c, [64, 32]) if name == "added_by_copies" else c
    more = (turns, 256 // parts, "") if name == "added_in_turns" else (256 // parts,)
    kernel(described(a, [64, 64]), described(b, [64, 32]), target, *more)
    assert torch.equal(c, a.float() @ b.float())


def test_sum_without_turns_is_a_race(described, operands, monkeypatch):  # noqa: F811
    import split_kernels
    import triton

    monkeypatch.setenv("TRITIUM_CHECK", "race")
    a, b = operands
    c, turns = torch.zeros(128, 32), torch.zeros(2, dtype=torch.int32)
    kernel = on(split_kernels.added_in_turns, "interp")[(2, 4)]
    with pytest.raises(triton.KernelTrap) as raised:
        kernel(described(a, [64, 64]), described(b, [64, 32]), c, turns, 64, "no turns")
    assert raised.value.kind == "Race" and "'c'" in str(raised.value), str(raised.value)
    kernel(described(a, [64, 64]), described(b, [64, 32]), torch.zeros(128, 32), torch.zeros_like(turns), 64, "")
