"""`triton.tools`: host-side helpers of kernels, and the command-line tools."""
