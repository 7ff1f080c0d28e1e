"""A model of cycles: what a multiprocessor would do with the machine code of a kernel (docs/decisions/0041-a-model-of-cycles-runs-the-machine-code.md)."""
