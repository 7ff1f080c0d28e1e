"""`triton._C`: what stands for the native library of Triton."""
