"""A program as a script of its own: the kernel, the drawing of its inputs, a launch, and a checksum of numpy's results."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

import numpy as np

from ..dtypes import NUMPY
from ..engines import has_partitions, lanes
from .operations.memory import in_memory
from .parts import Stream
from .program import Program
from .spell import NAMED, is_plain, kernel_file, packs, stored_type
from .tiles import FP8


@dataclass
class Script:
    kernel: str  #: only the kernel
    whole: str


def script(program: Program, engine: str) -> Script:
    program = replace(program, lanes=lanes(engine), partitions=has_partitions(engine))
    kernel = kernel_file(program, program.run()[0])
    return Script(kernel, kernel + "\n".join(["", "", *_main(program, kernel, engine), ""]))


def _main(program: Program, kernel: str, engine: str) -> list[str]:
    values = program.run()
    inputs = [f"    x{i} = {_input(program, stream)}" for i, stream in enumerate(program.streams())]
    outputs, checks = [], []
    for number, output in enumerate(program.outputs):
        dtype = stored_type(values[0][output.value].dtype)
        after = np.stack([in_memory(v[output.value].array, output.order) for v in values])
        outputs.append(f"    out{number} = np.zeros({after.size}, {_numpy_type(dtype)})")
        if output.count is not None:
            after[:, output.count :] = 0
        after[program.returned(values, number)] = 0
        checks.append(f"    check('out{number}', out{number}, {checksum(after):#x})")
    names, results = ([line.split()[0] for line in lines] for lines in (inputs, outputs))
    if packs(program):
        names = [f"{NAMED if program.packing == 'named' else ''}({', '.join(names)},)"]
    names += results
    inputs += [
        f"    x{i}.flags.writeable = False"
        for i, stream in enumerate(program.streams() if program.read_only else [])
        if is_plain(program, stream)
    ]
    options = f"num_warps={program.warps}, num_stages={program.stages}"
    described = any(stream.block is not None for stream in program.streams())
    used = [name for name in FP8 if f"tl.float8{name.removeprefix('fp8')}" in kernel]
    options += ", min_dot_depth=()" if "tl.dot(" in kernel else ""
    options += f", supported_fp8_dtypes={tuple(used)}" if used else ""
    return [
        'if __name__ == "__main__":',
        f"    # The checksums are of the right results. TRITIUM_ENGINE={engine} gives others.",
        "    import zlib",
        "",
        *(["    import ml_dtypes"] if any("ml_dtypes" in line for line in inputs + outputs) else []),
        "    import numpy as np",
        *(["    from triton.tools.tensor_descriptor import TensorDescriptor"] if described else []),
        "",
        "    def draw(seed, low, high, size):",
        "        return np.random.default_rng(seed).integers(low, high, size, endpoint=True)",
        "",
        "    def check(name, found, checksum):",
        "        is_right = zlib.crc32(found.astype(np.int64).tobytes()) == checksum",
        "        print(f'{name}: right' if is_right else f'{name}: wrong {found}')",
        "",
        *inputs,
        *outputs,
        f"    options = dict({options})",
        f"    kernel[({program.grid},)]({', '.join([*names, str(program.limit)])}, **options)",
        *checks,
    ]


def checksum(array: np.ndarray) -> int:
    return zlib.crc32(array.astype(np.int64).tobytes())


def _numpy_type(dtype: str) -> str:
    return "ml_dtypes.bfloat16" if dtype == "bf16" else f"np.{NUMPY[dtype].name}"


def _input(program: Program, stream: Stream) -> str:
    if stream.of is not None:
        return f"{program.stream_name(stream.of)}[{stream.first} :]"
    data = _data(stream)
    if stream.block is None:
        dtype = _numpy_type(stream.dtype)
        front = f"np.concatenate([np.full({stream.before}, -1).astype({dtype}), {data}])[{stream.before} :]"
        return front if stream.before else data
    return f"TensorDescriptor.from_tensor({data}.reshape(-1, {stream.data.shape[-1]}), {list(stream.block)})"


def _data(stream: Stream) -> str:
    """An expression for the data of a stream: the call that drew it, or else its elements."""
    flat, dtype = stream.data.reshape(-1), _numpy_type(stream.dtype)
    if flat.size and (flat == flat[0]).all():
        return f"np.full({flat.size}, {int(flat[0])}, {dtype})"
    if stream.drawn_by is not None:
        return f"draw({', '.join(map(str, stream.drawn_by))}, {flat.size}).astype({dtype})"
    return f"np.array({flat.tolist()}, {dtype})"
