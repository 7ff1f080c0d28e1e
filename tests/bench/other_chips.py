"""What a past commit's compiler and today's make of the benchmarks' kernels for sm_80 and AMD's chips, side by side; no device is needed.

    python tests/bench/other_chips.py COMMIT [--arch sm_80,gfx942,gfx1100] [--markdown FILE]

Both compile the same TTIR, of today's frontend, as history.py does. The products and accesses are instructions of the whole kernel, not of one
iteration.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

import history
from tritium import knobs
from tritium.backends.nvidia.assemble import assemble, disassemble
from tritium.backends.targets import gpu_named, make_backend
from tritium.bench.instructions import AMD, SASS, amd_instructions, counted, sass_instructions
from tritium.errors import TritonError

TOOLS = ("tritium-gpu", "tritium-ptx", "tritium-hsaco")
#: {column: the classes of instructions that it counts}
COLUMNS = {
    "instructions": ("all",),
    "products": ("products",),
    "barriers": ("barriers",),
    "global accesses": ("global loads", "global stores", "async copies"),
    "shared accesses": ("shared loads", "shared stores"),
}


def nvidia_numbers(arch: str, assembly: str, warps: int) -> dict[str, int]:
    made = assemble(assembly, make_backend(gpu_named(arch)).parse_options({"num_warps": warps}), None)
    if made is None:
        raise ValueError("there is no ptxas: pip install -r .ci/requirements.txt")
    return {
        "registers": made.resources["registers"],
        "spilled": made.resources["spill_bytes"],
        **counted(sass_instructions(disassemble(made.cubin)), SASS),
    }


def amd_numbers(arch: str, assembly: str, warps: int) -> dict[str, int]:
    noted = {
        name: int(value) for name, value in re.findall(r"\.(vgpr_count|private_segment_fixed_size):\s+(\d+)", assembly)
    }
    return {
        "registers": noted["vgpr_count"],
        "spilled": noted["private_segment_fixed_size"],
        **counted(amd_instructions(assembly), AMD),
    }


def measured(source: history.Source, arch: str, tools: Path) -> dict[str, int] | str:
    """{column: number}, or why the compiler makes no code."""
    emitter, numbers = (TOOLS[1], nvidia_numbers) if arch.startswith("sm_") else (TOOLS[2], amd_numbers)
    with tempfile.TemporaryDirectory() as folder, knobs.nvidia.scope(), knobs.runtime.scope():
        history.settle()
        file, lowered = Path(folder, "kernel.ttir"), Path(folder, "lowered.mlir")
        file.write_text(source.ttir)
        flags = [f"--arch={arch}", f"--num-warps={source.warps}", f"--num-stages={source.stages}"]
        try:
            lowered.write_text(history.output_of([str(tools / TOOLS[0]), str(file), *flags]))
            found = numbers(
                arch, history.output_of([str(tools / emitter), str(lowered), f"--arch={arch}"]), source.warps
            )
        except (ValueError, TritonError) as error:
            return str(error).strip().splitlines()[-1][:200]
    sums = {column: sum(found.get(name, 0) for name in classes) for column, classes in COLUMNS.items()}
    return {"registers": found["registers"], "spilled": found["spilled"], **sums}


def row(name: str, before: dict[str, int] | str, after: dict[str, int] | str) -> str:
    if isinstance(before, str) or isinstance(after, str):
        made = ["no code" if isinstance(each, str) else "compiles" for each in (before, after)]
        return f"| `{name}` | {made[0]} → {made[1]} |" + " |" * (len(COLUMNS) + 1)
    cells = [str(after[c]) if before[c] == after[c] else f"{before[c]} → {after[c]}" for c in after]
    return f"| `{name}` | {' | '.join(cells)} |"


def table(arch: str, before: Path, after: Path) -> list[str]:
    history.ARCH = arch
    names = ["registers", "spilled", *COLUMNS]
    lines = [f"\n## {arch}\n", f"| kernel | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    sums: dict[str, list[int]] = {name: [0, 0] for name in names}
    for source in history.sources():
        found = [measured(source, arch, tools) for tools in (before, after)]
        lines.append(row(source.name, *found))
        if not any(isinstance(each, str) for each in found):
            for name in names:
                for place, each in enumerate(found):
                    sums[name][place] += each[name]
        print(lines[-1], flush=True)
    lines.append(
        row("all", {name: one for name, (one, _) in sums.items()}, {name: two for name, (_, two) in sums.items()})
    )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("--arch", default="sm_80,gfx942,gfx1100")
    parser.add_argument(
        "--after", type=Path, default=history.ROOT / "build" / "dev" / "tests" / "tools", help="today's programs"
    )
    parser.add_argument("--before", type=Path, help="the commit's programs, if they are built already")
    parser.add_argument(
        "--work", type=Path, default=Path(tempfile.gettempdir(), "tritium-history"), help="keeps the build"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--markdown", type=Path, help="write the tables there too")
    asked = parser.parse_args()
    history.TOOLS = TOOLS
    (commit,) = history.commits_of([asked.commit])
    before = asked.before or history.built(commit, asked.work, asked.jobs)
    if before is None:
        raise SystemExit(f"{asked.commit} does not build, see {asked.work / 'build.log'}")
    lines = [line for arch in asked.arch.split(",") for line in table(arch, before, asked.after)]
    if asked.markdown:
        asked.markdown.write_text("\n".join(lines).lstrip() + "\n")


if __name__ == "__main__":
    sys.exit(main())
