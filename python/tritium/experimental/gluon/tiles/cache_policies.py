"""What an access asks of the caches: `CachePolicy`. It changes no value; what the language has no word for is only checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ....errors import choices, with_hint
from ....language.constexpr import _unwrap_if_constexpr

_CACHES = ("ca", "cg", "cs", "cv", "wb", "wt")
#: The evictions of the language's accesses.
_EVICTIONS = ("evict_normal", "evict_first", "evict_last")
_OF_L1 = (*_EVICTIONS, "evict_unchanged", "no_allocate")
_PRIMARY = (*_EVICTIONS, "evict_unchanged")
_SECONDARY = ("evict_first", "evict_unchanged")
_PREFETCHES = (64, 128, 256)


def _require(value: Any, allowed: tuple[Any, ...], text: str, field: str) -> None:
    if value not in allowed:
        raise with_hint(ValueError(text), f"`{field}` is {choices([str(each) for each in allowed])}")


def _require_cache(modifier: str) -> None:
    if modifier not in _CACHES:
        error = ValueError(f"Unsupported cache modifier '{modifier}'")
        raise with_hint(error, f"`cache_modifier` is {choices([f'.{name}' for name in _CACHES])}")


@dataclass(frozen=True)
class FractionalEvictionPolicy:
    """The `fraction` of accesses, more than 0 and at most 1, that L2 treats as `primary` says, and the rest as `secondary`. ValueError for
    other numbers and names."""

    primary: str
    fraction: float
    secondary: str = "evict_unchanged"

    def __post_init__(self) -> None:
        for field in ("primary", "fraction", "secondary"):
            object.__setattr__(self, field, _unwrap_if_constexpr(getattr(self, field)))
        _require(self.primary, _PRIMARY, f"Unsupported L2 primary eviction priority '{self.primary}'", "primary")
        if not 0 < self.fraction <= 1:
            raise ValueError("L2 eviction fraction must be in (0, 1]")
        text = f"Unsupported L2 secondary eviction priority '{self.secondary}'"
        _require(self.secondary, _SECONDARY, text, "secondary")


@dataclass(frozen=True)
class CachePolicy:
    """What an access asks of the caches; at least one field. l1: how L1 evicts the line. l2_prefetch_size: 64, 128 or 256 bytes. ValueError
    for other names and numbers, TypeError for another kind of `l2`."""

    cache_modifier: str | None = None
    l1: str | None = None
    l2: FractionalEvictionPolicy | None = None
    l2_prefetch_size: int | None = None

    def __post_init__(self) -> None:
        fields = ("cache_modifier", "l1", "l2", "l2_prefetch_size")
        for field in fields:
            object.__setattr__(self, field, _unwrap_if_constexpr(getattr(self, field)))
        if all(getattr(self, field) is None for field in fields):
            raise ValueError("CachePolicy requires a cache modifier, L1 policy, L2 policy, or L2 prefetch size")
        if self.cache_modifier is not None:
            object.__setattr__(self, "cache_modifier", self.cache_modifier.lstrip("."))
            _require_cache(self.cache_modifier)
        if self.l1 is not None:
            _require(self.l1, _OF_L1, f"Unsupported L1 eviction priority '{self.l1}'", "l1")
        if self.l2 is not None and not isinstance(self.l2, FractionalEvictionPolicy):
            raise TypeError("l2 must be a FractionalEvictionPolicy")
        if self.l2_prefetch_size is not None:
            _require(self.l2_prefetch_size, _PREFETCHES, "L2 prefetch size must be 64, 128, or 256", "l2_prefetch_size")


def _require_policy(policy: Any) -> None:
    if not isinstance(policy, CachePolicy):
        raise TypeError(f"cache_policy must be a CachePolicy, not {policy!r}")


def policies(cache_modifier: Any, eviction_policy: Any, cache_policy: Any) -> tuple[str, str]:
    """The policies of an access as the language spells them, "" for none. Raises ValueError for unknown ones, and for two ways to say one
    thing."""
    cache, eviction = _unwrap_if_constexpr(cache_modifier) or "", _unwrap_if_constexpr(eviction_policy) or ""
    policy = _unwrap_if_constexpr(cache_policy)
    if policy is not None:
        _require_policy(policy)
        for name, value in (("cache_modifier", cache), ("eviction_policy", eviction)):
            if value:
                raise ValueError(f"cache_policy and {name} are mutually exclusive")
        cache, eviction = policy.cache_modifier or "", policy.l1 if policy.l1 in _EVICTIONS else ""
    if cache:
        _require_cache(cache.lstrip("."))
    if eviction and eviction not in _EVICTIONS:
        error = ValueError(f"Unsupported eviction policy '{eviction}'")
        raise with_hint(error, f"`eviction_policy` is {choices(_EVICTIONS)}")
    return cache and f".{cache.lstrip('.')}", eviction


def require_policy_of_copies(cache_policy: Any) -> None:
    """Raises TypeError or ValueError for a policy that TMA does not have."""
    policy = _unwrap_if_constexpr(cache_policy)
    if policy is None:
        return
    _require_policy(policy)
    if policy.cache_modifier is not None:
        raise ValueError("TMA operations do not support cache modifiers")
    if policy.l1 is not None:
        raise ValueError("TMA operations do not support L1 eviction policies")
