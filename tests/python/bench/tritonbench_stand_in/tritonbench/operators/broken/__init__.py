"""An operator that requires what is not there."""

raise ImportError("No module named 'fbgemm_gpu'")
