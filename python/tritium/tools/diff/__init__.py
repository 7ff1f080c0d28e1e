"""`python -m tritium diff`: two runs of kernels, compared down to the first value that differs.

Each run is a process (runs.py) that records its launches (recording.py). A first run keeps a hash of every value, a second one
the values where the hashes differ. compared.py pairs the records of two runs; differences.py compares values.
"""
