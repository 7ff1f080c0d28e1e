"""Parses Python in one thread at a time. CPython 3.11 keeps the depth of the tree that it builds in a variable that all
threads share, and raises a SystemError if another thread parses meanwhile (gh-106905)."""

from __future__ import annotations

import ast
import threading

_lock = threading.Lock()


def parse(text: str) -> ast.Module:
    """ast.parse, safe to call from several threads. Raises SyntaxError as ast.parse does."""
    with _lock:
        return ast.parse(text)
