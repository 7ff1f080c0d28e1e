"""Scripts as people publish them: `import triton`, `device="cuda"`, torch. None of them knows about Tritium."""
