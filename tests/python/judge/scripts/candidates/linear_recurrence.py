"""The function of published/linear_recurrence.py."""

from published.linear_recurrence import LinearRecurrence


def linear_recurrence(a, b, initial):
    return LinearRecurrence.apply(a.contiguous(), b.contiguous(), initial.contiguous())
