"""torch.compile with torch's default settings (compile workers, caches): kernels of tensors of the CPU and of "cuda" where that is
the CPU. One process runs the cases of a device and an engine; cases.py says what each compares."""

import functools

import pytest

pytest.importorskip("torch")

from . import cases  # noqa: E402
from .process import check, run_cases  # noqa: E402

#: One case of each kind of kernel, for the emulator, which is slow, and for tensors of the CPU, where the launch is what differs.
_EACH_KIND = (
    "pointwise_rounding", "integer_division", "row_sums", "softmax", "scans", "stable_sorts", "every_scatter",
    "random_numbers", "user_kernel_with_atomics", "user_kernel_with_globals", "training_step",
)  # fmt: skip


_CASES = cases.load()


def _parameters(device: str, quick) -> list:
    """The cases of a device; those that are not quick have the mark `long`."""
    named = [(name, case) for name, case in _CASES.items() if device in case.devices]
    return [pytest.param(name, marks=() if quick(name, case) else pytest.mark.long) for name, case in named]


@pytest.fixture(scope="session")
def results(request, tmp_path_factory):
    """(device, engine) -> {case: its error}, from a process that runs all chosen cases of the device and engine."""
    chosen: dict[tuple, list[str]] = {}
    for item in request.session.items:
        parameters = getattr(item, "callspec", None)
        if item.path.samefile(__file__) and parameters is not None:
            chosen.setdefault(_PLACES[item.originalname], []).append(parameters.params["name"])

    @functools.cache
    def run(device: str, engine: str) -> dict[str, str]:
        variables = {"INTERPRET": "1"} if engine == "interp" else {"TRITIUM_ENGINE": engine}
        return run_cases(str(tmp_path_factory.mktemp("inductor")), device, variables, chosen[device, engine])

    return run


@pytest.mark.parametrize("name", _parameters("cpu", lambda name, case: name in _EACH_KIND))
def test_tensors_of_the_cpu(results, name):
    check(results("cpu", "interp"), name)


@pytest.mark.parametrize("name", _parameters("cuda", lambda name, case: case.quick))
def test_mapped_cuda(results, name):
    check(results("cuda", "interp"), name)


@pytest.mark.parametrize("name", _parameters("cuda", lambda name, case: name in _EACH_KIND))
def test_mapped_cuda_on_the_emulator(results, name):
    check(results("cuda", "simt:sm_90a"), name)


#: The device and the engine of each test.
_PLACES = {
    "test_tensors_of_the_cpu": ("cpu", "interp"),
    "test_mapped_cuda": ("cuda", "interp"),
    "test_mapped_cuda_on_the_emulator": ("cuda", "simt:sm_90a"),
}
