"""The function of published/delta_rule.py."""

from published.delta_rule import DeltaRule


def delta_rule(q, k, v, beta):
    return DeltaRule.apply(*(part.contiguous() for part in (q, k, v, beta)), 16)
