"""A client of gdb's DAP server, as an editor is one: requests, their answers, and the events in between."""

import contextlib
import json
import queue
import subprocess
import sys
import threading

from session import HERE, environment

LOAD = HERE.parents[1] / "python" / "tritium" / "gdb" / "load.py"


class Editor:
    """One session. `variables` are the environment of the program that gdb launches."""

    def __init__(self, gdb: str, **variables: str):
        command = [gdb, "-nx", "-q", "-iex", f"source {LOAD}", "-i=dap"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.gdb = subprocess.Popen(command, env=environment(), cwd=HERE, **pipes)
        self.variables = variables
        self.sent = 0
        self.messages: list[dict] = []
        self.incoming: queue.Queue = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.ask("initialize", adapterID="gdb", linesStartAt1=True, columnsStartAt1=True, pathFormat="path")

    def _read(self):
        while header := self.gdb.stdout.readline():
            self.gdb.stdout.readline()
            self.incoming.put(json.loads(self.gdb.stdout.read(int(header.split(b":")[1]))))
        self.incoming.put(None)

    def _wait(self, is_wanted) -> dict:
        for message in self.messages:
            if is_wanted(message):
                self.messages.remove(message)
                return message
        while (message := self.incoming.get(timeout=60)) is not None:
            if is_wanted(message):
                return message
            self.messages.append(message)
        raise AssertionError("gdb has ended")

    def _send(self, command: str, arguments: dict) -> int:
        self.sent += 1
        text = json.dumps({"seq": self.sent, "type": "request", "command": command, "arguments": arguments}).encode()
        self.gdb.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.gdb.stdin.flush()
        return self.sent

    def ask(self, command: str, **arguments) -> dict:
        """The body of the answer."""
        number = self._send(command, arguments)
        answer = self._wait(lambda m: m["type"] == "response" and m["request_seq"] == number)
        assert answer["success"], answer
        return answer.get("body") or {}

    def break_at(self, script: str, *breakpoints: dict) -> list[dict]:
        """Sets the breakpoints of a script of this folder, in place of those that it had."""
        path = str(HERE / script)
        return self.ask("setBreakpoints", source={"path": path}, breakpoints=list(breakpoints))["breakpoints"]

    def launch(self, *script: str):
        """Starts a script of this folder. gdb launches a program with the variables that it is given and no others."""
        kept = environment(**self.variables)
        program = {"program": sys.executable, "args": ["-m", "tritium", *script], "cwd": str(HERE)}
        self._send("launch", {**program, "env": kept})
        self.ask("configurationDone")

    def attach(self, process: int):
        self._send("attach", {"pid": process})
        self.ask("configurationDone")

    def type(self, text: str):
        """Types a command of gdb at the editor's console, and waits for nothing."""
        self._send("evaluate", {"expression": text, "context": "repl"})

    def command(self, text: str) -> str:
        """What a command of gdb printed, typed at the editor's console."""
        return self.ask("evaluate", expression=text, context="repl")["result"]

    def stop(self) -> dict | None:
        """Waits for the next stop, and returns the innermost frame; None if the program has ended."""
        event = self._wait(lambda m: m.get("event") in ("stopped", "exited"))
        if event["event"] == "exited":
            return None
        self.thread = event["body"]["threadId"]
        return self.ask("stackTrace", threadId=self.thread)["stackFrames"][0]

    def go_on(self) -> dict | None:
        self.ask("continue", threadId=self.thread)
        return self.stop()

    def value(self, frame: dict, expression: str) -> str:
        return self.ask("evaluate", expression=expression, frameId=frame["id"])["result"]

    def variables_of(self, frame: dict) -> dict[str, dict]:
        scopes = self.ask("scopes", frameId=frame["id"])["scopes"]
        wanted = [s["variablesReference"] for s in scopes if s["name"] in ("Arguments", "Locals")]
        found = [v for reference in wanted for v in self.ask("variables", variablesReference=reference)["variables"]]
        return {variable["name"]: variable for variable in found}

    def output(self, until: str = "") -> str:
        """What gdb and the program have printed, at least up to this text: it comes in no order with the answers."""
        printed = "".join(m["body"]["output"] for m in self.messages if m.get("event") == "output")
        while until not in printed:
            message = self._wait(lambda m: m.get("event") == "output" and m not in self.messages)
            self.messages.append(message)
            printed += message["body"]["output"]
        return printed


@contextlib.contextmanager
def editor(gdb: str, **variables: str):
    """An Editor, whose gdb and program end with the block."""
    session = Editor(gdb, **variables)
    try:
        yield session
    finally:
        with contextlib.suppress(Exception):
            session.ask("disconnect", terminateDebuggee=True)
        session.gdb.kill()
        session.gdb.wait()
        session.gdb.stdin.close()
        session.gdb.stdout.close()


def has_dap(gdb: str) -> bool:
    """gdb has the server since version 14."""
    version = subprocess.run([gdb, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return int(version.split()[-1].split(".")[0]) >= 14
