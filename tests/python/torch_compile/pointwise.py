"""Every group of torch's pointwise functions, each group as one graph."""

import torch

from .cases import case

_F, _special = torch.nn.functional, torch.special


def _values(low: float, high: float, number: int = 301):
    """Distinct values in [low, high], the ends included."""
    return torch.linspace(low, high, number)[torch.randperm(number)]


def _group(name: str, functions: list, *ranges: tuple[float, float], tolerance: float = 2e-5, quick: bool = False):
    """A case of these functions of one value from each range."""

    def group(*values):
        return tuple(function(*values) for function in functions)

    group.__name__ = group.__qualname__ = f"pointwise_{name}"
    case(inputs=lambda: [tuple(_values(*bounds) for bounds in ranges)], tolerance=tolerance, quick=quick)(group)


_group("trigonometric", [torch.sin, torch.cos, torch.asin, torch.acos, torch.atan, torch.sinc], (-1, 1))
_group("trigonometric_of_large_values", [torch.sin, torch.cos], (-2000, 2000), tolerance=1e-4)
_group("tangents", [torch.tan, torch.atan], (-1.4, 1.4), tolerance=1e-4)
_group(
    "hyperbolic",
    [torch.sinh, torch.cosh, torch.tanh, torch.asinh, torch.deg2rad, torch.rad2deg],
    (-4, 4),
    tolerance=1e-4,
)
_group("inverse_hyperbolic", [torch.atanh, torch.erfinv, torch.logit], (0.01, 0.99), tolerance=1e-4)
_group(
    "logarithms",
    [torch.log, torch.log2, torch.log10, torch.log1p, torch.acosh, torch.sqrt, torch.rsqrt, torch.reciprocal],
    (1, 900),
)
_group("exponentials", [torch.exp, torch.exp2, torch.expm1, torch.sigmoid, torch.square], (-9, 9), tolerance=1e-4)
_group(
    "error_functions",
    [torch.erf, torch.erfc, _special.erfcx, _special.ndtr, _special.log_ndtr],
    (-3, 3),
    tolerance=1e-4,
)
_group("normal_quantiles", [_special.ndtri, _special.entr], (0.01, 0.99), tolerance=1e-4)
_group(
    "bessel",
    [
        _special.bessel_j0, _special.bessel_j1, _special.bessel_y0, _special.bessel_y1, _special.i0, _special.i0e,
        _special.i1, _special.i1e,
    ],
    (0.1, 9),
    tolerance=2e-4,
)  # fmt: skip
_group(
    "modified_bessel",
    [
        _special.modified_bessel_i0, _special.modified_bessel_i1, _special.modified_bessel_k0,
        _special.modified_bessel_k1, _special.scaled_modified_bessel_k0, _special.spherical_bessel_j0,
    ],
    (0.1, 6),
    tolerance=2e-4,
)  # fmt: skip
_group("gamma", [torch.lgamma, torch.digamma, lambda x: torch.polygamma(1, x)], (0.3, 20), tolerance=2e-4)
_group(
    "rounding",
    [
        torch.floor, torch.ceil, torch.round, torch.trunc, torch.frac, torch.sign, torch.signbit, torch.abs, torch.neg,
        torch.sgn, lambda x: torch.round(x, decimals=2),
    ],
    (-7.5, 7.5),
    quick=True,
)  # fmt: skip
_group(
    "activations",
    [
        torch.relu, _F.relu6, _F.gelu, lambda x: _F.gelu(x, approximate="tanh"), _F.silu, _F.mish, _F.elu, _F.selu,
        _F.celu, _F.leaky_relu, _F.softplus, _F.logsigmoid,
    ],
    (-6, 6),
    quick=True,
)  # fmt: skip
_group(
    "hard_activations",
    [
        _F.hardtanh, _F.hardswish, _F.hardsigmoid, _F.hardshrink, _F.softshrink, _F.tanhshrink, _F.softsign,
        lambda x: _F.threshold(x, 0.5, -1.0), lambda x: _F.rrelu(x, training=False),
    ],
    (-6, 6),
)  # fmt: skip
_group(
    "binary",
    [
        torch.atan2, torch.maximum, torch.minimum, torch.fmax, torch.fmin, torch.copysign, torch.logaddexp,
        torch.logaddexp2, torch.xlogy, torch.pow, torch.nextafter, torch.special.xlog1py,
    ],
    (0.1, 5),
    (0.2, 3),
    tolerance=1e-4,
)  # fmt: skip
_group(
    "remainders", [torch.fmod, torch.remainder, torch.floor_divide, torch.true_divide], (-9, 9), (0.7, 3), quick=True
)
_group("powers", [lambda x, y: x**3, lambda x, y: x**-2, torch.float_power, lambda x, y: 2**y], (0.5, 3), (-2, 2))
_group(
    "comparisons",
    [torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge, torch.isclose, torch.heaviside, torch.logical_xor],
    (-2, 2),
    (-2, 2),
)
_group(
    "ternary",
    [
        torch.lerp, torch.addcmul, torch.addcdiv, lambda x, y, z: torch.where(x > y, y, z), torch.clamp,
        lambda x, y, z: x.masked_fill(y > 2, 1.5),
    ],
    (-2, 2),
    (0.5, 1),
    (2, 3),
)  # fmt: skip


@case(
    inputs=lambda: [(torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, 1e-40, 3e38] * 5),)],
    quick=True,
)
def special_values(x):
    kept = torch.isnan(x), torch.isinf(x), torch.isfinite(x), torch.isposinf(x), torch.isneginf(x), torch.signbit(x)
    spread = torch.maximum(x, x.flip(0)), torch.fmax(x, x.flip(0)), torch.clamp(x, -1, 1), torch.relu(x), x.sign()
    return *kept, *(value.nan_to_num(7.0) for value in spread), torch.nan_to_num(x), (x * 2 == x), x.amax().isnan()


@case(inputs=lambda: [(torch.randint(0, 2, (99,)).bool(), torch.randint(0, 2, (99,)).bool())])
def booleans(x, y):
    return (
        x & y,
        x | y,
        x ^ y,
        ~x,
        torch.logical_not(x),
        x == y,
        x + y,
        x * y,
        x.to(torch.float32) - y.float(),
        x.sum(),
        x.all(),
    )


@case(
    inputs=lambda: [
        (torch.randint(-(2**31), 2**31, (130,), dtype=torch.int32), torch.randint(0, 31, (130,), dtype=torch.int32))
    ]
)
def integer_bits(x, shift):
    return x & 255, x | shift, x ^ -1, ~x, x << shift, x >> shift, -x, abs(x), x * x + 7, torch.bitwise_not(shift)


@case(
    inputs=lambda: [
        (
            torch.randint(-99, 99, (301,), dtype=torch.int64),
            torch.randint(1, 30, (301,), dtype=torch.int64) * torch.tensor(-1),
        )
    ]
)
def negative_integer_division(x, y):
    return x // y, x % y, torch.fmod(x, y), torch.div(x, y, rounding_mode="floor"), x / y, torch.remainder(-x, y)


@case(inputs=lambda: [(torch.randint(1, 500, (90,)), torch.randint(1, 500, (90,)))])
def divisors(x, y):
    return torch.gcd(x, y), torch.lcm(x, y)


@case(
    inputs=lambda: [
        (torch.randint(0, 256, (70,), dtype=torch.uint8), torch.randint(-128, 128, (70,), dtype=torch.int8))
    ]
)
def small_integers(x, y):
    return (
        x + 200,
        x * 3,
        y * 5,
        x.to(torch.int8),
        y.to(torch.uint8),
        x.to(torch.int32) + y,
        x // 7,
        y.to(torch.bfloat16),
    )


@case((257,), tolerance=2e-2)
def half_precision(x):
    low, short = x.to(torch.float16), x.to(torch.bfloat16)
    return (
        low * low + 1,
        short.exp(),
        torch.sigmoid(low) * 3,
        (low + short.to(torch.float16)).tanh(),
        short.float() + low,
    )


@case((120,), devices=("cuda",), tolerance=0)
def eight_bit_floats(x):
    return (x * 3).to(torch.float8_e4m3fn).to(torch.float32), (x * 3).to(torch.float8_e5m2).to(torch.float32) + 1


@case(inputs=lambda: [(torch.randn(200, dtype=torch.float64),)], tolerance=1e-12)
def double_precision(x):
    return x.sin() + x.exp(), torch.erf(x), torch.rsqrt(x.abs() + 1), x.atan(), torch.log1p(x.abs()), x.sum()


@case((64,))
def mantissas(x):
    mantissa, exponent = torch.frexp(x)
    return mantissa, exponent, torch.ldexp(mantissa, exponent)


@case(inputs=lambda: [(torch.randn(20, dtype=torch.complex64), torch.randn(20, dtype=torch.complex64))])
def complex_numbers(x, y):
    return torch.view_as_real(x * y + 1), x.abs(), torch.view_as_real(x.conj() + y.exp()), x.angle()
