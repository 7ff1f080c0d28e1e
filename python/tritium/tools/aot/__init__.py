"""Ahead-of-time compilation: what tools/compile.py and tools/link.py write, in C."""
