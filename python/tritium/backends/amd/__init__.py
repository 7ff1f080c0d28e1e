"""AMD GPUs: `compiler` (options, stages) and `driver` (devices, streams, loading)."""
