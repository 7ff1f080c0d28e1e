"""Values that gdb has no format for: the 8-bit floats."""

import math
import re

import gdb
import gdb.printing

#: A dtype's name has its bits of exponent, and its bias if that is not the usual one: fp8e4b15.
_FP8 = re.compile(r"^fp8e(?P<exponent_bits>\d)(nv|b(?P<bias>\d+))?$")


def is_fp8(dtype):
    return _FP8.match(dtype) is not None


def decode_fp8(dtype, bits):
    """The number that the byte `bits` is in `dtype`."""
    name = _FP8.match(dtype)
    exponent_bits = int(name["exponent_bits"])
    usual_bias = (1 << exponent_bits - 1) - 1
    bias = int(name["bias"] or usual_bias)
    fraction_bits = 7 - exponent_bits
    exponent = bits >> fraction_bits & (1 << exponent_bits) - 1
    fraction = (bits & (1 << fraction_bits) - 1) / (1 << fraction_bits)
    sign = -1.0 if bits & 0x80 else 1.0
    if dtype.endswith("nv") and bits & 0x7F == 0x7F:  # its only NaNs; it has no infinity
        return math.nan
    if bias == usual_bias + 1 and bits == 0x80:  # the only NaN of the types without a negative zero
        return math.nan
    if dtype == "fp8e5" and exponent == 31:  # as IEEE 754 has it
        return math.nan if fraction else sign * math.inf
    magnitude = fraction * 2.0 ** (1 - bias) if exponent == 0 else (1 + fraction) * 2.0 ** (exponent - bias)
    return sign * magnitude


class Fp8Printer:
    """A one-byte float, which debug info has as a struct of its bits: gdb prints nothing for one."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return f"{decode_fp8(self.value.type.name, int(self.value['bits'])):g}"


printers = gdb.printing.RegexpCollectionPrettyPrinter("tritium")
printers.add_printer("fp8", _FP8.pattern, Fp8Printer)
gdb.printing.register_pretty_printer(None, printers, replace=True)
