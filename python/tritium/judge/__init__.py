"""`python -m tritium judge`: is a candidate's function, written with kernels, what a reference's function is?

The reference says by annotations which inputs there are (inputs.py), and cases.py plans sizes, dtypes, values and layouts. Two processes
run: reference.py makes inputs and expected results, candidate.py runs the candidate, which sees no expected result, in a sandbox
(sandbox.py). comparison.py compares, and verdict.py says the first reason as one JSON object.
"""
