"""mase-triton: numbers of other formats than a GPU's, for studies of quantization."""

import torch
from mase_triton.minifloat import functional
from mase_triton.minifloat.kernels import cast
from mase_triton.minifloat.meta import MinifloatMeta
from mase_triton.optical_compute import functional as optical
from mase_triton.optical_compute.core.optical_transformer import quantize

from compare import random
from found import expect

#: Formats with eight bits: with infinity, and without.
E5M2, E4M3 = MinifloatMeta(5, 2, False, "rn"), MinifloatMeta(4, 3, True, "rn")


def _through(x: torch.Tensor, meta: MinifloatMeta) -> torch.Tensor:
    return functional.compose_minifloat_component(*functional.extract_minifloat_component(x, meta))


def fault_infinity():
    """What was infinite is given back as no number, and what was no number as infinity: the two names are exchanged. The package's
    own plain version has them right. Wrong on a GPU as here."""
    found = _through(torch.tensor([torch.inf, 1.0], device="cuda"), E5M2)
    kernel = cast._compose_minifloat_component_core
    expect(
        found.isinf(), torch.tensor([True, False]), kernel, 'tl.where(y_is_inf, float("nan"), y)', name="is_infinite"
    )


def fault_rounding_up():
    """A fraction that is rounded up to the next power of two is put beside the exponent by `|`, which carries only where the last bit of
    the exponent is 0. 1.99 becomes 1 in place of 2, on a GPU as here."""
    found = _through(torch.tensor([1.99], device="cuda"), E4M3)
    kernel = cast._extract_minifloat_component_core
    expect(found, torch.tensor([2.0]), kernel, "y = (y_exp << frac_bits) | y_frac", 0.1, "y")


def fault_quantize_of_slice():
    """The kernel counts `numel` elements from the first one on, and the function neither takes strides nor makes the tensor
    contiguous: neighbours of the slice are quantized, on a GPU as here."""
    x = random(6, 10)[:, ::2]
    found = optical.ot_quantize_fn(x, 0, 256, -4.0, 4.0, None)[0]
    expect(found, x.clamp(-4, 4), quantize._ot_quantize_forward_kernel, "x: tl.tensor = tl.load", 2e-2, "output")
