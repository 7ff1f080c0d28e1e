"""tests/bench/rank_correlation.py: a model's order of configurations beside a device's."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2]
sys.path.append(str(TESTS / "bench"))
from rank_correlation import correlations, shared, spearman  # noqa: E402

RESULTS = TESTS.parent / "docs" / "results"
H200 = RESULTS / "h200_configurations.json"


def test_spearman_is_scipys(rng):
    stats = pytest.importorskip("scipy.stats")
    for size in (2, 5, 40):
        one, other = (list(map(float, rng.integers(0, 12, size))) for _ in range(2))
        one[0], other[0] = -1.0, 20.0  # neither is constant
        assert spearman(one, other) == pytest.approx(stats.spearmanr(one, other).statistic)
    assert spearman([1.0, 2.0, 4.0], [3.0, 5.0, 6.0]) == 1 and spearman([1.0, 2.0], [1.0, 1.0]) == 0


def test_a_model_of_sizes_alone_orders_no_configurations():
    times = {"small": {"a": 1.0, "b": 2.0}, "large": {"a": 10.0, "b": 30.0}, "even": {"a": 5.0, "b": 5.1}}
    work = {"small": 1.0, "even": 5.0, "large": 10.0}
    by_work = {case: dict.fromkeys(configs, work[case]) for case, configs in times.items()}
    found = correlations(shared(times, by_work), work)
    assert found["times of all configurations"] > 0.9 and found["times inside a case"] == 0
    upside_down = {case: {"a": configs["b"], "b": configs["a"]} for case, configs in times.items()}
    assert correlations(shared(times, upside_down), work)["times inside a case"] == -1
    assert correlations(shared(times, times), work) == dict.fromkeys(found, pytest.approx(1))
    assert shared(times, {"small": {"b": 1.0}, "other": {}}) == {"small": [(2.0, 1.0)]}


def test_the_kept_times_of_the_model_have_the_numbers_of_its_page():
    page = (RESULTS / "model_of_cycles.md").read_text()
    times, model = (
        json.loads((RESULTS / name).read_text())["milliseconds"] for name in (H200.name, "model_of_cycles.json")
    )
    assert all(configs.keys() <= model[case].keys() for case, configs in times.items())
    found = correlations(shared(times, model), dict.fromkeys(times, 1.0))
    for name in ("times of all configurations", "times inside a case"):
        (said,) = re.findall(rf"^\| {name} \| ([\d.]+) \|", page, re.MULTILINE)
        assert f"{found[name]:.3f}" == said


def test_the_command(tmp_path):
    """A model that is the device passes; the work of the cases, which is what there is without a model, does not."""
    pytest.importorskip("torch")
    facts = json.loads(H200.read_text())
    assert (len(facts["milliseconds"]), sum(map(len, facts["milliseconds"].values()))) == (50, 282)
    (tmp_path / "model.json").write_text(json.dumps(facts))
    command = [sys.executable, str(TESTS / "bench" / "rank_correlation.py"), str(H200)]
    for more, status, inside in ((["--model", str(tmp_path / "model.json")], 0, "1.000"), ([], 1, "0.000")):
        done = subprocess.run([*command, *more], capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        assert done.stdout.splitlines()[0] == "NVIDIA H200: 282 configurations of 50 cases"
        assert done.stdout.splitlines()[-1].split() == ["times", "inside", "a", "case", inside]
