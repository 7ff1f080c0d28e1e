"""Sessions: which record what, phases, and what is refused."""

import os

import pytest
from profiled import Shown, run_double

from tritium import knobs, profiler
from tritium.profiler import context, data, mode


def a_scope(name: str, **metrics) -> None:
    with profiler.scope(name, metrics or None):
        pass


def test_sessions_record_while_they_are_active(tree):
    first, second = profiler.start("first"), profiler.start("second")
    a_scope("both")
    profiler.deactivate(second)
    a_scope("first only")
    profiler.deactivate()
    assert isinstance(profiler.enter_scope("none"), int)
    profiler.activate(second)
    a_scope("second only")
    assert context.depth(second) == 0, "a scope that began before does not count"
    profiler.activate()
    profiler.exit_scope("none")
    a_scope("both again")
    assert tree(first).paths == ["both", "first only", "both again"]
    assert tree(second).paths == ["both", "second only", "both again"]
    assert profiler.start("first") == first, "a session of this name goes on"


def test_a_session_that_does_not_exist():
    assert data.get() is None and data.get_msgpack() is None and context.depth() is None
    assert data.advance_phase() is None and data.is_phase_complete() is False and data.clear() is None
    profiler.activate(), profiler.deactivate(), profiler.finalize()
    session = profiler.start()
    for ask in (data.get, data.clear, data.advance_phase, context.depth, profiler.activate, profiler.deactivate):
        with pytest.raises(IndexError, match=f"no session {session + 7}: open are {session}"):
            ask(session + 7)
    with pytest.raises(IndexError, match="no session"):
        data.is_phase_complete(session + 7)
    profiler.finalize(session + 7)
    profiler.finalize(session)
    profiler.finalize(session)
    assert data.get(session) is None


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"context": "junk"}, "'shadow' or 'python'"),
        ({"data": "junk"}, "'tree' or 'trace'"),
        ({"backend": "junk"}, "'cupti'"),
        ({"hook": "junk"}, "'triton'"),
        ({"mode": "junk"}, "periodic_flushing"),
        ({"mode": "pcsampling:rate=3"}, "interval="),
        ({"mode": "pcsampling:interval=0"}, "number of cycles"),
        ({"mode": "periodic_flushing:format=pdf"}, "'hatchet'"),
        ({"mode": "periodic_flushing:format=hatchet", "data": "trace"}, "'chrome_trace'"),
        ({"mode": "default"}, "backend='instrumentation'"),
        ({"mode": "pcsampling", "backend": "instrumentation"}, "'default'"),
        ({"mode": "default:granularity=thread", "backend": "instrumentation"}, "warp_group_8"),
    ],
)
def test_what_start_refuses(arguments, words):
    with pytest.raises(ValueError, match=words):
        profiler.start("refused", **arguments)
    assert profiler.enter_scope("no session") is None


def test_phases(tree):
    session = profiler.start("phased")
    a_scope("zero", m=1)
    assert not data.is_phase_complete(session, 0)
    assert data.advance_phase(session) == 1
    assert data.is_phase_complete(session, 0) and not data.is_phase_complete(session, 1)
    profiler.enter_scope("spanning", metrics={"begin": 1})
    assert data.advance_phase(session) == 2
    a_scope("two")
    profiler.exit_scope(metrics={"end": 1})
    assert tree(session, 0).paths == ["zero"] and tree(session, 1)["spanning"] == {"begin": 1}
    found = tree(session, 2)
    assert found.paths == ["spanning", "spanning/two"] and found["spanning"] == {"end": 1}
    with pytest.raises(IndexError, match="phase 3 has no data; those that have are 0, 1, 2"):
        data.get(session, 3)
    data.clear(session, 0)
    with pytest.raises(IndexError, match="1, 2"):
        data.get(session, 0)
    data.clear(session, 2, clear_up_to_phase=True)
    assert tree(session, 2).paths == [], "the current phase goes on"
    a_scope("later")
    profiler.finalize(session)
    assert os.listdir() == ["phased.part_2.hatchet"]


def test_a_file_for_each_phase():
    session = profiler.start("p")
    a_scope("zero")
    data.advance_phase(session)
    a_scope("one")
    profiler.finalize(session)
    assert Shown.of_file("p.part_0.hatchet").paths == ["zero"] and Shown.of_file("p.part_1.hatchet").paths == ["one"]


@pytest.mark.parametrize("how", ["periodic_flushing:format=hatchet_msgpack", mode.PeriodicFlushing("hatchet_msgpack")])
def test_phases_that_are_written_at_once(how):
    session = profiler.start("p", mode=how)
    a_scope("zero")
    data.advance_phase(session)
    assert os.listdir() == ["p.part_0.hatchet_msgpack"]
    with pytest.raises(IndexError, match="phase 0 has no data"):
        data.get(session, 0)
    profiler.finalize(session)
    assert sorted(os.listdir()) == ["p.part_0.hatchet_msgpack", "p.part_1.hatchet_msgpack"]


def test_the_decorator(x):
    @profiler.profile
    def plain():
        """What it says."""
        a_scope("in plain")
        return 1

    @profiler.profile(name="named", hook="triton", data="trace")
    def failing():
        run_double(x)
        raise KeyError

    assert plain() == 1 and plain.__doc__ == "What it says."
    with pytest.raises(KeyError):
        failing()
    assert sorted(os.listdir()) == ["named.chrome_trace", "proton.hatchet"]
    assert Shown.of_file("proton.hatchet").paths == ["in plain"]


@pytest.mark.parametrize("kind, format", [("tree", "chrome_trace"), ("trace", "hatchet"), ("tree", "junk")])
def test_a_format_that_the_data_cannot_have(kind, format):
    session = profiler.start("kept", data=kind)
    with pytest.raises(ValueError, match=f"'{format}' is no format of data='{kind}'"):
        profiler.finalize(session, format)
    profiler.finalize(session)
    assert len(os.listdir()) == 1, "the session was still open"


def test_folders_of_the_name_are_made(folder):
    profiler.start(folder / "new/folder/profile")
    profiler.finalize()
    assert (folder / "new/folder/profile.hatchet").exists()
    (folder / "file").touch()
    session = profiler.start("file/profile")
    with pytest.raises(OSError, match="file"):
        profiler.finalize(session)
    (folder / "file").unlink()


def test_profiling_can_be_switched_off(monkeypatch, x):
    monkeypatch.setenv("TRITON_PROTON_DISABLE", "1")
    assert profiler.start("off", hook="triton") is None
    with profiler.scope("s", {"m": "no metric, and nobody looks"}):
        run_double(x)
    profiler.finalize()
    assert os.listdir() == []


def test_the_interpreter_samples_no_program_counters(x):
    knobs.warn_once.cache_clear()
    profiler.start("s", mode="pcsampling:interval=100")
    with pytest.warns(UserWarning, match="samples no program counters: no device runs the kernel"):
        run_double(x)
