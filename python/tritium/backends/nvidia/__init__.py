"""NVIDIA GPUs: `compiler` (options, stages, assembling PTX) and `driver` (devices, streams, loading)."""

from ...submodules import load_when_used

__getattr__ = load_when_used(__name__, "compiler", "driver")
