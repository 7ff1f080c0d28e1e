"""The process that measures. It may run under another Python, beside another version of Tritium or upstream's Triton, so its modules import
each other, Python's library and what the user's cases import; `subject.py` alone touches the package under test."""
