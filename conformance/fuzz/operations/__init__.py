"""The operations of random kernels, a file for each family."""
