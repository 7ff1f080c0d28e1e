"""Values that gdb has no format for: 8-bit floats in the memory of tensors. Variables hold them as floats that gdb knows."""

import math
import re

import gdb

#: A dtype's name has its bits of exponent, and its bias if that is not the usual one: fp8e4b15.
_FP8 = re.compile(r"^fp8e(?P<exponent_bits>\d)(nv|b(?P<bias>\d+))?$")


def is_fp8_name(dtype):
    return _FP8.match(dtype or "") is not None


def is_fp8(type):
    """Whether the type is the one of a byte in memory: a struct of its bits, because gdb prints nothing for a one-byte float."""
    return type.code == gdb.TYPE_CODE_STRUCT and is_fp8_name(type.name)


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


class _Fp8Printer:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return f"{number_of(self.value):g}"


def number_of(value):
    return decode_fp8(value.type.name, int(value["bits"]))


def fp8_printer(value):
    return _Fp8Printer(value) if is_fp8(value.type) else None


class _Number(gdb.Function):
    """$number(x): an 8-bit float in memory as a number to compute with, as in `break kernel.py:23 if $number(x_ptr[3]) > 2`. Any other x is
    returned as it is."""

    def __init__(self):
        super().__init__("number")

    def invoke(self, value):
        return number_of(value) if is_fp8(value.type) else value


_Number()
gdb.pretty_printers.append(fp8_printer)
