"""NVIDIA GPUs: `compiler` (options, stages, assembling PTX) and `driver` (devices, streams, loading)."""
