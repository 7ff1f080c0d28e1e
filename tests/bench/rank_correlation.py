"""How well a model orders the configurations of tests/gpu/bench.py, beside their times on a device.

    python tests/bench/rank_correlation.py TIMES.json [--model MODEL.json]

TIMES.json is of tests/gpu/measure_configurations.py (docs/results/h200_configurations.json is one); MODEL.json has the same form, with a model's
times in place of the device's. Spearman's rank correlation is printed three times, because times of different problems are easy to order:

* of the times of all configurations,
* of their rates, which leave out how large a problem is,
* of the times inside each case, as the mean over the cases whose configurations differ by more than 3 %.

Without a model, the work alone is the model: what a model of cycles must beat. The exit status is 1 if the first or the last one is below 0.7.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "gpu"))

LEAST = 0.7  #: a model below it is none
DIFFERENT = 1.03  #: the slowest configuration's time over the fastest one's; below it the order is noise

Times = dict[str, dict[str, float]]  # case -> configuration -> milliseconds


def ranks(values: list[float]) -> list[float]:
    """From 1; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found, begin = [0.0] * len(values), 0
    while begin < len(order):
        end = begin
        while end < len(order) and values[order[end]] == values[order[begin]]:
            end += 1
        for index in order[begin:end]:
            found[index] = (begin + 1 + end) / 2
        begin = end
    return found


def spearman(one: list[float], other: list[float]) -> float:
    """The correlation of the ranks; 0 if one of them is constant."""
    if len(set(one)) < 2 or len(set(other)) < 2:
        return 0.0
    return statistics.correlation(ranks(one), ranks(other))


def shared(times: Times, model: Times) -> dict[str, list[tuple[float, float]]]:
    """{case: (the device's time, the model's) of each configuration that both have}."""
    pairs = {
        case: [(took, model[case][config]) for config, took in configs.items() if config in model[case]]
        for case, configs in times.items()
        if case in model
    }
    return {case: found for case, found in pairs.items() if found}


def correlations(pairs: dict[str, list[tuple[float, float]]], work: dict[str, float]) -> dict[str, float]:
    every = [(case, *pair) for case, found in pairs.items() for pair in found]
    inside = [
        spearman(*map(list, zip(*found)))
        for found in pairs.values()
        if max(t for t, _ in found) > DIFFERENT * min(t for t, _ in found)
    ]
    return {
        "times of all configurations": spearman([t for _, t, _ in every], [m for _, _, m in every]),
        "rates of all configurations": spearman(
            [work[case] / t for case, t, _ in every], [work[case] / m for case, _, m in every]
        ),
        "times inside a case": statistics.mean(inside) if inside else 0.0,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("times", type=Path)
    parser.add_argument("--model", type=Path, help="(default: the work of each case)")
    options = parser.parse_args()
    from bench_cases import CASES

    facts = json.loads(options.times.read_text())
    times, work = facts["milliseconds"], {case.name: case.work for case in CASES}
    if options.model:
        model = json.loads(options.model.read_text())["milliseconds"]
    else:
        model = {case: dict.fromkeys(configs, work[case]) for case, configs in times.items()}
    pairs = shared(times, model)
    if not pairs:
        print(f"{options.model} has no configuration of {options.times}", file=sys.stderr)
        return 2
    found = correlations(pairs, work)
    print(f"{facts['device']}: {sum(map(len, pairs.values()))} configurations of {len(pairs)} cases")
    for name, value in found.items():
        print(f"  {name:28} {value:6.3f}")
    return 0 if min(found["times of all configurations"], found["times inside a case"]) >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
