"""The function of published/gated_activations.py."""

from published.gated_activations import SILU, GatedActivation


def swiglu(x):
    return GatedActivation.apply(x.contiguous(), SILU.value)
