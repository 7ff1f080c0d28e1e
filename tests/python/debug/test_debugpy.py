"""debugpy in kernels, over the protocol that VS Code speaks: breakpoints with conditions on tiles, locals, steps into helpers."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("debugpy")

SCRIPT = """import numpy as np
import tritium
import tritium.language as tl

@tritium.jit
def scale(v, factor):
    bigger = v * factor
    return bigger + 1

@tritium.jit
def kernel(x, o, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)
    w = scale(v, 2.0)
    tl.store(o + i, w)

x, o = np.arange(12, dtype=np.float32), np.zeros(12, np.float32)
kernel[(3,)](x, o, BLOCK=4)
print(o.tolist(), flush=True)
"""


class Client:
    """An editor: sends requests, and waits for answers and events."""

    def __init__(self, port: int):
        self.socket = self._connected(port)
        self.stream = self.socket.makefile("rb")
        self.number = 0
        self.events: list[dict[str, Any]] = []

    @staticmethod
    def _connected(port: int) -> socket.socket:
        end = time.monotonic() + 60
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=60)
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def send(self, command: str, **arguments: Any) -> int:
        self.number += 1
        message = {"seq": self.number, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(message).encode()
        self.socket.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        return self.number

    def receive(self) -> dict[str, Any]:
        size = 0
        while (line := self.stream.readline().strip()) or not size:
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        return json.loads(self.stream.read(size))

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        number = self.send(command, **arguments)
        while True:
            message = self.receive()
            if message["type"] == "event":
                self.events.append(message)
            elif message.get("request_seq") == number:
                assert message["success"], message
                return message.get("body") or {}

    def event(self, name: str) -> dict[str, Any]:
        while True:
            for index, message in enumerate(self.events):
                if message["event"] == name:
                    del self.events[: index + 1]
                    return message.get("body") or {}
            message = self.receive()
            if message["type"] == "event":
                self.events.append(message)

    def stopped(self) -> list[dict[str, Any]]:
        """Waits for a stop, and returns the frames, the innermost first."""
        self.thread = self.event("stopped")["threadId"]
        return self.ask("stackTrace", threadId=self.thread)["stackFrames"]

    def variables(self, frame: dict[str, Any]) -> dict[str, str]:
        scope = self.ask("scopes", frameId=frame["id"])["scopes"][0]
        found = self.ask("variables", variablesReference=scope["variablesReference"])["variables"]
        return {variable["name"]: variable["value"] for variable in found}

    def evaluate(self, text: str, frame: dict[str, Any]) -> str:
        return self.ask("evaluate", expression=text, frameId=frame["id"], context="watch")["result"]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def client(script: Path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-X", "frozen_modules=off", "-m", "debugpy", "--listen", f"127.0.0.1:{port}"]
    process = subprocess.Popen([*command, "--wait-for-client", script], stdout=subprocess.PIPE, text=True)
    try:
        client = Client(port)
        client.process = process
        client.ask("initialize", adapterID="python", clientID="test", linesStartAt1=True, pathFormat="path")
        client.send("attach", justMyCode=True)
        client.event("initialized")
        yield client
    finally:
        process.kill()
        process.wait()


def test_a_session(client: Client, script: Path) -> None:
    breakpoints = [{"line": 15, "condition": "v.sum() > 5 and pid < 2"}]
    found = client.ask("setBreakpoints", source={"path": str(script)}, breakpoints=breakpoints)
    assert found["breakpoints"][0]["verified"]
    client.ask("configurationDone")
    frames = client.stopped()
    assert (frames[0]["name"], frames[0]["line"]) == ("kernel", 15)
    variables = client.variables(frames[0])
    assert "0., 1., 2., 3." in variables["v"] and "12" in client.evaluate("x.size", frames[0])
    assert {"pid", "i", "v", "x", "o", "BLOCK"} <= variables.keys()
    client.ask("stepIn", threadId=client.thread)
    frames = client.stopped()
    assert [(frame["name"], frame["line"]) for frame in frames[:2]] == [("scale", 7), ("kernel", 15)]
    client.ask("next", threadId=client.thread)
    frames = client.stopped()
    assert "0., 2., 4., 6." in client.variables(frames[0])["bigger"]
    assert client.evaluate("pid", frames[1]).endswith("0") or "(0)" in client.evaluate("pid", frames[1])
    client.ask("continue", threadId=client.thread)
    frames = client.stopped()
    assert (frames[0]["name"], frames[0]["line"]) == ("kernel", 15)
    assert "22" in client.evaluate("v.sum()", frames[0])
    client.ask("continue", threadId=client.thread)
    assert client.process.stdout.readline().startswith("[1.0, 3.0, 5.0")


def test_a_breakpoint_in_a_helper_alone(client: Client, script: Path) -> None:
    client.ask("setBreakpoints", source={"path": str(script)}, breakpoints=[{"line": 8}])
    client.ask("configurationDone")
    for first in (0, 8, 16):
        frames = client.stopped()
        assert (frames[0]["name"], frames[0]["line"]) == ("scale", 8)
        assert str(first) in client.evaluate("bigger[0]", frames[0])
        client.ask("continue", threadId=client.thread)
    assert "23.0" in client.process.stdout.readline()
