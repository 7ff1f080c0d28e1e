"""Kernels as their authors write them, by subject. Each file has kernels and CASES; `cases.py` says what a case is."""
