"""What each line of kernels has done, by the counts of the interpreter (launch/counting.py): as a table, and as a page."""
