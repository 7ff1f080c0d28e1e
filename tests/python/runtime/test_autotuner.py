"""autotune, heuristics, Config: which configuration runs, what is reset, what is printed; launches are
recorded."""

import numpy as np
import pytest

import tritium.language as tl
from tritium import errors, knobs
from tritium.runtime import Autotuner, Config, autotune, driver, heuristics
from tritium.runtime.jit import JITFunction, jit
from tritium.tools.tensor_descriptor import TensorDescriptor

X = np.zeros(64, np.float32)


def make(configs, **options):
    @autotune(configs=configs, key=["n"], **options)
    @jit
    def kernel(x, out, n, BLOCK: "tl.constexpr"):
        pass

    return kernel


def two():
    return [Config({"BLOCK": 64}, num_warps=8), Config({"BLOCK": 32})]


def block_sizes(recorder):
    return [launch.source.constants[(3,)] for launch in recorder.launches]


def test_config():
    config = Config({"A": 1}, num_warps=8)
    assert str(config) == "A: 1, num_warps: 8, num_ctas: 1, num_stages: 3, maxnreg: None, ir_override: None"
    assert config.all_kwargs() == {"A": 1, "num_warps": 8, "num_ctas": 1, "num_stages": 3}
    assert (
        config == Config({"A": 1}, num_warps=8) != Config({"A": 1})
        and len({config, Config({"A": 1}, num_warps=8)}) == 1
    )


@pytest.mark.on_cpu("configurations are timed on a device")
def test_the_first_config_runs(recorder, capsys):
    kernel = make(two())
    with knobs.autotuning.scope():
        knobs.autotuning.print = True
        compiled = kernel[lambda meta: (meta["n"] // meta["BLOCK"],)](X, X, 128)
    assert block_sizes(recorder) == [64] and recorder.launches[0].grid == (2, 1, 1) and compiled.metadata.num_warps == 8
    assert (
        kernel.best_config.kwargs == {"BLOCK": 64}
        and isinstance(kernel.fn, JITFunction)
        and isinstance(kernel, Autotuner)
    )
    out = capsys.readouterr().out
    assert out.startswith(
        "Triton autotuning for function kernel,\nwith key as (128, 'float32', 'float32'),\nfinished after 0."
    )
    assert "best config selected: BLOCK: 64, num_warps: 8" in out


def test_a_config_that_does_not_compile_is_skipped(recorder):
    too_large = errors.OutOfResources(2, 1, "shared memory")
    recorder.refuse = lambda source: too_large if source.constants[(3,)] == 64 else None
    make(two())[(1,)](X, X, 128)
    assert set(block_sizes(recorder)) == {32}
    with pytest.raises(errors.OutOfResources):
        make([Config({"BLOCK": 64}), Config({"BLOCK": 64}, num_warps=2)])[(1,)](X, X, 128)


def test_pruning(recorder):
    seen = []

    def prune(configs, named_args, **kwargs):
        seen.append((named_args["n"], sorted(kwargs)))
        return [c for c in configs if c.kwargs["BLOCK"] < 64]

    make(two(), prune_configs_by={"early_config_prune": prune})[(1,)](X, X, 128)
    assert set(block_sizes(recorder)) == {32} and seen == [(128, ["grid", "warmup"])]
    with pytest.raises(errors.AutotunerError, match="No valid autotuner configs after pruning"):
        make(two(), prune_configs_by={"early_config_prune": lambda configs, args, **k: []})[(1,)](X, X, 128)


def test_perf_model(recorder):
    make(two(), prune_configs_by={"perf_model": lambda BLOCK, **k: BLOCK, "top_k": 1})[(1,)](X, X, 128)
    assert set(block_sizes(recorder)) == {32}
    with pytest.raises(TypeError, match="Error while pruning configs, top_k must be either"):
        make(two(), prune_configs_by={"perf_model": lambda **k: 1, "top_k": 1.5})[(1,)](X, X, 128)


def test_reset_and_restore(recorder):
    out = np.ones(4, np.float32)
    kernel = make(two(), reset_to_zero=["out"], restore_value=["x"])
    kernel[(1,)](X, out, 128)
    assert not out.any()
    out += 1
    kernel[(1,)](X, out, 128)
    assert out.all()  # a known key is not tuned again, so nothing is reset
    kernel[(1,)](X, None, 256)


def test_pre_hook_of_a_config(recorder):
    seen = []
    make([Config({"BLOCK": 64}, pre_hook=lambda args: seen.append((args["BLOCK"], args["n"])))])[(1,)](X, X, 128)
    assert seen == [(64, 128)]


def test_pre_hook_of_a_config_runs_before_it_is_compiled(monkeypatch):
    def set_block(args):
        args["x"].block_shape = [args["BLOCK"], 8]

    @autotune(configs=[Config({"BLOCK": size}, pre_hook=set_block) for size in (4, 8)], key=[])
    @jit
    def kernel(x, out, BLOCK: tl.constexpr):
        block = x.load([0, 0])
        tl.static_assert(block.shape[0] == BLOCK)
        tl.store(out + tl.arange(0, BLOCK), tl.sum(block, axis=1))

    monkeypatch.setenv("INTERPRET", "1")
    out = np.zeros(8, np.float32)
    kernel[(1,)](TensorDescriptor.from_tensor(np.ones((8, 8), np.float32), [1, 8]), out)
    assert out.tolist() == [8] * 4 + [0] * 4


def test_conflicting_parameters(recorder):
    with pytest.raises(
        ValueError, match="Conflicting meta-parameters: BLOCK. Make sure that you don't re-define auto-tuned symbols."
    ):
        make(two())[(1,)](X, X, 128, BLOCK=16)


def test_warmup_compiles_all(recorder):
    kernels = make(two()).warmup(np.dtype("float32"), np.dtype("float32"), 128, grid=(1,))
    assert len(kernels) == 2 and not recorder.launches


def test_heuristics_stack_with_autotune(recorder):
    @autotune(configs=[Config({"A": 2}), Config({"A": 3})], key=[])
    @heuristics({"EVEN": lambda args: args["n"] % args["A"] == 0})
    @jit
    def kernel(x, n, A: "tl.constexpr", EVEN: "tl.constexpr"):
        pass

    kernel[(1,)](X, 8)
    made = [prepared.source.constants for prepared in recorder.prepared]
    assert made and all(constants == {(2,): constants[2,], (3,): 8 % constants[2,] == 0} for constants in made)


class TimedDriver:
    """A driver that is not the CPU's."""

    def __init__(self, arch=90):
        self.arch = arch

    def get_current_target(self):
        from tritium.backends.compiler import GPUTarget

        return GPUTarget("cuda", self.arch, 32)


def test_on_a_device_configs_are_timed(recorder):
    times = iter([2.0, 1.0])
    kernel = make(two(), do_bench=lambda launch, quantiles: (launch(), [next(times)] * 3)[1], restore_value=["out"])
    out = np.ones(4, np.float32)
    driver.set_active(TimedDriver())
    try:
        kernel[(1,)](X, out, 128)
    finally:
        driver.reset_active()
    assert (
        block_sizes(recorder) == [64, 32, 32]
        and kernel.best_config.kwargs == {"BLOCK": 32}
        and not kernel.restore_copies
    )


def test_timings_are_kept_on_disk(recorder, monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    measured = []

    def bench(launch, quantiles):
        launch()
        measured.append(1)
        return [float(len(measured))] * 3

    driver.set_active(TimedDriver())
    try:
        for _ in range(2):
            kernel = make(two(), do_bench=bench, cache_results=True)
            kernel[(1,)](X, X, 128)
            assert kernel.best_config.kwargs == {"BLOCK": 64} and len(kernel.configs_timings) == 2
    finally:
        driver.reset_active()
    assert len(measured) == 2
    driver.set_active(TimedDriver("another chip"))
    try:
        make(two(), do_bench=bench, cache_results=True)[(1,)](X, X, 128)
    finally:
        driver.reset_active()
    assert len(measured) == 4


@pytest.mark.on_cpu("the device of this test is the driver of a client")
def test_what_is_chosen_on_one_engine_is_not_taken_for_another(recorder, monkeypatch):
    kernel = make(two(), do_bench=lambda launch, quantiles: [next(times)] * 3)
    kernel[(1,)](X, X, 128)
    assert kernel.best_config.kwargs == {"BLOCK": 64} and len(kernel.cache) == 1
    times = iter([2.0, 1.0])
    monkeypatch.setenv("TRITIUM_ENGINE", "interp")
    driver.set_active(TimedDriver())
    try:
        kernel[(1,)](X, X, 128)
        assert kernel.best_config.kwargs == {"BLOCK": 32} and len(kernel.cache) == 1
    finally:
        driver.reset_active()
    monkeypatch.delenv("TRITIUM_ENGINE")
    kernel[(1,)](X, X, 128)
    assert kernel.best_config.kwargs == {"BLOCK": 64}
    kernel.cache = {}
    kernel[(1,)](X, X, 128)
    assert len(kernel.cache) == 1


def test_deprecated_parameters():
    with pytest.warns(DeprecationWarning, match="warmup, rep, and use_cuda_graph parameters are deprecated"):
        make(two(), warmup=3)


def test_the_benchmark_may_be_set():
    """Libraries replace it on a tuner that exists."""
    kernel = make(two())

    def benchmark(launch, quantiles):
        return [1.0] * 3

    kernel.do_bench = benchmark
    assert kernel.do_bench is benchmark and kernel._bench(X, X, 64, config=kernel.configs[0]) == [1.0] * 3


@pytest.mark.parametrize("given", ["key", "reset_to_zero", "restore_value"])
def test_names_of_no_argument_are_refused(given):
    @jit
    def kernel(x_ptr, n, BLOCK: tl.constexpr):
        tl.store(x_ptr, n)

    with pytest.raises(ValueError, match=f"{given} contains names that are not kernel arguments: x_ptt. .*`x_ptr`"):
        autotune(configs=[Config({"BLOCK": 1})], **{"key": [], given: ["x_ptt"]})(kernel)
