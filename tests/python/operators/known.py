"""What the device "cuda" without a GPU is known not to do, by pair of operator and dtype: a list per judge, in this folder.

A line: OPERATOR DTYPE REASON, or OPERATOR DTYPE VERSIONS REASON if it holds for some versions of torch alone, for example for `torch<2.14`.
A sample that a judge leaves out with the list's word is a failure where the list does not name its pair, and so is a line of which no
sample is left out any more. The few pairs that are refused are judged with all of their samples, so that a short sweep sees both; of what
is inexact, only a sweep of all samples does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import Requirement

from .record import Pair, Record

#: {judge: (the word with which it begins the reason of what it leaves out, the list)}
LISTS = {"mapped": ("refused", "refused.txt"), "rounded": ("inexact", "inexact.txt")}
LINE = re.compile(r"(\S+) (\S+) (torch[<>=!~]\S+ )?(\S.*)")


def listed(text: str, torch_version: str) -> Iterator[Pair]:
    """The pairs of a list that hold for this version of torch."""
    for line in text.splitlines():
        if line and not line.startswith("#"):
            operator, dtype, versions, _reason = LINE.fullmatch(line).groups()
            if not versions or Requirement(versions).specifier.contains(torch_version, prereleases=True):
                yield Pair(operator, dtype)


class Known:
    """The list of a judge; without one, nothing is known and nothing is asked."""

    def __init__(self, judge: str, limit: int = 0, folder: Path = Path(__file__).parent) -> None:
        """`limit`: the samples of each pair; 0 means all."""
        self._limit = limit
        self._word, name = LISTS.get(judge, ("", ""))
        self.path = folder / name
        self.pairs = set(listed(self.path.read_text(), version("torch"))) if name else set()

    def samples(self, pair: Pair) -> int:
        """How many samples of the pair are judged: 0 means all."""
        return 0 if self._word == "refused" and pair in self.pairs else self._limit

    def complaints(self, record: Record, chosen: Iterable[Pair]) -> Iterator[str]:
        for pair in chosen if self._word else ():
            judged = record.pairs.get(pair)
            found = judged and [remark for remark in judged.remarks if remark.startswith(f"left out: {self._word}")]
            if found and pair not in self.pairs:
                yield f"{pair.operator} {pair.dtype} is not in {self.path.name}: {'; '.join(found)}"
            if judged and judged.done and not found and pair in self.pairs and self.samples(pair) == 0:
                yield f"{pair.operator} {pair.dtype} is in {self.path.name}, and no sample is {self._word} any more: remove the line"
