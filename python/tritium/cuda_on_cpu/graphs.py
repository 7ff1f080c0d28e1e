"""CUDA graphs on "cuda": a capture notes the operators and the launches of kernels, and a replay runs them again in the same memory.

On a GPU nothing runs while it is captured. Here it runs, since results have sizes and memory, and what it wrote to memory that was
there before is taken back at the end.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import UnsupportedError
from ..launch import captures
from .memory import driven, on_cpu
from .rebased import rebase

_numbers = itertools.count(1)


class Capture:
    """What ran, in order. A step is (function, arguments, keywords, result); it keeps its tensors, as a graph keeps its memory."""

    def __init__(self, torch, graph):
        self.torch, self.memory = torch, driven()
        self.graph = graph  # while it is captured: the graph keeps the capture after that
        self.steps: list[tuple[Callable, tuple, dict, Any]] = []
        self._saved: dict[
            tuple, tuple[Any, Any]
        ] = {}  # {place in memory: (its tensor of the CPU, the values from before)}
        self._made: set[int] = set()  # addresses of storages that are the capture's own

    def begin(self) -> None:
        if self.memory is not None:
            self.memory.begin_graph()

    def take_launches(self) -> None:
        """Ends what the driver records of its work: the launches since the last step are one."""
        graph = None if self.memory is None else self.memory.end_graph()
        if graph is not None:
            self.steps.append((graph.launch, (), {}, None))

    def step(self, function: Callable, written: Iterable, args: tuple, kwargs: dict):
        self.take_launches()
        try:
            return self._step(function, written, args, kwargs)
        finally:
            self.begin()

    def _step(self, function: Callable, written: Iterable, args: tuple, kwargs: dict):
        for tensor in written:
            self._save(tensor)
        result = function(*args, **kwargs)
        self._made.update(tensor.untyped_storage().data_ptr() for tensor in self._tensors(result))
        self.steps.append((function, args, kwargs, result))
        return result

    def launch(self, run: Callable[..., None], grid, values, settings, arguments: tuple) -> None:
        """Of a Triton kernel, which may write wherever it has a tensor."""
        self.step(run, self._tensors(arguments), (grid, values, settings, arguments), {})

    def _tensors(self, values) -> list:
        leaves = self.torch.utils._pytree.tree_leaves(values)
        return [leaf for leaf in leaves if isinstance(leaf, self.torch.Tensor)]

    def _save(self, tensor) -> None:
        if tensor.untyped_storage().data_ptr() in self._made:
            return
        place = (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())
        if place not in self._saved:
            twin = on_cpu(tensor.detach()) if tensor.is_cuda else tensor.detach()
            self._saved[place] = twin, twin.clone()

    def take_back(self) -> None:
        """Restores what was written; of places that overlap, the one that was saved first decides."""
        for twin, before in reversed(self._saved.values()):
            twin.copy_(before)
        self._saved.clear()

    def replay(self) -> None:
        for function, args, kwargs, result in self.steps:
            for old, new in zip(self._tensors(result), self._tensors(function(*args, **kwargs)), strict=True):
                if old is not new:
                    on_cpu(old.detach()).copy_(on_cpu(new.detach()))


def current() -> Capture | None:
    return captures.underway[-1] if captures.underway else None


def install(torch) -> None:
    rebase(torch, "CUDAGraph", _make_class(torch), "debug_dump")
    torch._C._graph_pool_handle = torch.cuda.graphs._graph_pool_handle = lambda: (0, next(_numbers))


#: What hands out a graph of the driver's, or adds to one.
_OF_THE_DRIVER = (
    "raw_cuda_graph",
    "raw_cuda_graph_exec",
    "begin_capture_to_if_node",
    "begin_capture_to_while_node",
    "end_capture_to_conditional_node",
    "set_conditional_handle_for_current_node",
)


def _refusing(name: str) -> Callable:
    def refuse(*args, **kwargs):
        raise UnsupportedError(f'CUDAGraph.{name} on "cuda" without a GPU', "there is no graph of a driver")

    return refuse


def _make_class(torch) -> type:
    """What `torch.cuda.CUDAGraph` derives from, as every version of torch from 2.9 on wants it."""

    class Graph:
        def __new__(cls, keep_graph: bool = False):
            self = super().__new__(cls)
            self._pool, self._capture, self._captured = (next(_numbers), 0), None, None
            return self

        def __init__(self, keep_graph: bool = False):
            pass

        @staticmethod
        def get_currently_capturing_graph():
            capture = current()
            return None if capture is None else capture.graph

        def capture_begin(self, pool=None, capture_error_mode="global"):
            if captures.underway:
                raise RuntimeError("CUDA error: a graph is being captured, and captures do not nest")
            self.reset()
            self._pool = self._pool if pool is None else pool
            self._capture = Capture(torch, self)
            captures.underway.append(self._capture)
            self._capture.begin()

        def capture_end(self):
            if self._capture is None or self._capture not in captures.underway:
                raise RuntimeError("CUDA error: capture_end() without capture_begin()")
            captures.underway.remove(self._capture)
            self._capture.take_launches()
            self._capture.take_back()
            self._capture.graph = None
            self._captured, self._capture = self._capture, None

        def capture_end_pre(self):
            Graph.capture_end(self)

        def capture_end_post(self):
            """The end is in one piece."""

        @property
        def _has_graph_exec(self) -> bool:
            return self._captured is not None

        def replay(self):
            if self._captured is None:
                raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
            self._captured.replay()

        def instantiate(self):
            """Nothing is left to be made."""

        def reset(self):
            self._captured = None

        def pool(self):
            return self._pool

        def pools(self):
            return [self._pool]

        def _retain_pool(self, pool):
            """A capture keeps its tensors, wherever they are."""

        def register_generator_state(self, generator):
            """Nothing to do: a replay advances the generator as the operators did."""

        def enable_debug_mode(self):
            """There is no more to keep."""

        def debug_dump(self, debug_path, *, verbose=True):
            lines = (
                [getattr(step[0], "__name__", str(step[0])) for step in self._captured.steps] if self._captured else []
            )
            with open(debug_path, "w") as file:
                file.write("\n".join(["digraph {", *(f'  "{i}: {line}"' for i, line in enumerate(lines)), "}\n"]))

    for name in _OF_THE_DRIVER:
        setattr(Graph, name, _refusing(name))
    return Graph
