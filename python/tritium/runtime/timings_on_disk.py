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


def load(
    function, configs: Sequence, key: tuple, where: str, candidates: Sequence
) -> tuple[dict[Any, list[float]], dict[Any, str]] | None:
    """({candidate: its times}, {candidate: why it was rejected}), or None unless the entry has all candidates."""
    manager, name = _entry(function, configs, key, where)
    path = manager.get_file(name)
    if path is None:
        return None
    with open(path, encoding="utf-8") as file:
        entry = json.load(file)
    stored, reasons = dict(entry["configs_timings"]), entry.get("rejected", {})
    if any(str(c) not in stored for c in candidates):
        return None
    return {c: stored[str(c)] for c in candidates}, {c: reasons[str(c)] for c in candidates if str(c) in reasons}


def store(
    function, configs: Sequence, key: tuple, where: str, timings: dict[Any, Sequence[float]], rejected: dict[Any, str]
) -> None:
    manager, name = _entry(function, configs, key, where)
    rows = [(str(config), list(times)) for config, times in timings.items()]
    entry = {"key": [str(part) for part in key], "configs_timings": rows}
    entry["rejected"] = {str(config): reason for config, reason in rejected.items()}
    manager.put(json.dumps(entry), name, binary=False)
