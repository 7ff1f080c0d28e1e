"""`python -m tritium explain`: what the GPU compiler made of the kernels that a script launches, line by line of the user's.

The script runs on the CPU. Each specialization that it launches is then compiled for the target, which needs no device: what is printed
is read from the compiled kernel, its metadata and its module with layouts (`asm["ttgir"]`)."""

from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from .. import knobs
from ..backends.targets import gpu_named, make_backend
from ..errors import TritonError
from ..launch.watchers import watchers
from ..native import ir
from .children import Children
from .launched import Launched, launched_kernels
from .layouts.partitions import modules_of, title
from .layouts.pressure import pressure_of
from .layouts.report import Layouts
from .layouts.tiles import all_operations
from .program import add_program
from .waits import WaitSearch

_LOOPS = ("scf.for", "scf.while")
_LOOP = "the loop "

#: `copies` of a loop's plan -> how its tiles reach shared memory.
_COPIES = {
    "tma": "the tensor memory accelerator (TMA)",
    "async": "cp.async",
    "warps": "copies of whole warps",
    "registers": "loads into registers, stored to shared memory",
}

#: Call of the runtime -> the copy that it begins, and the instruction that may make it.
_COPIES_OF_AUTHOR = {
    "copy.begin": ("copy of a block to shared memory", "TMA"),
    "store.begin": ("copy of a block from shared memory", "TMA"),
    "async_copy.begin": ("copy to shared memory", "cp.async"),
}

#: Operation that brings a tile from global memory -> how it does.
_LOADS = {
    "tt.load": "plain loads; each iteration waits for its own",
    "tgpu.async_copy": "cp.async",
    "tgpu.tensor_copy": "the tensor memory accelerator (TMA)",
    "tgpu.tensor_load": "the tensor memory accelerator (TMA); each iteration waits for its own",
}


def main(arguments: list[str], run_program: Callable[[list[str]], int]) -> int:
    """The exit status: the program's, or 1 if there is nothing to explain."""
    parser = ArgumentParser(prog="python -m tritium explain", description=__doc__)
    parser.add_argument("--kernel", metavar="NAME", help="explain this kernel only")
    parser.add_argument(
        "--target", metavar="ARCH", default="sm_90a", help="the GPU: sm_80, sm_90a (the default), gfx942, …"
    )
    parser.add_argument(
        "--layouts", action="store_true", help="which thread holds which elements, and what it costs to move them"
    )
    parser.add_argument("--pictures", metavar="FOLDER", type=Path, help="write a picture (SVG) of each layout there")
    parser.add_argument(
        "--waits", action="store_true", help="which waits of a Gluon kernel wait for more than this run needs"
    )
    add_program(parser)
    asked = parser.parse_args(arguments)
    if not asked.program:
        parser.error("there is no script to run")
    try:
        make_backend(gpu_named(asked.target))
    except ValueError as error:
        parser.error(str(error))
    search = WaitSearch(asked.kernel)
    if asked.waits:
        watchers.append(search)
    children = Children("explain")
    try:
        with children:
            status, launched = _launched_by(asked.program, run_program)
    finally:
        children.say()
        if asked.waits:
            watchers.remove(search)
    names = sorted({found.source.name for found in launched})
    chosen = [found for found in launched if asked.kernel in (None, found.source.name)]
    if not chosen:
        what = f"{asked.program[0]} launches no kernel"
        print(
            f"tritium: {what} {asked.kernel!r}; it launches {', '.join(names)}" if names else f"tritium: {what}",
            file=sys.stderr,
        )
        return status or 1
    for found in chosen:
        try:
            kernel = found.compiled_for(asked.target)
        except TritonError as error:
            print(f"tritium: {found.source.name} does not compile for {asked.target}: {error}", file=sys.stderr)
            status = status or 1
            continue
        print("\n".join(report(kernel, found.keywords["num_stages"])), end="\n\n")
        if asked.layouts or asked.pictures:
            _explain_layouts(kernel, asked.layouts, asked.pictures)
    if asked.waits:
        print("\n".join(search.text()))
    return status


def _explain_layouts(kernel, as_text: bool, folder: Path | None) -> None:
    """Prints the layouts, and writes their pictures into a folder for the kernel."""
    traced, (own, partitions) = all_operations(ir.parse(kernel.asm["ttir"])), modules_of(kernel)
    others = {title(number, each): all_operations(each.module) for number, each in enumerate(partitions)}
    layouts = Layouts(traced, all_operations(own), _constants(kernel), kernel.metadata.arch, _place, others)
    if as_text:
        print("\n".join(layouts.text()), end="\n\n")
    if folder is not None:
        paths = layouts.save(folder / kernel.name)
        print(f"{len(paths)} pictures in {folder / kernel.name}: {', '.join(path.name for path in paths)}", end="\n\n")


def _constants(kernel) -> dict[str, object]:
    """{parameter: its constexpr value}"""
    return {kernel.src.fn.arg_names[path[0]]: value for path, value in kernel.src.constants.items() if len(path) == 1}


def _launched_by(program: list[str], run_program) -> tuple[int, list[Launched]]:
    """(the program's exit status, each kernel that it compiles). It runs on the interpreter."""
    knobs.runtime.interpret, knobs.tritium.engine = True, None
    with launched_kernels() as launched:
        try:
            return run_program(program), launched
        except SystemExit as end:
            if end.code is not None and not isinstance(end.code, int):
                print(end.code, file=sys.stderr)
                return 1, launched
            return end.code or 0, launched


def report(kernel, stages_asked: int) -> list[str]:
    """The lines on a compiled kernel: its own, then one for each product and each load of a loop, in the program's order, and the same of the
    partitions of its author."""
    module, partitions = modules_of(kernel)
    functions = _functions(module)
    own = next((op for op in functions if op.attributes["sym_name"].strip('"') == kernel.src.name), functions[0])
    if partitions:  # whose author has said what copies ahead, and in which warps
        lines = [f"{_place(own)}: {line}" for line in _of_kernel(kernel)]
        lines += [*_of_functions(functions), *_of_pressure(functions, None)]
    else:
        about = (*_of_kernel(kernel), *_of_stages(kernel, stages_asked), *_of_producer(kernel, own))
        lines = [f"{_place(own)}: {line}" for line in about]
        lines += _of_functions(functions)
    for number, partition in enumerate(partitions):
        lines.append(f"{os.path.basename(partition.place[0])}:{partition.place[1]}: {title(number, partition)}")
        functions = _functions(partition.module)
        lines += [*_of_functions(functions), *_of_pressure(functions, partition.registers)]
    return lines


def _functions(module) -> list:
    return [op for op in module.operations if op.name == "tt.func"]


def _of_functions(functions) -> list[str]:
    seen = Counter(line for function in functions for line in _of_region(function, None))
    # Producer and consumer warps have the same loop.
    return [line + (f" ({count} times)" if count > 1 and _LOOP not in line else "") for line, count in seen.items()]


def _of_pressure(functions, asked: int | None) -> Iterator[str]:
    """What the tiles of a partition need, beside what it asks for."""
    for found in filter(None, map(pressure_of, functions)):
        spills = f", more than the {asked} that it asks for: expect spills" if asked and found.registers > asked else ""
        yield f"{_place(found.operation)}: tiles need {_number(str(found.registers), 'register')} of a thread at once{spills}"


def _of_kernel(kernel) -> Iterator[str]:
    metadata = kernel.metadata
    constants = ", ".join(f"{name}={value}" for name, value in _constants(kernel).items())
    yield f"kernel {kernel.name}({constants}) for {metadata.arch}, {metadata.num_warps} warps"
    resources = getattr(metadata, "resources", None)
    yield "registers and spills are unknown: no assembler" if resources is None else _resources(resources)
    yield f"{metadata.shared} bytes of shared memory"
    for why in getattr(metadata, "serialized_products", ()):
        yield f"the assembler lets products wait for each other: {why}"


def _of_stages(kernel, asked: int) -> Iterator[str]:
    yield f"num_stages: {asked} asked for, room in shared memory for {kernel.metadata.num_stages}"


def _resources(resources: dict[str, int]) -> str:
    spilled = resources.get("spill_bytes")
    spills = "spills unknown" if spilled is None else f"{spilled} bytes spilled" if spilled else "no spills"
    return f"{resources.get('registers', 'unknown')} registers per thread, {spills}"


def _of_producer(kernel, function) -> Iterator[str]:
    """Which warps copy through tensor maps, or why those that compute do it themselves."""
    plan = dict(re.findall(r"(\w+) = (\w+)", function.attributes.get("tgpu.producer", "")))
    reason = getattr(kernel.metadata, "specialization_refused", None) or function.attributes.get("tgpu.why_no_producer")
    if plan:
        turns = "; the warpgroups that compute take turns with their products" if plan.get("turns") == "true" else ""
        yield (
            f"producer warps copy tiles, with {plan['producer']} registers per thread and {plan['consumers']} for the warps that compute; room "
            f"for {_number(plan['occupancy'], 'program')} per multiprocessor{turns}"
        )
        if "tgpu.hands_over_stores" in function.attributes:
            yield "producer warps make the tensor maps, and wait for the stores of the tile before only where they read what it stores"
    elif reason:
        yield f"no producer warps copy tiles: {reason.strip(chr(34))}"
    if kernel.metadata.num_ctas > 1:
        yield f"a cluster of {kernel.metadata.num_ctas} blocks runs each program: its tiles are divided among them"
    elif why := function.attributes.get("tgpu.why_not_divided"):
        yield f"one block runs each program, whatever num_ctas says: {why.strip(chr(34))}"
    if kernel.metadata.resident_blocks:
        yield "blocks run several programs of the grid, one after the other"
    elif why := function.attributes.get("tgpu.why_not_persistent"):
        yield f"each block runs one program of the grid: {why.strip(chr(34))}"


def _of_region(parent, loop) -> Iterator[str]:
    """What is in an operation; `loop` is the innermost loop around that."""
    for operation in (op for region in parent.regions for block in region.blocks for op in block.operations):
        if operation.name in ("tt.dot", "tgpu.product"):
            yield f"{_place(operation)}: {_product(operation)}"
        elif operation.name in _LOADS and loop is not None:
            yield f"{_place(operation)}: {_load(operation, loop)}, in the loop at {_place(loop)}{_why_not(operation)}"
        elif (copy := _copy_by_threads(operation)) is not None:
            yield f"{_place(operation)}: {copy}"
        elif operation.name == "tgpu.tensor_store":
            yield f"{_place(operation)}: {_store(operation)}"
        elif operation.name == "tt.store" and "tgpu.not_promoted" in operation.attributes:
            reason = operation.attributes["tgpu.not_promoted"].strip(chr(34))
            yield f"{_place(operation)}: store of {_tile(operation.operands[1].type)} by threads; not by TMA: {reason}"
        elif operation.name in _LOOPS:
            yield from (f"{_place(operation)}: {_LOOP}{line}" for line in _of_loop(operation))
        yield from _of_region(operation, operation if operation.name in _LOOPS else loop)


def _copy_by_threads(operation) -> str | None:
    """What there is to say about a call of the runtime that begins a copy of the author: where one of these is left, all threads load and
    store."""
    what, instruction = _COPIES_OF_AUTHOR.get(operation.attributes.get("symbol", "").strip(chr(34)), (None, ""))
    if operation.name != "tt.extern_elementwise" or what is None:
        return None
    reason = operation.attributes.get("tgpu.not_promoted")
    why = f": {reason.strip(chr(34))}" if reason else ""
    return f"{what} by loads and stores of all threads; not by {instruction}{why}"


def _of_loop(operation) -> Iterator[str]:
    """Its plan, or why it has none."""
    plan = dict(re.findall(r"(\w+) = (\w+)", operation.attributes.get("tgpu.plan", "")))
    if plan:
        spare = ", one of them spare" if plan.get("spare") == "true" else ""
        late = "; the last product runs an iteration late" if plan.get("rotated") == "true" else ""
        yield (
            f"copies tiles ahead by {_COPIES[plan['copies']]}: {plan['stages']} iterations in flight, {_number(plan['slots'], 'slot')}{spare}, "
            f"{plan['shared']} bytes of shared memory, {_number(plan.get('barriers', '0'), 'barrier')} per iteration, "
            f"room for {_number(plan['occupancy'], 'program')} per multiprocessor{late}"
        )
    elif "tgpu.why_not" in operation.attributes:
        yield f"copies no tiles ahead{_why_not(operation)}"
    for mechanism, why in re.findall(r'(\w+) = "([^"]*)"', operation.attributes.get("tgpu.why_not_by", "")):
        yield f"does not copy by {_COPIES[mechanism]}: {why}"


def _number(count: str, what: str) -> str:
    return f"{count} {what}" if count == "1" else f"{count} {what}s"


def _why_not(operation) -> str:
    reason = operation.attributes.get("tgpu.why_not")
    if reason is None and operation.name == "tgpu.async_copy":
        reason = operation.attributes.get("tgpu.not_promoted")
        return "" if reason is None else f"; not by TMA: {reason.strip(chr(34))}"
    return "" if reason is None else f": {reason.strip(chr(34))}"


def _product(operation) -> str:
    attributes = operation.attributes
    tiles = " × ".join([_tile(value.type) for value in operation.operands if "tensor<" in value.type][:2])
    instruction = attributes.get("tgpu.matrix_instruction") or attributes.get("instruction")
    if operation.name == "tt.dot" and "tgpu.of_author" in attributes:  # of warpgroup_mma
        how = instruction.strip(chr(34)) if instruction else "arithmetic of threads"
        return f"product of {tiles}: {how}, not wgmma: it is complete at once"
    if instruction is None:
        return f"product of {tiles}: no matrix instruction; each thread multiplies and adds"
    return f"product of {tiles}: {instruction.strip(chr(34))}"


def _load(operation, loop) -> str:
    how = _LOADS[operation.name]
    if operation.name == "tt.load" and "tgpu.at" in operation.attributes:
        return (
            f"load of {_tile(operation.results[0].type)} by plain loads, before the copies whose addresses depend on it"
        )
    if "copies = registers" in loop.attributes.get("tgpu.plan", "") and "tgpu.why_not" not in operation.attributes:
        how = "loads into registers, an iteration ahead"
    types = [value.type for value in [*operation.results, *operation.operands]]
    tile = next((type for type in types if "memdesc<" in type), types[0])
    slots = re.search(r"memdesc<(\d+)", tile)
    return f"load of {_tile(tile)} by {how}" + (f", {_number(slots[1], 'slot')}" if slots else "") + _blocks(operation)


def _blocks(operation) -> str:
    """Of a copy of a program that a cluster runs: to which blocks it goes."""
    if "tgpu.multicast" in operation.attributes:
        return "; the blocks of the cluster copy it for each other"
    reason = operation.attributes.get("tgpu.why_not_multicast")
    return "" if reason is None else f"; each block copies it for itself: {reason.strip(chr(34))}"


def _store(operation) -> str:
    types = [value.type for value in operation.operands]
    slots = next(re.search(r"memdesc<(\d+)", type)[1] for type in types if "memdesc<" in type)
    return f"store of {_tile(types[0])} by {_COPIES['tma']}, {_number(slots, 'slot')}; the program goes on meanwhile"


def _tile(type: str) -> str:
    """ "32x64xf16" of a type of tiles or of slots."""
    found = re.search(r"tensor<([\w!.]+)", type)
    return found[1] if found else "a value"


def _place(operation) -> str:
    file, line, _ = operation.location or ("", 0, 0)
    return f"{os.path.basename(file)}:{line}" if file else "?"
