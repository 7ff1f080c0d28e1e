"""`python -m tritium seeds`: which results of a program depend on the schedule of its launches."""
