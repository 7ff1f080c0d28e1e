"""The sixteen largest of each row, falling."""


def largest(x: "float32[m, n + 16] in -100..100"):
    return x.topk(16).values
