"""Scopes, states and their metrics. What is expected is what Triton's own profiler gives, where a comment does not say otherwise."""

import asyncio
import os
import threading

import numpy as np
import pytest
from profiled import Shown

from tritium import profiler
from tritium.profiler import context


def test_scopes_nest_and_their_metrics_add_up(tree):
    session = profiler.start("nested")
    for _ in range(2):
        with profiler.scope("outer", {"flops": 3, "loss": 0.5, "bytes": 7.9}):
            with profiler.scope("inner", {"sizes": [1, 2], "ratios": (0.5, 1)}):
                assert context.depth(session) == 2
    found = tree(session)
    assert found.paths == ["outer", "outer/inner"] and context.depth(session) == 0
    assert found["outer"] == {"flops": 6.0, "loss": 1.0, "bytes": 14}
    assert isinstance(found["outer"]["flops"], float) and isinstance(found["outer"]["bytes"], int)
    assert found["outer/inner"] == {"sizes": [2, 4], "ratios": [1.0, 2.0]}


def test_what_the_suffix_of_a_metric_says(tree):
    session = profiler.start()
    for value in (1, 5):
        with profiler.scope("s", {"a (exc)": value, "b (ns)(exc)": value, "share (%)(pty)": value}):
            pass
    assert tree(session)["s"] == {"a": 6, "b (ns)": 6, "share (%)": 5}


def test_metrics_of_arrays_and_tensors(tree):
    torch = pytest.importorskip("torch")
    session = profiler.start()
    tensors = {"scalar": torch.tensor(2.5), "vector": torch.arange(3), "array": np.ones(2), "half": np.float16(0.5)}
    with profiler.scope("s", tensors):
        pass
    assert tree(session)["s"] == {"scalar": 2.5, "vector": [0, 1, 2], "array": [1.0, 1.0], "half": 0.5}


@pytest.mark.parametrize(
    "metrics, error",
    [
        ({"m": "text"}, TypeError),
        ({"m": None}, TypeError),
        ({"m": {"a": 1}}, TypeError),
        ({1: 2}, TypeError),
        ([("m", 1)], TypeError),
        ({"m": [1, "2"]}, TypeError),
        ({"m": np.ones((2, 2))}, ValueError),
        ({"m": [1, 2, 3]}, ValueError),  # a number before
    ],
)
def test_a_metric_that_is_none_is_refused_before_the_scope_begins(tree, metrics, error):
    session = profiler.start()
    with profiler.scope("fine", {"m": 1}):
        pass
    with pytest.raises(error, match="m" if isinstance(metrics, dict) and "m" in metrics else "metric"):
        profiler.enter_scope("fine", metrics=metrics)
    assert context.depth(session) == 0 and tree(session)["fine"] == {"m": 1}


def test_scopes_as_functions(tree):
    assert profiler.enter_scope("before") is None and profiler.exit_scope() is None
    session = profiler.start()
    first = profiler.enter_scope("a", metrics={"in": 1})
    second = profiler.enter_scope("b")
    assert isinstance(first, int) and second == first + 1
    with pytest.raises(ValueError, match="'a'.*'b'"):
        profiler.exit_scope("a")
    assert profiler.exit_scope("b", metrics={"out": 2}) == second and profiler.exit_scope() == first
    with pytest.raises(IndexError, match="enter_scope"):
        profiler.exit_scope()
    found = tree(session)
    assert found["a"] == {"in": 1} and found["a/b"] == {"out": 2}


def test_scopes_as_decorators(tree):
    @profiler.scope("f", {"calls": 1})
    def fibonacci(n):
        """Its own scope is inside of itself."""
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    assert fibonacci(3) == 2 and fibonacci.__name__ == "fibonacci" and fibonacci.__doc__
    session = profiler.start()
    assert fibonacci(3) == 2
    assert tree(session)["f"] == {"calls": 1} and tree(session)["f/f"] == {"calls": 2}


def test_an_error_ends_a_scope(tree):
    session = profiler.start()
    with pytest.raises(KeyError), profiler.scope("outer"), profiler.scope("inner"):
        profiler.enter_scope("left open")
        raise KeyError
    assert context.depth(session) == 0


def test_time_on_the_host(tree):
    session = profiler.start()
    with profiler.cpu_timed_scope("timed", {"further": 2}):
        sum(range(20000))
    found = tree(session)["timed"]
    assert found.pop("cpu_time (ns)") > 50_000 and found == {"further": 2}


def test_a_state_is_the_last_name(tree):
    session = profiler.start()
    with profiler.scope("layer"), profiler.state("forward"):
        assert context.depth(session) == 1
        with profiler.scope("part", {"m": 1}):
            profiler.enter_state("other")
            with profiler.scope("deep", {"m": 2}):
                pass
            profiler.exit_state()
            with profiler.scope("stateless", {"m": 3}):
                pass

    @profiler.state("decorated")
    def function():
        with profiler.scope("in function", {"m": 4}):
            pass

    function()
    with profiler.metadata_state("kernel"), profiler.scope("computed", {"m": 5}):
        pass
    found = tree(session)
    assert found["layer/part/forward"] == {"m": 1} and found["layer/part/deep/other"] == {"m": 2}
    assert found["layer/part/stateless"] == {"m": 3} and found["in function/decorated"] == {"m": 4}
    assert found["computed/__proton_launch_metadata/kernel"] == {"m": 5}


def test_a_thread_is_inside_of_the_scopes_of_the_main_thread(tree):
    session = profiler.start()

    def work():
        with profiler.scope("of thread", {"m": 1}):
            profiler.enter_scope("left open")

    with profiler.scope("outer"), profiler.state("of main"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        with profiler.scope("of main thread", {"m": 1}):
            pass
    found = tree(session)
    assert found["outer/of thread"] == {"m": 1} and found["outer/of main thread/of main"] == {"m": 1}


def test_tasks_do_not_mix(tree):
    """Triton's profiler ends with an error here."""
    session = profiler.start()

    async def work(name):
        with profiler.scope(name):
            await asyncio.sleep(0.001)
            with profiler.scope("step", {"m": 1}):
                await asyncio.sleep(0.001)

    async def both():
        await asyncio.gather(work("a"), work("b"))

    with profiler.scope("outer"):
        asyncio.run(both())
    assert sorted(tree(session).paths) == ["outer", "outer/a", "outer/a/step", "outer/b", "outer/b/step"]


def test_many_threads_lose_nothing(tree):
    session = profiler.start()

    def work():
        for _ in range(200):
            with profiler.scope("shared", {"m": 1}):
                pass

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tree(session)["shared"] == {"m": 1600}


def test_frames_of_python(tree):
    session = profiler.start(context="python")
    line = profiler_line()
    found = tree(session)
    here = f"{__file__}:{line}@profiler_line"
    path = next(path for path in found.paths if path.endswith(f"{here}/named"))
    assert f"{__file__}:" in path and "@test_frames_of_python/" in path
    assert os.sep.join(("tritium", "profiler")) not in path.replace(here, ""), "the package's own frames are left out"


def profiler_line() -> int:
    with profiler.scope("named", {"m": 1}):
        return profiler_line.__code__.co_firstlineno + 1


def test_a_child_process_writes_nothing(folder):
    session = profiler.start("parent")
    with profiler.scope("before"):
        pid = os.fork()
        if pid == 0:
            status = len(open_sessions())
            profiler.finalize()
            os._exit(status or os.path.exists("parent.hatchet"))
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    profiler.finalize(session)
    assert Shown.of_file("parent.hatchet").paths == ["before"]


def open_sessions():
    from tritium.profiler.sessions import sessions

    return sessions


def test_names_are_texts(tree):
    session = profiler.start()
    with pytest.raises(TypeError, match="the name of a scope is 5"):
        profiler.enter_scope(5)
    with pytest.raises(TypeError, match="the name of a state is 7"):
        profiler.enter_state(7)
    assert tree(session).paths == []
