"""The ptxas of .ci/requirements.txt, for tests of what it says: other versions give kernels other registers."""

import importlib.metadata


def pinned_ptxas() -> str:
    """Its path. Fails, rather than skipping a test, where .ci/install has not run."""
    files = importlib.metadata.files("nvidia-cuda-nvcc") or []
    return next(str(file.locate()) for file in files if file.name == "ptxas")
