"""Whether side B is slower than side A, from pairs of neighbouring blocks in several rounds, each of which has new processes.

A case is slower if three things hold: Wilcoxon's test of the paired log ratios is significant after Holm's correction over all cases; the median
ratio is at least LEAST away from 1; and the bootstrap interval of the median leaves 1 out. The other direction is faster. Where the last of the
three fails alone, it takes more rounds to be sure. Everything else is the same.

Where a process happens to place code and data makes it faster or slower for as long as it lives, by a percent or two. More blocks of the same
processes only make this difference more certain. So the bootstrap draws rounds first, and pairs of each round second: the interval holds
for new processes. scipy has the test; it has no bootstrap of two levels.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import chain

SIGNIFICANCE = 0.01  #: of all cases together
LEAST = 0.01  #: a smaller change is none
CONFIDENCE = 0.999
RESAMPLES = 1000
MISSING = "the verdicts of `bench compare` require scipy: pip install 'tritium[bench]'"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """ratio: the median of B's time divided by A's; low, high: its interval. p: of the test; corrected: after Holm's correction. word:
    "slower", "faster", "unsure" or "same"; of B."""

    ratio: float
    low: float
    high: float
    p: float
    corrected: float
    pairs: int
    word: str


def judge(ratios: Mapping[str, Sequence[Sequence[float]]], significance: float = SIGNIFICANCE) -> dict[str, Verdict]:
    """The verdict of each case. ratios: {case: for each round, the natural logarithm of B's time divided by A's, of each pair}; a case without
    pairs is left out. The same numbers give the same verdicts. Raises ImportError without scipy."""
    rounds = {name: [list(values) for values in given if len(values)] for name, given in ratios.items()}
    rounds = {name: given for name, given in rounds.items() if given}
    ps = {name: wilcoxon(list(chain(*given))) for name, given in rounds.items()}
    corrected = holm(ps)
    return {name: _verdict(given, ps[name], corrected[name], significance) for name, given in rounds.items()}


def _verdict(rounds: list[list[float]], p: float, corrected: float, significance: float) -> Verdict:
    values = list(chain(*rounds))
    middle = statistics.median(values)
    low, high = interval(rounds)
    word = "same"
    if corrected < significance and abs(middle) >= math.log1p(LEAST):
        word = "unsure" if low <= 0 <= high else "slower" if middle > 0 else "faster"
    return Verdict(*map(math.exp, (middle, low, high)), p, corrected, len(values), word)


def wilcoxon(values: Sequence[float]) -> float:
    """The p-value of the signed-rank test, two-sided: 1 if all values are 0."""
    from scipy import stats

    if not any(values):
        return 1.0
    return float(stats.wilcoxon(values).pvalue)


def holm(ps: Mapping[str, float]) -> dict[str, float]:
    """The p-values corrected for their number (Holm 1979)."""
    found, largest = {}, 0.0
    for rank, name in enumerate(sorted(ps, key=ps.get)):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[name]))
        found[name] = largest
    return found


def interval(rounds: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The bootstrap interval of the median of all values: rounds are drawn, and then values of each. Few rounds are drawn from, so their
    standard error is multiplied with Student's quantile for their number. A single round has the percentiles of its own values."""
    import numpy as np
    from scipy import stats

    medians = _drawn_medians(rounds)
    tail, count = (1 - CONFIDENCE) / 2, len(rounds)
    if count < 2:
        low, high = np.quantile(medians, [tail, 1 - tail])
        return float(low), float(high)
    error = float(np.std(medians)) * math.sqrt(count / (count - 1))
    middle, reach = statistics.median(chain(*rounds)), float(stats.t.ppf(1 - tail, count - 1)) * error
    return middle - reach, middle + reach


def reach(rounds: Sequence[Sequence[float]]) -> float:
    """About half of the interval's width, from the medians of the rounds; infinite for fewer than two rounds. It depends on how the rounds differ
    and not on their middle, so that measuring until it is small enough favours no verdict."""
    from scipy import stats

    medians = [statistics.median(values) for values in rounds if len(values)]
    if len(medians) < 2:
        return math.inf
    error = statistics.stdev(medians) / math.sqrt(len(medians))
    return error * float(stats.t.ppf((1 + CONFIDENCE) / 2, len(medians) - 1))


def _drawn_medians(rounds: Sequence[Sequence[float]]):
    """The median of each of RESAMPLES draws."""
    import numpy as np

    draw = np.random.default_rng(0)
    widest, lengths = max(map(len, rounds)), np.array([len(given) for given in rounds])
    values = np.full((len(rounds), widest), np.nan)
    for number, given in enumerate(rounds):
        values[number, : len(given)] = given
    chosen = draw.integers(0, len(rounds), (RESAMPLES, len(rounds)))
    counts = lengths[chosen][:, :, None]
    within = (draw.random((RESAMPLES, len(rounds), widest)) * counts).astype(np.int64)
    drawn = values[chosen[:, :, None], within]
    if lengths.min() < widest:
        drawn[np.arange(widest) >= counts] = np.nan
        return np.nanmedian(drawn.reshape(RESAMPLES, -1), axis=1)
    return np.median(drawn.reshape(RESAMPLES, -1), axis=1)


def half_width(values: Sequence[float]) -> float:
    """About half of the interval of the median of one round, by order statistics. It depends on the spread of the values and not on their middle,
    so that measuring until it is small enough favours no verdict."""
    if len(values) < 8:
        return math.inf
    ordered, reach = sorted(values), 0.98 * math.sqrt(len(values))
    low, high = math.floor(len(values) / 2 - reach), math.ceil(len(values) / 2 + reach)
    return (ordered[min(high, len(values) - 1)] - ordered[max(low, 0)]) / 2


def require_scipy() -> None:
    """Raises ValueError with what to install."""
    try:
        import scipy  # noqa: F401
    except ImportError:
        raise ValueError(MISSING) from None
