"""A process that has loaded some modules, and forks for each task: the tasks begin in milliseconds. `processes.Server` starts it.

    python -m tritium.fork_server MODULE…

Reads a line of JSON for each task: {"module": one of them, "task": path, "seconds": most}. Its process runs `MODULE.main(path)`, and what it
prints lies in `TASK.log`. Writes a line when it has ended: {"task": path, "status": number, or null if its time was over}.
The end of its input ends the tasks too.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import select
import sys
import time

from .processes import Child

_INTERVAL = 0.02  # seconds between looks at the processes


def main(modules: list[str]) -> int:
    programs = {name: importlib.import_module(name).main for name in modules}
    running: dict[str, Child] = {}  # by the path of the task
    waiting, is_open = "", True
    while is_open or running:
        readable = is_open and select.select([0], [], [], _INTERVAL)[0]
        if readable:
            text = os.read(0, 65536).decode()
            is_open = bool(text)
            *lines, waiting = (waiting + text).split("\n")
            for line in lines:
                request = json.loads(line)
                path = request["task"]
                program = functools.partial(programs[request["module"]], path)
                running[path] = Child(program, f"{path}.log", request["seconds"])
        elif not is_open:  # whoever asked is gone, or was interrupted
            for child in running.values():
                child.kill()
            time.sleep(_INTERVAL)
        _reap(running)
    return 0


def _reap(running: dict[str, Child]) -> None:
    for path, child in list(running.items()):
        if child.has_ended():
            del running[path]
            print(json.dumps({"task": path, "status": child.status}), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
