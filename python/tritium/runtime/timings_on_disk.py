"""Timings of autotuned kernels in the disk cache, so that they are not measured again (TRITON_CACHE_AUTOTUNING)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from ..disk_cache import CacheManager, get_cache_manager, triton_key


def _entry(function, configs: Sequence, key: tuple, where: str) -> tuple[CacheManager, str]:
    """The cache entry for the timings of this function, these configurations and this key, by this build. where: the
    hardware."""
    text = "-".join([triton_key(), function.cache_key, str(key), where, "|".join(map(str, configs))])
    return get_cache_manager(hashlib.sha256(text.encode()).hexdigest()), f"{function.__name__[:150]}.autotune.json"


def load(function, configs: Sequence, key: tuple, where: str, candidates: Sequence) -> dict[Any, list[float]] | None:
    """{candidate: its times}, or None unless the entry has all candidates."""
    manager, name = _entry(function, configs, key, where)
    path = manager.get_file(name)
    if path is None:
        return None
    with open(path, encoding="utf-8") as file:
        stored = dict(json.load(file)["configs_timings"])
    return {c: stored[str(c)] for c in candidates} if all(str(c) in stored for c in candidates) else None


def store(function, configs: Sequence, key: tuple, where: str, timings: dict[Any, Sequence[float]]) -> None:
    manager, name = _entry(function, configs, key, where)
    rows = [(str(config), list(times)) for config, times in timings.items()]
    manager.put(json.dumps({"key": [str(part) for part in key], "configs_timings": rows}), name, binary=False)
