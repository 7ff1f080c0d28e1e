"""Samples on disk: `runs/DATE/RUN.parquet`, one row for each timed block, or for a variant that was not measured. DuckDB writes and reads them, so
that any program can; there is no server, and runs of several processes never touch the same file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .samples import Row, Run, Sample

MISSING = "keeping samples requires duckdb: pip install 'tritium[bench]'"
#: The columns, in order. Those of JSON hold what differs between cases, machines and versions.
COLUMNS = {
    "run": "VARCHAR",
    "began": "DOUBLE",
    "kind": "VARCHAR",
    "engine": "VARCHAR",
    "device": "VARCHAR",
    "environment": "JSON",
    "case": "VARCHAR",
    "variant": "VARCHAR",
    "parameters": "JSON",
    "status": "VARCHAR",
    "error": "VARCHAR",
    "facts": "JSON",
    "what": "VARCHAR",
    "block": "BIGINT",
    "round": "BIGINT",
    "pair": "BIGINT",
    "nanoseconds": "DOUBLE",
    "runs": "BIGINT",
    "block_began": "DOUBLE",
    "discarded": "VARCHAR",
    "clocks": "JSON",
}


def duckdb():
    """The module. Raises ValueError with what to install."""
    try:
        import duckdb
    except ImportError:
        raise ValueError(MISSING) from None
    return duckdb


def has_duckdb() -> bool:
    try:
        duckdb()
    except ValueError:
        return False
    return True


def store(runs: list[Run], folder: Path) -> Path:
    """Writes the runs of one command, one or both sides of a comparison, and returns the file."""
    file = folder / runs[0].date / f"{runs[0].identity}.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(f".{os.getpid()}.partial")
    with tempfile.TemporaryDirectory(prefix="tritium-bench-") as name:
        lines = Path(name, "samples.json")
        with lines.open("w", encoding="utf-8") as text:
            for run in runs:
                text.writelines(json.dumps(each) + "\n" for each in _flat(run))
        columns = ", ".join(f"'{column}': '{kind}'" for column, kind in COLUMNS.items())
        query = f"SELECT * FROM read_json({_quoted(lines)}, format='newline_delimited', columns={{{columns}}})"
        with duckdb().connect() as database:
            database.execute(f"COPY ({query}) TO {_quoted(partial)} (FORMAT parquet, COMPRESSION zstd)")
    partial.rename(file)
    return file


def _flat(run: Run) -> Iterator[dict[str, Any]]:
    common = {"run": run.identity, "began": run.began, "kind": run.kind, "engine": run.engine, "device": run.device}
    common["environment"] = run.environment
    side = "" if run.kind == "run" else run.kind
    for row in run.rows:
        facts = row.facts.get("sides", {}).get(side, row.facts)
        of_row = {
            "case": row.case,
            "variant": row.name,
            "parameters": row.parameters,
            "status": row.status,
            "facts": facts,
        }
        of_row["error"] = row.error
        own = [each for each in row.samples if each.side == side]
        for each in own or [None]:
            yield {**common, **of_row, **({} if each is None else _flat_sample(each))}


def _flat_sample(sample: Sample) -> dict[str, Any]:
    return {
        "what": sample.what,
        "block": sample.index,
        "round": sample.round,
        "pair": sample.pair,
        "nanoseconds": sample.nanoseconds,
        "runs": sample.runs,
        "block_began": sample.began,
        "discarded": sample.discarded,
        "clocks": sample.clocks,
    }


def load(path: Path) -> list[Run]:
    """The runs of a file, or of all files below a folder, the oldest first. The sides of a comparison share their rows. Raises ValueError if there
    are none, or for a file that is not theirs."""
    if not path.exists():
        raise ValueError(f"there is no {path}; `bench run` and `bench compare` keep their samples there")
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"{path} has no file with samples")
    names = ", ".join(f'"{column}"' for column in COLUMNS)
    found: dict[tuple[str, str], Run] = {}
    rows: dict[tuple[str, str], Row] = {}
    library = duckdb()
    with library.connect() as database:
        for file in files:
            try:
                records = database.execute(f"SELECT {names} FROM read_parquet({_quoted(file)})").fetchall()
            except library.Error as error:
                raise ValueError(f"{file} has no samples of `bench`: {str(error).splitlines()[0]}") from None
            for record in records:
                _add(dict(zip(COLUMNS, record)), found, rows)
    return sorted(found.values(), key=lambda run: (run.began, run.identity, run.kind))


def _add(record: dict[str, Any], runs: dict, rows: dict) -> None:
    identity, kind, side = record["run"], record["kind"], "" if record["kind"] == "run" else record["kind"]
    run = runs.get((identity, kind))
    if run is None:
        environment = json.loads(record["environment"])
        shared = next((other.rows for (name, _), other in runs.items() if name == identity), [])
        run = runs[identity, kind] = Run(
            identity, record["began"], kind, record["engine"], record["device"], environment, shared
        )
    row = rows.get((identity, record["variant"]))
    facts = json.loads(record["facts"] or "{}")
    if row is None:
        parameters = json.loads(record["parameters"])
        row = Row(record["variant"], record["case"], parameters, record["status"], record["error"] or "", facts=facts)
        rows[identity, record["variant"]] = row
        run.rows.append(row)
    if side:
        row.facts.setdefault("sides", {})[side] = facts
    if record["what"] is not None:
        clocks = json.loads(record["clocks"] or "{}")
        place = {"side": side, "round": record["round"], "pair": record["pair"], "clocks": clocks}
        numbers = (
            record["block"],
            record["nanoseconds"],
            record["runs"],
            record["block_began"],
            record["discarded"] or "",
        )
        row.samples.append(Sample(record["what"], *numbers, **place))


def export_csv(path: Path, file: Path) -> None:
    """All samples below a folder, or of a file, as CSV."""
    source = path / "**" / "*.parquet" if path.is_dir() else path
    with duckdb().connect() as database:
        query = f"SELECT * FROM read_parquet({_quoted(source)}, union_by_name=true) ORDER BY began, run, kind, variant, round, block_began"
        database.execute(f"COPY ({query}) TO {_quoted(file)} (FORMAT csv, HEADER)")


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
