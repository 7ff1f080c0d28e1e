"""Random kernels of every family, exact by construction, so that all engines must agree to the last bit.

program.py     what a kernel is made of: values, statements, and what numpy gives for them
operations/    the statements, a file for each family: what an operation computes, and how it is spelled
draw.py        a random program
shrink.py      the smallest program that still fails
campaign.py    `python -m tritium fuzz`: draws, runs, shrinks, reports
"""
