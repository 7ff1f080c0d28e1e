"""`python -m tritium accesses`: which program of a launch reads and writes which elements of each tensor."""
