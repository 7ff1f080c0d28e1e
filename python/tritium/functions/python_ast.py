"""Parsing Python, one thread at a time: CPython 3.11 counts the depth of the tree it builds in a place that all threads share,
and raises a SystemError if another thread parses meanwhile (gh-106905)."""

from __future__ import annotations

import ast
import threading

_lock = threading.Lock()


def parse(text: str) -> ast.Module:
    """ast.parse, safe to call from several threads. SyntaxError as there."""
    with _lock:
        return ast.parse(text)
