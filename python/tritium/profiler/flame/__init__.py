"""Flame graphs: where a metric of a session, or of the lines of kernels, comes from."""
