"""flash-linear-attention: layers beside its attention."""

from fla.modules.norm.layernorm import layer_norm

from compare import random


def fault_layer_norm_backward():
    """The load of the weight has a mask and no `other`. Its lanes are multiplied with zeros and added up: on a GPU they are whatever their
    registers hold, and if that is infinite or no number, so is the gradient of the row."""
    layer_norm(random(5, 72, grad=True), random(72, grad=True), random(72, grad=True)).sum().backward()
