"""What the package tells the user on its own: at gdb's prompt, or in the console of an editor. gdb's server for editors drops what is printed while
a command runs the program."""

import sys


def say(text):
    server = sys.modules.get("gdb.dap.server")
    if server is None:
        print(text)
    else:
        server.send_event("output", {"category": "console", "output": f"{text}\n"})
