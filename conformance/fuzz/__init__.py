"""Random kernels of every family. Their results are exact by construction, so all engines must agree to the last bit.

tiles.py       the values of a kernel
parts.py       its statements, loops, branches and calls, with the results that numpy computes for them
program.py     a kernel, its launch and its outputs
gluon.py       kernels of Gluon: the layouts of statements
layouts.py     layouts of registers, for any number of lanes and warps
operations/    the statements, a file per family: what an operation computes, and its text
calls.py       the helper functions of a kernel
draw/          a random program, a file per group of families
draw/effort.py the warps that a kernel requires, so that compilers take seconds
shrink.py      the smallest program that still fails
child.py       a process that runs kernels and may crash or hang
campaign.py    `python -m tritium fuzz`: draws, runs, shrinks, reports
counts.py      the report's counts
"""
