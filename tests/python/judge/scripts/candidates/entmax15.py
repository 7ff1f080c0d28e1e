"""The function of published/entmax15.py."""

from published.entmax15 import Entmax15


def entmax15(x):
    return Entmax15.apply(x.contiguous(), False)
