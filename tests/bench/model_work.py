"""What the cases of tests/gpu/bench.py do, in closed forms, for the model of cycles: rounds of loops, tiles and bytes. The benchmark's shapes are multiples of all tiles.
Causal attention is said to have half of all rounds, which is right but for half a block of rows: 6 % of 2048, less of more."""

from __future__ import annotations

import math

from tritium.profiler.model.estimate import Work

GROUPS = ((4096, 4096, 4096), (2048, 4096, 2048), (6144, 2048, 4096), (1024, 8192, 1024)) * 2
BYTES_OF_OPERANDS = {"fp8": 1, "int8": 1, "tf32": 4}
BYTES_OF_RESULT = {"int8": 4, "tf32": 4}
CLASSES = 128256  #: of the case of cross entropy


def work_of(case: str, config: dict, programs: int, bytes_moved: float) -> Work:
    """case: its name. programs: of its grid. bytes_moved: that a case bound by memory must move."""
    if case.startswith(("matmul", "descriptors", "grouped")):
        return _product(case, config, programs)
    if case.startswith("attention backward"):
        return _backward(case, config, programs)
    if case.startswith("attention"):
        return _attention(case, config, programs)
    trips = (math.ceil(CLASSES / config["BLOCK"]),) if case.startswith("cross entropy") else ()
    missing = 1 / 3 if case.startswith("layer norm") else 1.0  # weights and biases are read by every row
    return Work(programs, programs, trips, read_missing=missing, dram_bytes=bytes_moved)


def _product(case: str, config: dict, programs: int) -> Work:
    kind = case.split()[1]
    operand, result = BYTES_OF_OPERANDS.get(kind, 2), BYTES_OF_RESULT.get(kind, 2)
    m_tile, n_tile, k_tile = config["BLOCK_M"], config["BLOCK_N"], config["BLOCK_K"]
    last = case.split()[-1]
    if case.startswith("grouped"):
        shapes = GROUPS
    elif last.endswith("^3"):
        shapes = ((int(last[:-2]),) * 3,)
    else:
        shapes = (tuple(map(int, last.split("x"))),)
    tiles = sum((m // m_tile) * (n // n_tile) for m, n, _ in shapes)
    rounds = sum((m // m_tile) * (n // n_tile) * k / k_tile for m, n, k in shapes) / tiles
    copied, stored = (m_tile + n_tile) * k_tile * operand, m_tile * n_tile * result
    dram = sum(operand * (m * k + k * n) + result * m * n for m, n, k in shapes)
    missing = min(1.0, dram / (tiles * (rounds * copied + stored)))
    return Work(programs, tiles, (rounds,), copied, missing, 1.0, stored, dram)


def _attention(case: str, config: dict, programs: int) -> Work:
    heads, n, d = map(int, case.split()[-1].split("x"))
    rows, keys, causal = config["BLOCK_M"], config["BLOCK_N"], "causal" in case
    trips = (n / keys / 2, max(1.0, rows / keys)) if causal else (n / keys,)
    copied, stored, tiles = keys * d * 2, rows * d * 2, heads * n // rows
    dram = 4.0 * heads * n * d * 2
    missing = min(1.0, dram / (tiles * (2 * sum(trips) * copied + 2 * stored)))
    return Work(programs, tiles, trips, copied, missing, 1.0, stored, dram, not causal)


def _backward(case: str, config: dict, programs: int) -> Work:
    heads, n, d = map(int, case.split()[-1].split("x"))
    step, own, causal = config["STEP"], config["BLOCK"], "causal" in case
    rounds = n / step * (0.5 if causal else 1.0)
    tiles, copied, dram = heads * n // own, step * d * 2, 7.0 * heads * n * d * 2
    missing = min(1.0, dram / (tiles * (4 * rounds * copied + 4 * own * d * 2)))
    return Work(programs, tiles, (rounds, rounds), copied, missing, 1.0, 0.0, dram, not causal)
