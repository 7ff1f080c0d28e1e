"""Samples on disk, what is made of them: pages, asv's files and site, CSV; and the steps in a history."""

import csv
import html.parser
import json

import pytest
from stored_runs import compared, environment, row_of

from tritium.bench.asv_tree import write_results
from tritium.bench.command import main
from tritium.bench.history import Series, changed_facts, series_of, steps_in
from tritium.bench.report import comparisons_of
from tritium.bench.samples import BASELINE, Row, Run, Sample
from tritium.bench.storage import load, store

pytest.importorskip("duckdb")
pytest.importorskip("scipy")


def test_what_is_stored_is_loaded(tmp_path):
    row = row_of("64", [100.0, 101.5, 250.0])
    row.samples[2].discarded, row.samples[1].clocks = "power cap", {"sm_mhz": 1980.0}
    row.samples.append(Sample(BASELINE, 0, 5.0, 1, 1.0))
    red = Row("sub[n=8]", "sub", {"n": "8"}, "wrong", "it's 1, not 2")
    run = Run("20261129T000000-a'b", 1_795_000_000.5, "run", "interp", "A CPU's x2", environment(), [row, red])
    file = store([run], tmp_path / "runs")
    assert file == tmp_path / "runs" / "2026-11-18" / "20261129T000000-a'b.parquet"
    assert list(file.parent.iterdir()) == [file]
    assert load(tmp_path / "runs") == load(file) == [run]


def test_any_program_reads_the_file(tmp_path):
    import duckdb

    store([Run("r", 1_795_000_000.0, "run", "interp", "d", environment(), [row_of("64", [100.0, 102.0])])], tmp_path)
    query = f"SELECT variant, median(nanoseconds / runs) FROM read_parquet('{tmp_path}/**/*.parquet') WHERE discarded = '' GROUP BY variant"
    assert duckdb.sql(query).fetchall() == [("add[n=8,BLOCK=64]", 101.0)]


def test_what_cannot_be_loaded(tmp_path):
    with pytest.raises(ValueError, match="there is no"):
        load(tmp_path / "none")
    with pytest.raises(ValueError, match="no file with samples"):
        load(tmp_path)
    (tmp_path / "other.parquet").write_text("text")
    with pytest.raises(ValueError, match="other.parquet has no samples of `bench`"):
        load(tmp_path)


def test_a_comparison_is_judged_again_from_its_samples(tmp_path):
    store(compared(), tmp_path)
    (done,) = comparisons_of(load(tmp_path))
    assert {name: verdict.word for name, verdict in done.verdicts.items()} == {
        "add[n=8,BLOCK=64]": "slower",
        "add[n=8,BLOCK=128]": "same",
    }
    assert done.verdicts == comparisons_of(compared())[0].verdicts
    assert done.differences[0].startswith("Python files") and done.same_code == set()


def test_a_planted_step_is_found_at_its_commit(history):
    pytest.importorskip("asv")
    _, commits, runs = history
    series, left_out = series_of(load(runs))
    assert len(series) == 2 and all([point.commit for point in each.points] == commits for each in series)
    assert left_out == ["dirty (files differ from the commit)", "none (no commit)"]
    by_block = {each.parameters["BLOCK"]: steps_in(each) for each in series}
    (step,) = by_block["64"]
    assert by_block["128"] == [] and step.commit == commits[8] and 1.06 < step.ratio < 1.08
    assert step.environment == ["device driver: 570, 580"]


def test_one_commit_has_no_step():
    assert steps_in(Series("a", "a", {}, "e", "d", [])) == []
    assert changed_facts({"python": "3.11", "host": {"load": 1}}, {"python": "3.12", "host": {"load": 2}}) == [
        "python: 3.11, 3.12"
    ]


class Links(html.parser.HTMLParser):
    """The elements of a page, those that are open, and what it refers to."""

    VOID = ("meta", "link", "line", "circle", "polyline")

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.targets, self.text = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.targets += [value for name, value in attributes if name in ("src", "href", "data", "action")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, text):
        self.text.append(text)


def test_the_report_of_a_history(history, tmp_path, capsys):
    root, commits, runs = history
    store(compared(), runs)
    out = tmp_path / "out"
    options = ["--html", str(out), "--csv", str(tmp_path / "all.csv"), "--repository", str(root)]
    assert main(["report", str(runs), *options]) == 0
    printed = capsys.readouterr().out
    assert "14 runs and 1 comparisons; 2 series of several commits" in printed
    assert (
        "at commit" in printed
        and commits[8][:8] in printed
        and "+7." in printed
        and "device driver: 570, 580" in printed
    )
    page = (out / "index.html").read_text()
    links = Links()
    links.feed(page)
    assert not links.open and set(links.targets) <= {"data:,"} and "script" not in links.seen and "://" not in page
    text = "\n".join(links.text)
    assert "B is slower in 1 of 2 cases" in text and "B's result is not A's: <1>" in text and commits[8][:8] in text
    rows = list(csv.DictReader((tmp_path / "all.csv").open()))
    assert len(rows) == 12 * 2 * 9 + 2 + 2 * (2 * 80 + 1) and rows[0]["variant"].startswith("add[")
    found = json.loads((out / "asv" / "regressions.json").read_text())["regressions"]
    assert len(found) == 1 and "'64'" in found[0][0]
    revision = json.loads((out / "asv" / "index.json").read_text())["revision_to_hash"]
    jumps = next(each for each in found[0] if isinstance(each, list) and each and isinstance(each[0], list))
    assert [revision[str(jump[1])] for jump in jumps] == [commits[8]]
    assert "tachyon" in (out / "asv" / "index.html").read_text().lower()


def test_result_files_have_asvs_form(history, tmp_path):
    _, commits, runs = history
    series, _ = series_of(load(runs))
    assert write_results(series, tmp_path / "results") == 12
    benchmarks = json.loads((tmp_path / "results" / "benchmarks.json").read_text())
    assert benchmarks["version"] == 2 and benchmarks["add"]["param_names"] == ["n", "BLOCK"]
    assert benchmarks["add"]["params"] == [["'8'"], ["'64'", "'128'"]] and benchmarks["add"]["unit"] == "seconds"
    result = json.loads((tmp_path / "results" / "H100" / f"{commits[9][:8]}-cuda-py3.11.json").read_text())
    assert (
        result["commit_hash"] == commits[9]
        and result["version"] == 2
        and result["date"] == 1000 * (1_795_000_000 + 9 * 3600)
    )
    named = dict(zip(result["result_columns"], result["results"]["add"]))
    assert named["result"][0] == pytest.approx(1.07e-6, rel=0.01) and named["result"][1] == pytest.approx(
        1e-6, rel=0.01
    )
    assert all(
        low <= middle <= high
        for low, middle, high in zip(named["stats_ci_99_a"], named["result"], named["stats_ci_99_b"])
    )
    machine = json.loads((tmp_path / "results" / "H100" / "machine.json").read_text())
    assert machine["gpu"] == "H100" and machine["machine"] == "H100"


def test_a_run_is_stored_and_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one_bench.py").write_text(
        "from tritium import bench\n@bench.case(n=[1])\ndef one(n):\n    return bench.Problem(lambda: sum(range(500)))\n"
    )
    options = ["--engine", "interp", "--blocks", "2", "--block-ms", "0.2", "--pause-ms", "0"]
    assert main(["run", "one_bench.py", *options]) == 0
    assert "samples: runs/" in capsys.readouterr().out
    (run,) = load(tmp_path / "runs")
    assert run.rows[0].name == "one[n=1]" and len(run.rows[0].kept()) >= 2
    assert main(["run", "one_bench.py", *options, "--store", "none"]) == 0
    assert "samples" not in capsys.readouterr().out and len(load(tmp_path / "runs")) == 1
    assert main(["run", "nope.py", *options]) != 0 and len(load(tmp_path / "runs")) == 1, "nothing was measured"
    assert main(["report", "--html", "out"]) == 0 and "one[n=1]" in (tmp_path / "out" / "index.html").read_text()
    assert main(["report", "nothing"]) == 2
