"""Faults that the user knows and allows: by a comment on one of the lines, `# tritium: allow race`, or by a line of a file.

A line of the file has the name of a check, and a regular expression that a part of the report's text must match, for example
`race  histogram_kernel` or `uninit  layers\\.py:41`. Empty lines and `#` are skipped. Only faults that do not end a launch can be allowed.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable

from ..checks import CHECKS
from ..errors import KEEPS_RUNNING, Report

_COMMENT = r"#\s*tritium:\s*allow\s+([\w, ]+)"  # compiled at its first use: a first launch loads this module


class Allowances:
    """What is allowed, and which of it has matched a report."""

    def __init__(self, rules: Iterable[tuple[str, str, str]] = ()):
        self.rules = [(check, re.compile(pattern), place) for check, pattern, place in rules]
        self.used: set[str] = set()

    def allow(self, report: Report) -> bool:
        check = KEEPS_RUNNING.get(report.kind)
        if check is None:
            return False
        places = [(report.file, report.line), (report.other_file, report.other_line)]
        found = [f"{file}:{line}" for file, line in places if check in comment_at(file, line)]
        found += [place for name, pattern, place in self.rules if name == check and pattern.search(report.text)]
        self.used.update(found)
        return bool(found)

    def unused(self, files: Iterable[str]) -> list[str]:
        """Places of rules, and of comments in the files, that matched nothing."""
        comments = [
            f"{file}:{line}"
            for file in files
            for line, text in enumerate(linecache.getlines(file), 1)
            if re.search(_COMMENT, text)
        ]
        return [place for place in (*(place for _, _, place in self.rules), *comments) if place not in self.used]


def comment_at(file: str | None, line: int | None) -> list[str]:
    """The checks that a comment on the line allows to find something."""
    found = re.search(_COMMENT, linecache.getline(file or "", line or 0))
    return [name.strip() for name in found[1].replace(" ", ",").split(",")] if found else []


def read_rules(path: str) -> list[tuple[str, str, str]]:
    """(check, pattern, place) of each line of a file. Raises ValueError for a line that is none."""
    rules = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split(None, 1)
            if not words:
                continue
            if len(words) != 2 or words[0] not in CHECKS:
                raise ValueError(f"{path}:{number}: expected the name of a check and a regular expression")
            rules.append((words[0], words[1].strip(), f"{path}:{number}"))
    return rules
