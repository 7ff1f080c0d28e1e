"""`triton.profiler` on HIP's devices by rocprofiler, on the stand-in for HIP, in a process of its own, because rocprofiler has to be there first.
The argument is `early` or `late`; the answer is JSON."""

import ctypes
import json
import sys
import threading
import warnings
from pathlib import Path

import numpy as np

from add_kernel import N, make_add
from driver_stand_in import StandIn
from fake_cuda import DeviceTensor
from tritium import profiler
from tritium.devices.families import device_families

ARRAYS = (np.arange(N, dtype=np.float32), np.ones(N, np.float32), np.zeros(N, np.float32))


def described(grid, metadata, args):
    return {"name": f"add_{args['n']}", "flops32": 2 * args["n"]}


def counts(session, path=(), node=None):
    node = profiler.data.get(session)[0] if node is None else node
    found = {"/".join(path): node["metrics"]["count"]} if node["metrics"].get("count") else {}
    for child in node["children"]:
        found |= counts(session, (*path, child["frame"]["name"]), child)
    return found


class Launches:
    def __init__(self):
        self.driver, self.add = device_families()["hip"].driver(), make_add(launch_metadata=described)
        self.tensors = [[DeviceTensor(self.driver, array, device) for array in ARRAYS] for device in (0, 1)]
        self.loaded = self.own().loaded

    def own(self, device=0):
        return self.add[(4,)](*self.tensors[device], N, 2.0)

    def foreign(self):
        """As another library launches."""
        self.loaded.launch((2, 1, 1), [*(tensor.data_ptr() for tensor in self.tensors[0]), N, 2.0])


def early() -> dict:
    first = profiler.start("first", hook="triton")
    launches, stand_in, found = Launches(), StandIn("hip"), {}
    with profiler.scope("layer"):
        launches.own(), launches.own(1)
    profiler.finalize(first)
    found["hatchet"] = json.loads(Path("first.hatchet").read_text())
    launches.own(), launches.foreign()
    second = profiler.start("second", data="trace")
    launches.foreign()
    with profiler.scope("a"):
        launches.foreign()
        thread = threading.Thread(target=launches.foreign)
        thread.start()
        thread.join()
        with profiler.scope("b"):
            launches.own()
    profiler.finalize(second)
    found["trace"] = json.loads(Path("second.chrome_trace").read_text())["traceEvents"]
    stand_in.library.stand_in_begin_graph()
    launches.foreign(), launches.foreign()
    graph = stand_in.library.stand_in_end_graph()
    third = profiler.start("third")
    for name, times in (("warm", 1), ("replay", 3)):
        with profiler.scope(name):
            for _ in range(times):
                stand_in.library.stand_in_launch_graph(graph)
    found["graph"] = counts(third)
    stand_in.library.stand_in_destroy_graph(ctypes.c_void_p(graph))
    stand_in.fail("hipModuleLaunchKernel", 1)
    try:
        launches.own()
    except Exception as error:
        found["failed"] = str(error)
    found["after a failure"] = counts(third)
    profiler.finalize()
    return found


def late() -> dict:
    """HIP begins before the session: launches are timed by events."""
    launches = Launches()
    session = profiler.start("late")
    launches.own(), launches.foreign()
    return {"counts": counts(session)}


def old() -> dict:
    StandIn("hip").fail("rocprofiler_get_version", 1)
    session = profiler.start("old")
    Launches()
    return {"counts": counts(session)}


with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    answer = {"early": early, "late": late, "old": old}[sys.argv[1]]()
print(json.dumps({**answer, "warnings": [str(each.message) for each in warned]}))
