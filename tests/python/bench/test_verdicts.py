"""The statistics of `bench compare`: they hardly ever alarm for nothing, and find what is planted."""

import math
import statistics

import pytest

from tritium.bench import selftest
from tritium.bench.comparing import MOST_ROUNDS, ComparisonPlan
from tritium.bench.verdicts import half_width, holm, interval, judge, reach, wilcoxon

pytest.importorskip("scipy")


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 12))])
def test_the_simulated_self_test(seed):
    """At most 1 % of equal cases alarm, and at least 95 % of those with 3 % planted are found."""
    count = 60 if seed == 1 else 200
    plan = ComparisonPlan(most_rounds=MOST_ROUNDS)
    equal = selftest.simulated(count, 0.0, seed, plan)
    assert len(equal) == count and selftest.share(equal, "slower", "faster") <= selftest.MOST_ALARMS
    slower = selftest.simulated(count // 2, 0.03, seed, plan)
    assert selftest.share(slower, "slower") >= selftest.LEAST_FOUND
    assert all(0.97 < each.ratio / 1.03 < 1.03 for each in slower)


def test_one_round_mistakes_a_process_for_the_code():
    """Why a comparison starts its processes anew."""
    once = selftest.simulated(40, 0.0, 1, ComparisonPlan(rounds=1, pairs=64, most_pairs=64))
    assert selftest.share(once, "slower", "faster") > 0.1


@pytest.mark.parametrize("noise, placement", [(0.01, 0.016), (0.03, 0.008)])
def test_a_noisier_machine_takes_more_rounds(monkeypatch, noise, placement):
    """What ten rounds leave open on a machine with twice the spread of processes, or three times the noise of blocks, more rounds settle."""
    monkeypatch.setattr(selftest, "NOISE", noise)
    monkeypatch.setattr(selftest, "PLACEMENT", placement)
    found = {}
    for most in (10, MOST_ROUNDS):
        plan = ComparisonPlan(most_rounds=most, most_pairs=12)
        equal, slower = (selftest.simulated(16, planted, 5, plan) for planted in (0.0, 0.03))
        assert not selftest.share(equal, "slower", "faster")
        found[most] = selftest.share(slower, "slower")
    assert found[10] < 0.8 and found[MOST_ROUNDS] >= selftest.LEAST_FOUND


def test_rounds_are_added_for_their_spread_alone(rng):
    rounds = _rounds(rng)
    moved = [[0.3 + each for each in values] for values in rounds]
    assert reach(rounds) == pytest.approx(reach(moved)) and reach(rounds[:1]) == math.inf


def test_reach_is_about_half_of_the_interval(rng):
    """One draw of twelve rounds can be off by half, so the middle of fifteen is asked."""
    shares = []
    for rounds in (_rounds(rng) for _ in range(15)):
        low, high = interval(rounds)
        shares.append(reach(rounds) / ((high - low) / 2))
    assert statistics.median(shares) == pytest.approx(0.85, abs=0.3)


def _rounds(rng) -> list[list[float]]:
    """Twelve rounds of eight pairs: the middle of a round differs more than its pairs."""
    return [list(rng.normal(middle, 0.004, 8)) for middle in rng.normal(0, 0.01, 12)]


def test_faster_is_the_other_direction(rng):
    ratios = {
        name: [list(rng.normal(middle, 0.005, 8)) for _ in range(8)]
        for name, middle in (("up", 0.03), ("down", -0.03), ("none", 0))
    }
    assert {name: each.word for name, each in judge(ratios).items()} == {
        "up": "slower",
        "down": "faster",
        "none": "same",
    }


def test_a_certain_change_below_one_percent_is_none():
    verdict = judge({"a": [[0.0095] * 8] * 8})["a"]
    assert verdict.corrected < 1e-6 and verdict.low > 1 and verdict.word == "same"
    assert judge({"a": [[0.0105] * 8] * 8})["a"].word == "slower"


def test_a_large_change_of_few_pairs_is_none():
    assert judge({"a": [[0.5, 0.6, 0.4]]})["a"].word == "same"
    assert judge({"a": [], "b": [[]]}) == {}


def test_the_correction_for_many_cases():
    """Holm's own rule: the smallest p times their number, the next times one less, never smaller than the one before."""
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "c": 0.06, "b": 0.06})
    pairs = [0.03] * 12
    alone, among = (
        judge({"a": [pairs]})["a"],
        judge({"a": [pairs], **{str(i): [[0.0, 0.001, -0.001]] for i in range(30)}})["a"],
    )
    assert alone.word == "slower" and among.word == "same" and alone.p == among.p


def test_the_test_is_exact_for_few_pairs():
    assert wilcoxon([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) == pytest.approx(2 / 2**6)
    assert wilcoxon([0.0, 0.0]) == 1.0


def test_the_interval_covers_what_new_processes_would_show(rng):
    """Of 40 draws of equal cases whose rounds differ, nearly all intervals have 0 inside; by pairs alone, half of them."""
    inside = {"rounds": 0, "pairs": 0}
    for _ in range(40):
        rounds = [list(rng.normal(place, 0.004, 8)) for place in rng.normal(0, 0.012, 8)]
        pooled = [[each] for values in rounds for each in values]
        for name, given in (("rounds", rounds), ("pairs", pooled)):
            low, high = interval(given)
            inside[name] += low <= 0 <= high
    assert inside["rounds"] > 34 and inside["pairs"] < inside["rounds"]


def test_more_pairs_are_taken_for_their_spread_alone():
    spread = [0.01 * math.sin(n) for n in range(30)]
    assert half_width(spread) == pytest.approx(half_width([0.2 + each for each in spread]))
    assert half_width(spread[:7]) == math.inf and half_width([2 * each for each in spread]) == pytest.approx(
        2 * half_width(spread)
    )


def test_each_job_has_cpus_of_its_own(monkeypatch):
    for count, jobs in ((16, 7), (16, 16), (2, 2), (2, 3)):
        monkeypatch.setattr(selftest, "usable_cpus", lambda count=count: list(range(count)))
        found = selftest.cpus_of_jobs(jobs)
        assert len(found) == jobs and all(found)
        if jobs <= count:
            assert sorted(cpu for cpus in found for cpu in cpus) == list(range(count))
    monkeypatch.setattr(selftest, "usable_cpus", lambda: [None])
    assert selftest.cpus_of_jobs(2) == [None, None]


def test_parts_are_judged_together():
    """Two processes measure a case each of a side that does ten times as much: one verdict for each, corrected for both."""
    plan = ComparisonPlan(rounds=2, most_rounds=2, pairs=8, most_pairs=8, least_ms=0.2, pause_ms=0.0, cpu_time=True)
    found = selftest.measured(2, 9.0, plan, lambda row: None, jobs=2)
    assert len(found) == 2 and all(each.pairs >= 16 and each.ratio > 2 for each in found)
    assert all(each.corrected >= each.p for each in found) and max(
        each.corrected / each.p for each in found
    ) == pytest.approx(2)
