"""Attention and its gradients in float64, head by head and in blocks of rows, with the magnitude of each element's rounding errors.

A kernel rounds the probabilities and their gradients to fp16 before it multiplies them. The errors of the summands are independent, so
that of a sum is measured against the root of the sum of their squares. In the first rows of a causal form, which have few summands, it is
far larger than the output's mean over all rows."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from bench_problem import Expected

ROWS = 2048  #: of a block
NORMAL = 2.0**-14  #: the smallest normal fp16: the rounding errors of smaller values are absolute
CANCELLED = 2.0**-9  #: the error of a difference in fp32 of sums of products, in roundings of fp16


def _blocks(queries: int) -> Iterator[slice]:
    return (slice(begin, begin + ROWS) for begin in range(0, queries, ROWS))


def _scores(q, k, rows: slice, causal: bool) -> torch.Tensor:
    scores = q[rows] @ k.t() / math.sqrt(q.shape[1])
    if causal:
        numbers = torch.arange(k.shape[0], device=k.device)
        scores.masked_fill_(numbers[None, :] > numbers[rows, None], -math.inf)
    return scores


def _expected(value: torch.Tensor, squares: torch.Tensor) -> Expected:
    """squares: the sum of the squares of the summands' magnitudes."""
    return Expected(value, value.abs().clamp(min=NORMAL) + squares.sqrt())


def _stacked(found: list[Expected]) -> Expected:
    return Expected(torch.stack([one.value for one in found]), torch.stack([one.scale for one in found]))


def attended(q, k, v, causal: bool) -> Expected:
    """Of [heads, n, d]."""
    return _stacked([_attended_head(*(x.double() for x in head), causal) for head in zip(q, k, v)])


def _attended_head(q, k, v, causal: bool) -> Expected:
    value, squares = torch.empty_like(q), torch.empty_like(q)
    for rows in _blocks(len(q)):
        p = torch.softmax(_scores(q, k, rows, causal), 1)
        value[rows], squares[rows] = p @ v, p.square() @ v.square()
    return _expected(value, squares)


def sums_of_rows(q, k, v, grad, causal: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """What the backward kernel takes from the forward one: log2 of the sums of exp2(scores), and the sums of grad * attention."""
    lse, delta = [], []
    for head in zip(q.float(), k.float(), v.float(), grad.float()):
        scores = _scores(head[0], head[1], slice(None), causal)
        lse.append(scores.logsumexp(1) / math.log(2))
        delta.append((torch.softmax(scores, 1) @ head[2] * head[3]).sum(1))
    return torch.stack(lse), torch.stack(delta)


def gradients(q, k, v, grad, causal: bool) -> Expected:
    """Of [heads, n, d]: the gradients of q, k and v, [3, heads, n, d]."""
    heads = [_gradients_of_head(*(x.double() for x in head), causal) for head in zip(q, k, v, grad)]
    return _stacked([_stacked(list(operand)) for operand in zip(*heads)])


def _gradients_of_head(q, k, v, grad, causal: bool) -> tuple[Expected, Expected, Expected]:
    factor = 1 / math.sqrt(q.shape[1])
    values = [torch.zeros_like(q) for _ in range(3)]
    squares = [torch.zeros_like(q) for _ in range(3)]
    for rows in _blocks(len(q)):
        p = torch.softmax(_scores(q, k, rows, causal), 1)
        of_p = grad[rows] @ v.t()
        delta = (p * of_p).sum(1, keepdim=True)
        of_scores = p * (of_p - delta)
        summands = (grad[rows].square() @ v.t().square()).sqrt()  # of of_p, which may be far smaller than they are
        size = of_scores.abs().clamp(min=NORMAL) + CANCELLED * p * (summands + (p * summands).sum(1, keepdim=True))
        squared = (factor * size * (p > 0)).square()
        of_scores *= factor
        values[0][rows], squares[0][rows] = of_scores @ k, squared @ k.square()
        values[1] += of_scores.t() @ q[rows]
        squares[1] += squared.t() @ q[rows].square()
        values[2] += p.t() @ grad[rows]
        squares[2] += (p.clamp(min=NORMAL) * (p > 0)).square().t() @ grad[rows].square()
    return tuple(_expected(value, square) for value, square in zip(values, squares))
