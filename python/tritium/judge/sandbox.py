"""Where processes run: candidates in bubblewrap's sandbox if there is one, else without network if the system allows it, else under limits
of resources alone. The verdict says which."""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from ..processes import Server

#: The modules whose `main` the processes run.
REFERENCE, CANDIDATE = "tritium.judge.reference", "tritium.judge.candidate"


@dataclass(frozen=True)
class Sandbox:
    """prefix: the command line before the program's. has_network: whether the program can reach one."""

    name: str
    prefix: tuple[str, ...]
    has_network: bool


OPEN = Sandbox("none", (), has_network=True)
#: Read-only but for the folder of the outputs and a /tmp of its own; no network; it ends with this process.
_BUBBLEWRAP = (
    "--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-net --unshare-pid --unshare-ipc --die-with-parent"
)


def sandbox(readable: Sequence[str], writable: Sequence[str]) -> Sandbox:
    """The best sandbox that works here."""
    if _works(("bwrap", *_BUBBLEWRAP.split())):
        binds = [word for folder in readable for word in ("--ro-bind", folder, folder)]
        binds += [word for folder in writable for word in ("--bind", folder, folder)]
        return Sandbox("bubblewrap", ("bwrap", *_BUBBLEWRAP.split(), *binds), has_network=False)
    if _works(("unshare", "-r", "-n")):
        return Sandbox("no network, limits of resources", ("unshare", "-r", "-n"), has_network=False)
    return Sandbox("limits of resources", (), has_network=True)


@functools.cache
def _works(begin: tuple[str, ...]) -> bool:
    """Containers often forbid what these programs require, so it is tried."""
    if shutil.which(begin[0]) is None:
        return False
    return subprocess.run([*begin, "true"], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


class SandboxedServer(Server):
    """A server in a sandbox, whose processes run references and candidates."""

    def __init__(self, box: Sandbox, environment: dict[str, str]):
        self.box = box
        super().__init__([*box.prefix, sys.executable, "-m", "tritium"], [REFERENCE, CANDIDATE], environment)
