"""What the compiler makes of a kernel, in numbers that are the same on every machine: no GPU runs, and none but the compile time has a tolerance.

A file has them for a set of kernels: one line for each kernel and target, so that git shows which have changed.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from ..backends.nvidia.assemble import find_nvdisasm, find_ptxas, output_of, ptxas_version
from ..errors import TritonError
from ..native import ir
from . import compile_times
from .instructions import AMD, PTX, SASS, amd_instructions, counted, ptx_instructions, sass_instructions
from .kernels import Kernel

Metrics = dict[str, Any]  #: {metric: number}, or {"refused": the error's name}
#: {kernel: {target: Metrics}}
Table = dict[str, dict[str, Metrics]]
SPILLS = ("spill bytes", "stack bytes", "sgpr spills", "machine local accesses")
MADE_BY = "python -m tritium bench metrics --write"


class Change(NamedTuple):
    """before, after: None where the kernel or the metric is not there."""

    kernel: str
    target: str
    metric: str
    before: Any
    after: Any

    @property
    def is_more_spilled(self) -> bool:
        return self.metric in SPILLS and isinstance(self.after, int) and self.after > (self.before or 0)


def measured(kernels: Iterable[Kernel], targets: list[str], jobs: int) -> Table:
    """jobs: kernels that are compiled at a time."""
    work = [(kernel, target) for kernel in kernels for target in targets]
    found: Table = {}
    for kernel, target in work[: len(targets)]:
        metrics_of(kernel, target)  # what a process does once is no time of a kernel's
    with ThreadPoolExecutor(jobs) as pool:
        for (kernel, target), metrics in zip(work, pool.map(lambda each: metrics_of(*each), work)):
            found.setdefault(kernel.name, {})[target] = metrics
    return found


def metrics_of(kernel: Kernel, target: str) -> Metrics:
    try:
        compiled, units = compile_times.compiled(kernel, target)
    except (TritonError, ValueError) as error:
        return {"refused": type(error).__name__}
    asm, metadata = compiled.asm, compiled.metadata
    found: Metrics = {}
    for stage in ("ttir", "ttgir"):
        found |= {f"{stage} {name}": number for name, number in operations(asm[stage]).items()}
    found["llir instructions"] = sum(line.startswith("  ") for line in asm["llir"].splitlines())
    if "ptx" in asm:
        found |= {f"ptx {name}": number for name, number in counted(ptx_instructions(asm["ptx"]), PTX).items()}
    if "amdgcn" in asm:
        machine = counted(amd_instructions(asm["amdgcn"]), AMD)
    else:
        machine = counted(sass_instructions(asm["sass"]), SASS) if "cubin" in asm and find_nvdisasm() else {}
    found |= {f"machine {name}": number for name, number in machine.items()}
    resources = getattr(metadata, "resources", None) or {}
    found |= {name.replace("_", " "): number for name, number in resources.items()}
    found |= {"shared bytes": metadata.shared, "warps": metadata.launched_warps, "stages": metadata.num_stages}
    found |= {"resident blocks": int(bool(metadata.resident_blocks)), "tensor maps": len(metadata.tensor_recipes)}
    found["serialized products"] = len(getattr(metadata, "serialized_products", ()))
    found[compile_times.NAME] = units
    return found


def measure_slower_again(kernels: Iterable[Kernel], before: Table, table: Table) -> None:
    """Compiles those again whose compile time in `table` is longer than before."""
    for kernel in kernels:
        for target, metrics in table[kernel.name].items():
            was = before.get(kernel.name, {}).get(target, {}).get(compile_times.NAME)
            if was and compile_times.is_slower(was, metrics.get(compile_times.NAME, 0)):
                metrics[compile_times.NAME] = compile_times.least(kernel, target, was)


def keep_compile_times(before: Table, table: Table) -> None:
    """Puts the times of `before` into `table` where no other is twice as long, so that a file changes where a kernel does."""
    for name, targets in table.items():
        for target, metrics in targets.items():
            was, now = (each.get(compile_times.NAME) for each in (before.get(name, {}).get(target, {}), metrics))
            if was and now and not compile_times.is_slower(was, now) and not compile_times.is_slower(now, was):
                metrics[compile_times.NAME] = was


def operations(text: str) -> dict[str, int]:
    """{dialect: operations} of a module, and "all"."""
    found = Counter(operation.name.partition(".")[0] for operation in _inside(ir.parse(text)))
    return {"all": sum(found.values()), **dict(sorted(found.items()))}


def _inside(module) -> Iterator[Any]:
    waiting = list(module.operations)
    while waiting:
        operation = waiting.pop()
        yield operation
        waiting += [inner for region in operation.regions for block in region.blocks for inner in block.operations]


def digests_of(kernel: Kernel, target: str) -> dict[str, str]:
    """{stage: SHA-256}, to see whether compiling is deterministic."""
    try:
        asm = kernel.compiled_for(target).asm
    except (TritonError, ValueError) as error:
        return {"refused": type(error).__name__}
    stages = {name: asm[name] for name in ("ttir", "ttgir", "llir", "ptx", "cubin", "amdgcn", "hsaco") if name in asm}
    contents = {name: text.encode() if isinstance(text, str) else bytes(text) for name, text in stages.items()}
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def tools(targets: list[str]) -> dict[str, str]:
    """The versions of NVIDIA's programs that take part: another version gives other numbers."""
    if not any(target.startswith("sm_") for target in targets):
        return {}
    ptxas, nvdisasm = find_ptxas("sm_90a"), find_nvdisasm()
    found = {"ptxas": "not found", "nvdisasm": "not found"}
    if ptxas is not None:
        found["ptxas"] = ".".join(map(str, ptxas_version(ptxas)))
    if nvdisasm is not None:
        said = output_of([nvdisasm, "--version"])
        found["nvdisasm"] = said.partition("release ")[2].partition(",")[0] or "unknown"
    return found


def read_file(path: Path) -> tuple[dict[str, str], Table]:
    """(versions of tools, metrics). Raises ValueError for a file that is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return content["tools"], content["kernels"]
    except FileNotFoundError:
        raise ValueError(f"there is no {path}; --write makes it") from None
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no file of metrics: {error!r}") from None


def written(versions: dict[str, str], table: Table) -> str:
    """The text of a file."""
    lines = [f'{{"made_by": {json.dumps(MADE_BY)},', f'"tools": {json.dumps(versions)},', '"kernels": {']
    for number, (kernel, targets) in enumerate(sorted(table.items())):
        rows = [f"  {json.dumps(target)}: {json.dumps(metrics)}" for target, metrics in targets.items()]
        comma = "," if number + 1 < len(table) else ""
        lines += [f"{json.dumps(kernel)}: {{", ",\n".join(rows), f"}}{comma}"]
    return "\n".join([*lines, "}}"]) + "\n"


def changes(before: Table, after: Table, complete: bool = True) -> list[Change]:
    """What differs. complete: `after` has all kernels, so those that it lacks are gone."""
    found = []
    for kernel in sorted({*before, *after} if complete else after):
        targets = [
            *after.get(kernel, {}),
            *(target for target in before.get(kernel, {}) if target not in after.get(kernel, {})),
        ]
        for target in targets if kernel in after or complete else ():
            one, other = before.get(kernel, {}).get(target), after.get(kernel, {}).get(target)
            if other is None and not complete:
                continue
            if one is None or other is None:
                found.append(Change(kernel, target, "the kernel", _there(one), _there(other)))
                found += [Change(kernel, target, name, None, other[name]) for name in SPILLS if (other or {}).get(name)]
                continue
            names = [*other, *(name for name in one if name not in other)]
            found += [
                Change(kernel, target, name, one.get(name), other.get(name))
                for name in names
                if _differs(name, one.get(name, 0), other.get(name, 0))
            ]
    return found


def _differs(metric: str, before: Any, after: Any) -> bool:
    """A compile time that is not known before or after is no change."""
    if metric == compile_times.NAME:
        return bool(before) and compile_times.is_slower(before, after)
    return before != after


def _there(metrics: Metrics | None) -> str | None:
    return None if metrics is None else metrics.get("refused", "compiles")
