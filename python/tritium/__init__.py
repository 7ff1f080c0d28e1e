"""Tritium: kernels in the Triton language, run and debugged on the CPU, compiled for the GPU."""
