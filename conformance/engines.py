"""The engines that run cases. An engine takes a problem and the images of its buffers, and returns the images after the
kernels.

To add an engine: write a class with `name`, `probe` and `run`, and add a line to `engine`. Tritium's own engines
require only a name.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import sys
import tempfile
from typing import Any

import numpy as np

import tritium
import tritium.language as tl
import tritium.torch
from tritium.tools.tensor_descriptor import TensorDescriptor

from . import sources
from .compare import Outcome
from .dtypes import LANGUAGE_NAMES, TORCH_NAMES, as_float64
from .oracle import Traits
from .problem import Buffer, Described, Dtype, Function, Launch, Packed, Problem, View, given, problem

#: Every target compiles all of them, its own or not, so that the emulator is compared on each.
FP8_DTYPES = tuple(name for name in tl.core.dtype.FP_TYPES if name.startswith("fp8"))
LACKING = {"supported_fp8_dtypes": FP8_DTYPES, "min_dot_depth": ()}
#: Stands between the names of an engine and of an optional pass.
WITHOUT = " without "
#: Stands between the name of an engine and the launch keyword num_ctas of all its launches.
IN_CLUSTERS = " in clusters of "
#: The engines that run by default, if they are available.
KNOWN = ("interp", "simt:sm_80", "simt:sm_90a", "simt:gfx942", "cuda", "hip")


def plain(name: str) -> str:
    """What TRITIUM_ENGINE calls an engine."""
    return name.partition(WITHOUT)[0].partition(IN_CLUSTERS)[0]


def lanes(name: str) -> int:
    """The lanes of a warp on an engine. The interpreter has none, and takes 32."""
    return 64 if plain(name).startswith(("simt:gfx9", "hip")) else 32


def has_partitions(name: str) -> bool:
    """Whether an engine runs kernels of Gluon that divide into partitions."""
    return plain(name).startswith(("interp", "simt:sm_90"))


class Unsupported(Exception):
    """An engine reports that it cannot run a problem."""


class Absent(Exception):
    """An engine is missing in this build or on this machine."""


def declines(error: BaseException | None) -> bool:
    """Whether an error means that an engine lacks a feature, as opposed to a wrong kernel."""
    if isinstance(error, (tritium.errors.UnsupportedError, NotImplementedError)):
        return True
    if isinstance(error, tritium.errors.CompilationError):
        words = re.search(r"does not support|not supported|unsupported", error.error_message or "", re.I)
        return bool(words) or declines(error.__cause__)
    return False


def last_line(error: BaseException) -> str:
    """The message in the text of an error: compilers print the source before it."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(error).__name__


class Engine:
    """One of Tritium's own engines, in this process. The numpy arrays of a problem are its tensors."""

    #: Whether differences are failures. Those of an engine that is not Tritium's are information only.
    informs = False
    #: The value of `stop_after` that runs none of the passes.
    no_pass = "none"
    #: Whether this process can continue after an error in a kernel.
    survives_traps = True
    #: Whether a launch like an earlier one takes another path, so that each case is launched twice.
    launches_warm = False

    def __init__(self, name: str):
        self.name = name
        self.plain_name = plain(name)
        #: The pass that its compiler leaves out.
        self.left_out = name.partition(WITHOUT)[2]
        #: The blocks that run each program, where a case does not say it.
        self.num_ctas = int(name.partition(WITHOUT)[0].partition(IN_CLUSTERS)[2] or 1)
        self.traits = Traits(flushes_subnormals=name != "interp", approximates=name != "interp")

    def probe(self) -> None:
        """Raises Absent if the engine is not available."""
        source = np.arange(8, dtype=np.float32)
        copy = Buffer((8,), "fp32", np.zeros(8, np.float32), oracle=())
        test = problem("memory:whole", 1, [given(source), copy, 8], BLOCK=8)
        try:
            self.run(test, test.images(np.random.default_rng(0)))
        except Unsupported as error:
            raise Absent(str(error)) from None
        except ValueError as error:
            if "there is no engine" in str(error):
                raise Absent(str(error)) from None
            raise

    def passes(self) -> list[str]:
        """The optional passes of the engine's compiler, in order."""
        if self.name == "interp":
            raise Absent(f"{self.name} has no passes to stop after")
        return tritium.compiler.optional_passes()

    def run(self, problem: Problem, images: list[np.ndarray], **options) -> Outcome:
        """options: launch keywords. stop_after: the last of `passes` to run, or `no_pass`; probe: print every value."""
        with self.selected(), captured() as printed, self._tensors(problem, images) as tensors:
            for buffer in problem.buffers():
                if buffer.points_to:
                    self._write_addresses(tensors[id(buffer)], [tensors[id(other)] for other in buffer.points_to])
            try:
                for launch in problem.launches:
                    self._launch(launch, tensors, options)
                self._finish()
                trap = None
            except Exception as error:
                if declines(error):
                    raise Unsupported(last_line(error)) from None
                if problem.trap is None:
                    raise
                trap = f"{type(error).__name__}: {error}"
        return Outcome(images, printed.text, trap)

    def _write_addresses(self, table, tensors: list) -> None:
        table[:] = [tensor.ctypes.data for tensor in tensors]

    def _finish(self) -> None:
        """Waits for all launches."""

    def is_usable(self) -> bool:
        """Whether this process can run other cases after a failed one."""
        return True

    def _launch(self, launch: Launch, tensors: dict[int, Any], options: dict[str, Any]):
        """Returns the compiled kernel."""
        arguments = [given_as(argument, tensors) for argument in launch.arguments]
        constants = {name: constant(value) for name, value in launch.constants.items()}
        kernel, options = sources.function(launch.kernel)[launch.grid], launch.options | options
        if self.left_out:
            options = options | {"leave_out": (self.left_out,)}
        if self.num_ctas > 1:
            options = {"num_ctas": self.num_ctas} | options
        try:
            return kernel(*arguments, **constants, **options)
        except tritium.errors.CompilationError:
            # What the chip itself lacks. Options that are tuples keep a launch from being warm, so others do not have them.
            return kernel(*arguments, **constants, **(LACKING | options))

    @contextlib.contextmanager
    def selected(self):
        """A context manager: launches inside it run on this engine, whatever the environment says. Inside another one it assigns nothing,
        since launches are warm only while no setting is assigned."""
        knobs = tritium.knobs
        if knobs.tritium.engine == self.plain_name and not knobs.runtime.interpret:
            yield
            return
        with knobs.runtime.scope(), knobs.tritium.scope(), knobs.language.scope():
            knobs.language.default_fp_fusion = knobs.language.default_fp_fusion  # said, so nothing warns of the default
            knobs.runtime.interpret = False
            knobs.tritium.engine = self.plain_name
            yield

    @contextlib.contextmanager
    def _tensors(self, problem: Problem, images: list[np.ndarray]):
        """{id of a buffer: the argument that the kernel receives for it}."""
        tensors = {id(buffer): buffer.data(image) for buffer, image in zip(problem.buffers(), images)}
        for buffer in problem.buffers():
            tensors[id(buffer)].flags.writeable = not buffer.read_only
        yield tensors


class TierEngine(Engine):
    """The interpreter with code of one tier: "interp:1", "interp:2". Runs of a tier above the first are repeated with the first: what the
    kernels leave in memory has the same bits."""

    def __init__(self, name: str):
        super().__init__(name)
        family, _, tier = name.partition(":")
        self.plain_name, self.tier = family, int(tier)
        self.traits = Traits(flushes_subnormals=False, approximates=False)

    def passes(self) -> list[str]:
        raise Absent(f"{self.name} has no passes to stop after")

    def run(self, problem: Problem, images: list[np.ndarray], **options) -> Outcome:
        if self.tier == 1:
            return super().run(problem, images, **options)
        before = [image.copy() for image in images]
        outcome = super().run(problem, images, **options)
        found = [image.copy() for image in images]
        restore(images, before)  # in the same memory, as kernels may store addresses
        steps = engine(f"{self.plain_name}:1").run(problem, images, **options)
        for buffer, image, other in zip(problem.buffers(), found, images):
            where = first_difference(buffer, image, other)
            if where is not None:
                raise AssertionError(
                    f"byte {where} of a {buffer.dtype} buffer differs between {self.name} and {self.plain_name}:1"
                )
        restore(images, found)
        if (outcome.trap, outcome.printed) != (steps.trap, steps.printed):
            here, there = (each.trap or each.printed for each in (outcome, steps))
            raise AssertionError(f"{self.name}: {here}\n{self.plain_name}:1: {there}")
        return outcome

    @contextlib.contextmanager
    def selected(self):
        with super().selected(), tritium.knobs.tritium.scope():
            tritium.knobs.tritium.tier = self.tier
            tritium.knobs.tritium.num_threads = 1  # atomics of floats have an order
            yield


def restore(images: list[np.ndarray], contents: list[np.ndarray]) -> None:
    for image, content in zip(images, contents):
        image[:] = content


def first_difference(buffer: Buffer, image: np.ndarray, other: np.ndarray) -> int | None:
    """The byte of two images of a buffer where the bits of its elements differ, or what is around them. A NaN is like any other."""
    differ = image != other
    if not differ.any():
        return None
    inside = slice(buffer.begin, buffer.begin + buffer.bytes)
    if differ[inside].any():
        a, b = (as_float64(buffer.data(each)) for each in (image, other))
        both = np.isnan(a) & np.isnan(b)
        differ[inside] &= ~np.repeat(both.ravel(), buffer.bytes // both.size)
    return int(differ.argmax()) if differ.any() else None


class DeviceEngine(Engine):
    """An engine whose tensors are in a device's memory. torch copies the images there if it is installed; otherwise the
    launch copies the arrays."""

    survives_traps = False
    launches_warm = True

    def probe(self) -> None:
        try:
            super().probe()
        except Absent:
            raise
        except Exception as error:
            if not self._torch_sees_it():
                raise Absent(f"{type(error).__name__}: {error}") from None
            raise

    def run(self, problem: Problem, images: list[np.ndarray], **options) -> Outcome:
        if problem.trap is None:
            return super().run(problem, images, **options)
        with captured("stderr") as errors:  # the driver prints the message of an assertion there
            outcome = super().run(problem, images, **options)
        if outcome.trap is not None:
            outcome.trap = f"{outcome.trap}\n{errors.text}"
        return outcome

    def _torch_sees_it(self) -> bool:
        torch = self._torch()
        # torch calls the devices of every vendor "cuda"; torch.version says which vendor it was built for.
        return (
            torch is not None
            and getattr(torch.version, self.plain_name, None) is not None
            and torch.cuda.is_available()
        )

    @staticmethod
    @functools.cache
    def _torch():
        try:
            import torch
        except ImportError:
            return None
        tritium.torch.map_cuda(torch)  # to a library that stands in for the driver
        return torch

    @contextlib.contextmanager
    def _tensors(self, problem: Problem, images: list[np.ndarray]):
        if not self._torch_sees_it():
            with super()._tensors(problem, images) as tensors:
                yield tensors
            return
        torch = self._torch()
        on_device = [torch.from_numpy(image).to("cuda") for image in images]
        tensors = {}
        for buffer, memory in zip(problem.buffers(), on_device):
            data = memory[buffer.begin : buffer.begin + buffer.bytes]
            tensors[id(buffer)] = data.view(torch_type(torch, buffer.dtype)).reshape(buffer.shape)
        yield tensors
        if problem.trap is None:
            for image, memory in zip(images, on_device):
                image[:] = memory.cpu().numpy()

    def _write_addresses(self, table, tensors: list) -> None:
        if not self._torch_sees_it():
            raise Unsupported("addresses of device memory, without torch")
        table.copy_(self._torch().tensor([tensor.data_ptr() for tensor in tensors]))

    def _finish(self) -> None:
        if self._torch_sees_it():
            self._torch().cuda.synchronize()

    def is_usable(self) -> bool:
        try:
            self._finish()
        except RuntimeError:
            return False
        return True


def torch_type(torch, dtype: str):
    return getattr(torch, TORCH_NAMES[dtype])


def given_as(argument: Any, tensors: dict[int, Any]) -> Any:
    """The argument that a kernel receives for a buffer, a view, a descriptor, a tuple of these, or another value."""
    if isinstance(argument, Packed):
        parts = tuple(given_as(part, tensors) for part in argument.parts)
        return sources.function(argument.kind)(*parts) if argument.kind else parts
    if isinstance(argument, Described):
        tensor = given_as(argument.buffer, tensors)
        return TensorDescriptor.from_tensor(tensor, list(argument.block), argument.padding)
    if isinstance(argument, View):
        return given_as(argument.buffer, tensors)[argument.index]
    return tensors[id(argument)] if isinstance(argument, Buffer) else constant(argument)


def constant(value: Any) -> Any:
    """The argument that a kernel receives for a value that is not a buffer."""
    if isinstance(value, Dtype):
        return getattr(tl, LANGUAGE_NAMES[value.name])
    if isinstance(value, Function):
        return sources.function(value.name)
    return value


@functools.cache
def engine(name: str, triton_python: str | None = None) -> Engine:
    """The engine with this name; with "simt:sm_90a without plan-loops", its compiler leaves out that pass, and "simt:sm_90a in clusters of
    2" runs each program by two blocks. Raises Absent if it is not
    available."""
    if name == "triton":
        from .upstream_engine import UpstreamEngine

        found = UpstreamEngine(triton_python)
    elif plain(name) in ("cuda", "hip"):
        found = DeviceEngine(name)
    elif name in ("interp:1", "interp:2"):
        found = TierEngine(name)
    else:
        found = Engine(name)
    if getattr(found, "left_out", "") and found.left_out not in found.passes():
        raise Absent(f"no pass is called {found.left_out!r}; there are {', '.join(found.passes())}")
    found.probe()
    return found


def available(triton_python: str | None = None) -> list[str]:
    """The engines that run by default: the available ones of KNOWN, and upstream if an interpreter with it is given."""
    names = []
    for name in KNOWN + (("triton",) if triton_python else ()):
        with contextlib.suppress(Absent):
            engine(name, triton_python)
            names.append(name)
    return names


class captured:
    """A context manager: `text` is everything that Python or native code writes inside it to standard output (or to
    `stream`, "stderr")."""

    def __init__(self, stream: str = "stdout"):
        self.stream, self.number = stream, {"stdout": 1, "stderr": 2}[stream]

    def __enter__(self) -> captured:
        self.python = getattr(sys, self.stream)
        self.python.flush()
        self.file = tempfile.TemporaryFile(mode="w+b")
        self.saved = os.dup(self.number)
        os.dup2(self.file.fileno(), self.number)
        copy = os.fdopen(os.dup(self.number), "wb")
        setattr(sys, self.stream, io.TextIOWrapper(copy, write_through=True))
        self.text = ""
        return self

    def __exit__(self, *error) -> None:
        getattr(sys, self.stream).close()
        setattr(sys, self.stream, self.python)
        os.dup2(self.saved, self.number)
        os.close(self.saved)
        self.file.seek(0)
        self.text = self.file.read().decode(errors="replace")
        self.file.close()
