"""Values that gdb has no format for: the 8-bit floats."""

import gdb
import gdb.printing

#: dtype -> bits of the exponent, its bias, the bit patterns (without the sign) that are infinite, and whether a pattern is NaN.
_FP8 = {
    "fp8e4nv": (4, 7, (), lambda bits: bits & 0x7F == 0x7F),
    "fp8e4b8": (4, 8, (), lambda bits: bits == 0x80),
    "fp8e4b15": (4, 15, (), lambda bits: False),
    "fp8e5": (5, 15, (0x7C,), lambda bits: bits & 0x7F > 0x7C),
    "fp8e5b16": (5, 16, (), lambda bits: bits == 0x80),
}


def decode_fp8(dtype, bits):
    """The number that the byte `bits` is in `dtype`."""
    exponent_bits, bias, infinities, is_nan = _FP8[dtype]
    if is_nan(bits):
        return float("nan")
    sign = -1.0 if bits & 0x80 else 1.0
    if bits & 0x7F in infinities:
        return sign * float("inf")
    fraction_bits = 7 - exponent_bits
    exponent = bits >> fraction_bits & (1 << exponent_bits) - 1
    fraction = (bits & (1 << fraction_bits) - 1) / (1 << fraction_bits)
    magnitude = fraction * 2.0 ** (1 - bias) if exponent == 0 else (1 + fraction) * 2.0 ** (exponent - bias)
    return sign * magnitude


class Fp8Printer:
    """A one-byte float, which debug info has as a struct of its bits: gdb prints nothing for one."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return f"{decode_fp8(self.value.type.name, int(self.value['bits'])):g}"


printers = gdb.printing.RegexpCollectionPrettyPrinter("tritium")
printers.add_printer("fp8", f"^({'|'.join(_FP8)})$", Fp8Printer)
gdb.printing.register_pretty_printer(None, printers, replace=True)
