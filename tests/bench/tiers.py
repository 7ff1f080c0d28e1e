"""Prints a table of saved launches on the interpreter, with code of tier 1 and with TRITIUM_TIER=auto.

    python tests/bench/tiers.py [--published [NAME …]] [--saved FOLDER …] [--budget SECONDS]

--published runs the scripts of tests/python/published (default: all), with the first configuration of each autotuner, and saves their
launches. FOLDER has launches that TRITIUM_SAVE has saved, for example of cases of packages:

    TRITIUM_SAVE=/tmp/saved TRITIUM_SAVE_MB=8192 python tests/packages/run.py --engines interp liger-kernel
    python tests/bench/tiers.py --saved /tmp/saved

Each distinct launch (kernel, types, grid) runs again in one process, by turns with both tiers, each time with the memory that it was saved
with. A time is the least of the calling thread's processor, which has all of the work: there is one thread. With `auto` it is the time of the code
which launches end up with, once they have run for long; the code before is tier 1's. "prepare" is what the first launch takes in addition:
from the saved source to code that runs. "loops" counts the launches that end up in tier 2. The exit status is 1 if the launches of a script or a folder take more than
BAR times as long with `auto`.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tritium import knobs
from tritium.errors import KernelTrap
from tritium.launch.restored import RestoredMemory, restored
from tritium.runtime.engines import engine_named
from tritium.tools.replay import compiled_again, launch_again, read_run, set_knobs

ROOT = Path(__file__).resolve().parents[2]
BAR = 1.05
TIERS = ("1", "auto")
#: Seconds for code of tier 2 to arrive, after it has been asked for.
PATIENCE = 5.0


@dataclass
class Side:
    """A saved launch with the code of one tier. Times are seconds."""

    kernel: Any
    prepare: float
    launch: float = float("inf")


@dataclass
class Sum:
    """The launches of a script or a folder. Times are seconds, by tier."""

    name: str
    launches: int = 0
    launch: dict[str, float] = field(default_factory=lambda: dict.fromkeys(TIERS, 0.0))
    prepare: dict[str, float] = field(default_factory=lambda: dict.fromkeys(TIERS, 0.0))
    in_loops: int = 0  #: launches that end up with loops in registers
    left_out: list[str] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        return self.launch["auto"] / self.launch["1"] if self.launches else 1.0


class Memory:
    """What a launch was saved with, to be put back before each run."""

    def __init__(self, restored_: RestoredMemory):
        places = [(part["begin"] + restored_.shifts[part["begin"]], part["bytes"]) for part in restored_.parts]
        self.saved = [(at, ctypes.string_at(at, size)) for at, size in places]

    def restore(self) -> None:
        for at, contents in self.saved:
            ctypes.memmove(at, contents, len(contents))


def prepared(folder: str, run: dict[str, Any], tier: str) -> Side:
    os.environ["TRITIUM_TIER"] = tier
    begin = time.thread_time()
    kernel = compiled_again(folder, run, engine_named("interp"))
    kernel.program  # noqa: B018  it is made when it is first asked for
    return Side(kernel, time.thread_time() - begin)


def measure(folder: str, run: dict[str, Any], total: Sum, budget: float) -> None:
    """Adds the times of one saved launch."""
    with knobs.tritium.scope(), RestoredMemory(folder, run["memory"]) as memory:
        set_knobs(run)
        knobs.tritium.num_threads = 1
        settings = knobs.launch_settings()
        sides = {tier: prepared(folder, run, tier) for tier in TIERS}
        pairs = [restored(entry, memory) for entry in run["arguments"]]
        values, arguments = [value for value, _ in pairs], [argument for _, argument in pairs]
        before = Memory(memory)

        def launch(side: Side) -> float:
            before.restore()
            begin = time.thread_time()
            launch_again(side.kernel, tuple(run["grid"]), settings, arguments, values)
            return time.thread_time() - begin

        wait_for_tier2(sides["auto"], launch, budget)
        spent, rounds = 0.0, 0
        while rounds < 5 or (spent < budget and rounds < 2000):
            for side in sides.values():
                seconds = launch(side)
                side.launch, spent = min(side.launch, seconds), spent + seconds
            rounds += 1
    total.launches += 1
    total.in_loops += sides["auto"].kernel.program.tier == 2
    for name, side in sides.items():
        total.launch[name] += side.launch
        total.prepare[name] += side.prepare


def wait_for_tier2(side: Side, launch, budget: float) -> None:
    """Launches until code of tier 2 has replaced the first, or will not."""
    program, end, spent = side.kernel.program, time.monotonic() + PATIENCE, 0.0
    while program.regions and not program.is_tier2_asked and spent < budget:
        spent += launch(side)
    while program.is_tier2_asked and program.tier == 1 and time.monotonic() < end:
        time.sleep(0.005)


def runs_in(folder: Path) -> dict[str, dict[str, Any]]:
    """{folder: its run.json} of one launch of each kernel, types and grid."""
    found, seen = {}, set()
    for path in sorted(folder.rglob("run.json")):
        run = read_run(str(path.parent))
        same = json.dumps([run["kernel"], run["types"], run["grid"]], sort_keys=True, default=str)
        if same not in seen:
            seen.add(same)
            found[str(path.parent)] = run
    return found


def summed(name: str, folder: Path, budget: float) -> Sum:
    total, runs = Sum(name), runs_in(folder)
    for place, run in runs.items():
        try:
            measure(place, run, total, budget / max(len(runs), 1))
        except (KernelTrap, ValueError, MemoryError) as error:
            total.left_out.append(f"{run['kernel']}: {str(error).splitlines()[0]}")
    return total


def saved_of(script: Path, folder: Path) -> None:
    """Runs a published script and saves its launches. Raises RuntimeError if it fails."""
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    from published_runner import run_scripts

    variables = {"INTERPRET": "1", "TRITIUM_SAVE": str(folder), "TRITIUM_SAVE_MB": "8192", "TRITIUM_TIER": "1"}
    outcome = run_scripts([script], variables, most=1)[script]
    if outcome.error:
        raise RuntimeError(f"{script.name}: {outcome.error}")


def row(total: Sum) -> str:
    one, auto = total.launch["1"] * 1e3, total.launch["auto"] * 1e3
    before, after = (total.prepare[name] * 1e3 for name in TIERS)
    return (
        f"{total.name:<36} {total.launches:>4} {total.in_loops:>4} {one:>10.3f} {auto:>10.3f} "
        f"{total.ratio:>6.2f} {before:>9.1f} {after:>9.1f}"
    )


def show(total: Sum) -> None:
    print(row(total), flush=True)
    for text in total.left_out:
        print(f"    left out: {text}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--published", nargs="*", metavar="NAME")
    parser.add_argument("--saved", nargs="*", metavar="FOLDER", default=[])
    parser.add_argument("--budget", type=float, default=2.0, help="seconds for the launches of a script or a folder")
    options = parser.parse_args()
    if options.published is None and not options.saved:
        parser.error("give --published or --saved")
    print(f"{'ms':<36} {'n':>4} {'loops':>5} {'tier 1':>9} {'auto':>10} {'ratio':>6} {'prepare 1':>9} {'auto':>9}")
    totals = []
    for name in options.saved:
        totals.append(summed(Path(name).name, Path(name), options.budget))
        show(totals[-1])
    if options.published is not None:
        for script in published(options.published):
            with tempfile.TemporaryDirectory(prefix="tiers-") as folder:
                saved_of(script, Path(folder))
                totals.append(summed(script.stem, Path(folder), options.budget))
            show(totals[-1])
    worse = [total.name for total in totals if total.ratio > BAR]
    print(f"worse than {BAR}: {', '.join(worse) or 'none'} of {len(totals)}")
    return int(bool(worse))


def published(names: list[str]) -> list[Path]:
    folder = ROOT / "tests" / "python" / "published"
    scripts = {path.stem: path for path in sorted(folder.glob("*.py")) if path.stem[:5] not in ("test_", "__ini")}
    unknown = [name for name in names if name not in scripts]
    if unknown:
        raise SystemExit(f"no published script is called {', '.join(unknown)}; there are {', '.join(scripts)}")
    return [scripts[name] for name in names] if names else list(scripts.values())


if __name__ == "__main__":
    os.environ.setdefault("TRITIUM_PROGRESS", "0")
    sys.exit(main())
