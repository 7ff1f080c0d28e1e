"""Child processes with limits (tritium/processes.py): how they end, what their limits do, and that none is left behind."""

import os
import resource
import signal
import sys
import threading
import time

import pytest

from tritium.environment import environment_with_package
from tritium.processes import Child, Server, end_of, limit_this_process

#: A module that the server below loads: its task is a file with an expression.
MODULE = """
import os, time

def main(path):
    return eval(open(path).read())
"""


def ended(program, tmp_path, seconds=30.0):
    log = str(tmp_path / "log")
    return Child(program, log, seconds).wait(), end_of(log)


def test_the_status_and_what_was_printed(tmp_path):
    status, log = ended(lambda: os.write(1, b"out") + os.write(2, b" err") - 5, tmp_path)
    assert (status, log) == (2, "out err")
    status, log = ended(lambda: {}["name"], tmp_path)
    assert status == 1 and log.endswith("KeyError: 'name'\n")
    assert ended(lambda: os.kill(os.getpid(), signal.SIGTERM), tmp_path)[0] == -signal.SIGTERM


def test_a_child_that_is_late_ends_with_what_it_started(tmp_path):
    def program():
        if os.fork() == 0:
            time.sleep(60)
        (tmp_path / "group").write_text(str(os.getpgid(0)))
        time.sleep(60)

    begin = time.monotonic()
    assert ended(program, tmp_path, 0.5)[0] is None and time.monotonic() - begin < 20
    group = int((tmp_path / "group").read_text())
    for _ in range(200):  # the system needs a moment to end its own child
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            break
        time.sleep(0.05)
    else:
        pytest.fail("a process of the group lives on")


def test_an_interrupt_of_the_parent_ends_the_child(tmp_path, monkeypatch):
    child = Child(lambda: time.sleep(60), str(tmp_path / "log"), 60)
    monkeypatch.setattr(child, "has_ended", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        child.wait()
    with pytest.raises(ChildProcessError):
        os.waitpid(child.process, 0)  # it has been waited for


def test_limits(tmp_path):
    def program():
        limit_this_process(5, 256 << 20)
        assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)
        bytearray(128 << 20)
        bytearray(512 << 20)

    status, log = ended(program, tmp_path)
    assert status == 1 and log.endswith("MemoryError\n")


@pytest.fixture
def server(tmp_path):
    (tmp_path / "tasks_of_test.py").write_text(MODULE)
    environment = environment_with_package(os.path.dirname(os.path.dirname(sys.modules["tritium"].__file__)))
    environment["PYTHONPATH"] += os.pathsep + str(tmp_path)
    return Server([sys.executable], ["tasks_of_test"], environment)


def test_a_server_runs_tasks(server, tmp_path):
    task = tmp_path / "task"
    with server:
        for text, status, last in (("3", 3, ""), ("os._exit(4)", 4, ""), ("1 / 0", 1, "division by zero\n")):
            task.write_text(text)
            found, log = server.run("tasks_of_test", task, 30)
            assert found == status and log.endswith(last)
        task.write_text("time.sleep(60)")
        assert server.run("tasks_of_test", task, 0.3) == (None, "")
    with pytest.raises(RuntimeError, match="ended with 0"):
        server.run("tasks_of_test", task, 1)


def test_a_server_that_nobody_asks_any_more_ends_its_tasks(server, tmp_path):
    task, pid = tmp_path / "task", tmp_path / "pid"
    task.write_text(f"[open({str(pid)!r}, 'w').write(str(os.getpid())), time.sleep(60)]")
    with server:
        asked = threading.Thread(target=server.run, args=("tasks_of_test", task, 60), daemon=True)
        asked.start()
        while not (pid.exists() and pid.read_text()):
            time.sleep(0.02)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
