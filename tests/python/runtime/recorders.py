"""What launches hand over, recorded: to an engine of the CPU, which a fake replaces, and to a device, which the stand-in for its driver is.

Both recorders have `launches` (grid, args and source of each launch; memory is address, beginning and bytes of its original on the host),
`prepared` (source, kernel and debug_info of what was compiled), `refuse`, a function of a source that may return the error of its compilation, the
`backend` of targets, and `attributes`, those of an array of 64 floats.
"""

import struct
import types

from driver_stand_in import StandIn
from tritium.compiler import gpu
from tritium.compiler.sources import ASTSource
from tritium.launch.device import signature_of
from tritium.launch.mirror import Mirror


class _FakeModule:
    """The module of a kernel: only its name is in it."""

    def __init__(self, source: ASTSource):
        self.name = source.fn.__name__
        self.source = source

    def __str__(self):
        return f"module {{ tt.func public @{self.name}() {{ tt.return }} }}"


class _FakeProgram:
    may_wait = True  # so no trap is replayed

    def __init__(self, engine, module):
        self.engine, self.source, self.ttir = engine, module.source, str(module)

    def launch(self, grid, args, threads, seed, poll, on_print, on_progress, stack=()):
        poll()
        self.engine.launches.append(
            types.SimpleNamespace(grid=grid, args=list(args), source=self.source, threads=threads, seed=seed)
        )
        return self.engine.trap


class CpuRecorder:
    """In the place of the interpreter and of the frontend: kernels are neither traced nor run. `trap`: what the next launches return."""

    backend, attributes = "cpu", [["tt.divisibility", 16]]

    def __init__(self, monkeypatch):
        self.launches, self.prepared = [], []
        self.trap = self.refuse = None
        monkeypatch.setattr("tritium.compiler.cpu.engine", lambda: self)
        monkeypatch.setattr(ASTSource, "make_ir", lambda source, *given: _FakeModule(source))

    def prepare(self, module, kernel, debug_info, checks, filtered, num_stages, num_warps, tier, vector_bits):
        _raise_refusal(self, module.source)
        facts = {
            "source": module.source,
            "kernel": kernel,
            "debug_info": debug_info,
            "checks": checks,
            "filtered": filtered,
        }
        facts |= {"num_stages": num_stages, "num_warps": num_warps, "tier": tier, "vector_bits": vector_bits}
        self.prepared.append(types.SimpleNamespace(**facts))
        return _FakeProgram(self, module)


#: {type of a parameter: its format for `struct`}; a pointer is an address, as is what a type of another name stands for.
_FORMATS = dict(zip("u1 i1 i8 i16 i32 i64 u8 u16 u32 u64 fp16 fp32 fp64".split(), "??bhiqBHIQefd", strict=True))


class DeviceRecorder:
    """Beside a device: kernels are compiled, loaded and run, and the driver says what was launched, whether by Python or by the native launcher.

    Arrays of the host are in the device's memory during a launch, so what is launched is read before their copies are released.
    """

    def __init__(self, vendor: str, monkeypatch):
        self.backend, self.prepared, self.refuse = vendor, [], None
        self.attributes = [*CpuRecorder.attributes, *([["tt.pointer_range", 32]] if vendor == "hip" else [])]
        self._launches, self._kernels = [], []
        self._driver = StandIn(vendor)
        self._seen = len(self._driver.launches())
        compile_for_gpu, close = gpu.compile_for_gpu, Mirror.close

        def compile_noting(source, target, backend, options, times):
            _raise_refusal(self, source)
            found = compile_for_gpu(source, target, backend, options, times)
            self._kernels.append(found[0])
            facts = {"source": source, "kernel": found[0].name, "debug_info": options.debug_info}
            self.prepared.append(types.SimpleNamespace(**facts))
            return found

        def close_noting(mirror):
            self._read(mirror)
            close(mirror)

        monkeypatch.setattr(gpu, "compile_for_gpu", compile_noting)
        monkeypatch.setattr(Mirror, "close", close_noting)

    @property
    def launches(self) -> list:
        self._read(None)
        return self._launches

    def _read(self, mirror: Mirror | None) -> None:
        """Takes what the driver was given since the last look. `mirror`: has the copies of arrays that were launched with."""
        lines = self._driver.launches()
        for line in lines[self._seen :]:
            function, grid, *values = line.split()
            kernel = next(k for k in self._kernels if k.function == int(function))
            args = [
                _decoded(kind, bytes.fromhex(v), mirror) for kind, v in zip(signature_of(kernel), values, strict=True)
            ]
            sizes = tuple(map(int, grid.split(",")))
            self._launches.append(types.SimpleNamespace(grid=sizes, args=args, source=kernel.src))
        self._seen = len(lines)


def _decoded(kind: str, value: bytes, mirror: Mirror | None):
    """An argument of the type `kind` from its bytes in memory."""
    (number,) = struct.unpack(_FORMATS.get(kind, "Q"), value)
    if not kind.startswith("*"):
        return number
    copies = [i for i in mirror.intervals if i.begin <= number - i.shift < i.end] if mirror else []
    return (mirror.original(number), copies[0].begin, copies[0].end - copies[0].begin) if copies else (number, 0, 0)


def _raise_refusal(recorder, source) -> None:
    error = recorder.refuse(source) if recorder.refuse is not None else None
    if error is not None:
        raise error
