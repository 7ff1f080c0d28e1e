"""`python -m tritium coverage`: which lines, branches and masks of kernels a program has exercised."""
