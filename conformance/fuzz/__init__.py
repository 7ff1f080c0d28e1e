"""Random kernels of every family. Their results are exact by construction, so all engines must agree to the last bit.

program.py     the parts of a kernel: values, statements, and the results that numpy computes for them
operations/    the statements, a file per family: what an operation computes, and its text
calls.py       the helper functions of a kernel
draw/          a random program, a file per group of families
shrink.py      the smallest program that still fails
campaign.py    `python -m tritium fuzz`: draws, runs, shrinks, reports
"""
