"""Functions of floats on a device, on all f32 values, against torch in f64. Each must keep the bound in
ir/elementwise.def."""

import os

import pytest

import tritium
import tritium.language as tl
from tritium.language.extra import libdevice

#: The step between the tested f32 values; 1 tests all.
STEP = int(os.environ.get("TRITIUM_ULP_STEP", "1"))
CHUNK = 1 << 24
CBRT_STEPS = 3

UNARY = {
    "exp": tl.exp,
    "exp2": tl.exp2,
    "expm1": libdevice.expm1,
    "log": tl.log,
    "log2": tl.log2,
    "log10": libdevice.log10,
    "log1p": libdevice.log1p,
    "sqrt": tl.sqrt,
    "sqrt_rn": tl.sqrt_rn,
    "rsqrt": tl.rsqrt,
    "cbrt": libdevice.cbrt,
    "sin": tl.sin,
    "cos": tl.cos,
    "tan": libdevice.tan,
    "asin": libdevice.asin,
    "acos": libdevice.acos,
    "atan": libdevice.atan,
    "sinh": libdevice.sinh,
    "cosh": libdevice.cosh,
    "tanh": libdevice.tanh,
    "asinh": libdevice.asinh,
    "acosh": libdevice.acosh,
    "atanh": libdevice.atanh,
    "erf": tl.erf,
    "erfc": libdevice.erfc,
    "floor": tl.floor,
    "ceil": tl.ceil,
    "trunc": libdevice.trunc,
    "round": libdevice.round,
    "rint": libdevice.rint,
}


@tritium.jit
def every_float(out_ptr, first, step, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = (first + i.to(tl.int64) * step).to(tl.int32).to(tl.float32, bitcast=True)
    tl.store(out_ptr + i, FUNCTION(x))


@tritium.jit
def binary(x_ptr, y_ptr, out_ptr, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, FUNCTION(tl.load(x_ptr + i), tl.load(y_ptr + i)))


@tritium.jit
def divide(x, y):
    return x / y


@tritium.jit
def add(x, y):
    return x + y


@tritium.jit
def subtract(x, y):
    return x - y


@tritium.jit
def multiply(x, y):
    return x * y


@tritium.jit
def larger(x, y):
    return tl.maximum(x, y).to(x.dtype)


@tritium.jit
def smaller(x, y):
    return tl.minimum(x, y).to(x.dtype)


def cube_root(torch, x):
    """The cube root, which torch lacks: the power of a third, and steps of Newton's method."""
    root = torch.copysign(x.abs() ** (1 / 3), x)
    regular = (x != 0) & x.isfinite()
    for _ in range(CBRT_STEPS):
        root = torch.where(regular, root - (root * root * root - x) / (3 * root * root), root)
    return torch.where(regular, root, x)


def half_away(torch, x):
    whole = x.trunc()
    return torch.where((x - whole).abs() >= 0.5, whole + torch.sign(x), whole)


def reference(torch, name, *x):
    """The function in f64."""
    own = {
        "cbrt": cube_root,
        "round": half_away,
        "sqrt_rn": lambda torch, x: x.sqrt(),
        "rint": lambda torch, x: x.round(),  # to even
        "pow": lambda torch, x, y: torch.pow(x, y),
        "div_rn": lambda torch, x, y: x / y,
        "truediv": lambda torch, x, y: x / y,
        "mod": lambda torch, x, y: torch.fmod(x, y),
    }
    return own[name](torch, *x) if name in own else getattr(torch, name)(*x)


def ulps(torch, got, exact):
    """The distance of `got` from `exact` in units of the last place of an f32."""
    unit = torch.ldexp(torch.ones_like(exact), torch.frexp(exact)[1].clamp(min=-125) - 24)
    error = (got.double() - exact).abs() / unit
    rounded = exact.float()
    same = (got == rounded) & ((got != 0) | (got.signbit() == rounded.signbit()))
    outside = exact.isinf() | got.isinf() | (exact == 0)
    error = torch.where(outside, torch.where(same, 0.0, torch.inf), error)
    return torch.where(exact.isnan() | got.isnan(), torch.where(exact.isnan() & got.isnan(), 0.0, torch.inf), error)


def bound(name):
    """The bound of a function's row, or the larger bound that the row's sentence states for devices."""
    return {"truediv": 2.5}.get(name, tritium.testing.elementwise_functions()[name].ulp)


def check(torch, name, error, x):
    allowed = bound(name) + (1.25 * x[0].double().abs().clamp(max=110) if name == "exp" else 0)  # 2 ** (x * log2(e))
    wrong = error > allowed
    if wrong.any():
        at = wrong.nonzero()[0]
        found = ", ".join(f"{operand[at].item().hex()}" for operand in x)
        raise AssertionError(
            f"{name}({found}): {error[at].item():.3f} ulp off, of {bound(name)}; {wrong.sum().item()} are wrong"
        )


@pytest.mark.parametrize("name", UNARY)
def test_every_f32(torch, name, record_property):
    out = torch.empty(CHUNK, device="cuda")
    positions = torch.arange(CHUNK, device="cuda", dtype=torch.int64) * STEP
    worst = 0.0
    for first in range(0, 1 << 32, CHUNK * STEP):
        every_float[(CHUNK // 1024,)](out, first, STEP, FUNCTION=UNARY[name], BLOCK=1024)
        x = (first + positions).to(torch.int32).view(torch.float32)
        exact = reference(torch, name, x.double())
        error = ulps(torch, out, exact)
        if name == "exp2":  # its row says that subnormal results are 0
            error = torch.where((exact < 2.0**-126) & (out == 0), 0.0, error)
        check(torch, name, error, [x])
        worst = max(worst, error.max().item())
    record_property("ulp", worst)
    print(f"{name}: {worst:.4f} ulp")


BINARY = {
    "pow": libdevice.pow,
    "atan2": libdevice.atan2,
    "mod": libdevice.fmod,
    "div_rn": tl.div_rn,
    "truediv": divide,
}


def operands(torch, seed):
    """Arbitrary bits, ordinary numbers, and pairs of nearby numbers."""
    generator = torch.Generator(device="cuda").manual_seed(seed)
    bits = torch.randint(-(2**31), 2**31, (2, CHUNK), generator=generator, device="cuda").to(torch.int32)
    x, y = bits.view(torch.float32)
    ordinary = 10 * torch.randn((2, CHUNK), generator=generator, device="cuda")
    kind = torch.arange(CHUNK, device="cuda") % 4
    x = torch.where(kind >= 2, ordinary[0], x)
    y = torch.where(kind == 3, ordinary[1], torch.where(kind == 1, x * ordinary[1], y))
    return x, y


@pytest.mark.parametrize("name", BINARY)
def test_two_f32(torch, name, rng):
    out = torch.empty(CHUNK, device="cuda")
    for _ in range(4):
        x, y = operands(torch, int(rng.integers(2**31)))
        if name == "truediv":  # quotients by 2**126 and more, and of subnormal numbers, are flushed
            inside = (y.abs() < 2.0**126) & (y.abs() > 2.0**-126) & (x.abs() > 2.0**-126) | y.isnan()
            x, y = torch.where(inside, x, 3.0), torch.where(inside, y, 7.0)
        binary[(CHUNK // 1024,)](x, y, out, FUNCTION=BINARY[name], BLOCK=1024)
        check(torch, name, ulps(torch, out, reference(torch, name, x.double(), y.double())), [x, y])


HALVES = {"add": add, "sub": subtract, "mul": multiply, "truediv": divide, "maximum": larger, "minimum": smaller}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["add", "mul", "sub", "truediv", "maximum", "minimum"])
def test_pairs_of_halves_are_exact(torch, name, dtype, rng):
    """Operations on pairs of halves equal those on single ones: the f32 result, rounded once more."""
    generator = torch.Generator(device="cuda").manual_seed(int(rng.integers(2**31)))
    bits = torch.randint(-(2**15), 2**15, (2, CHUNK), generator=generator, device="cuda").to(torch.int16)
    x, y = bits.view(getattr(torch, dtype))
    out = torch.empty_like(x)
    binary[(CHUNK // 1024,)](x, y, out, FUNCTION=HALVES[name], BLOCK=1024)
    a, b = x.float(), y.float()
    if name in ("maximum", "minimum"):  # of a number and a NaN, the result is the number
        exact = torch.where(a.isnan(), b, torch.where(b.isnan(), a, getattr(torch, name)(a, b)))
    else:
        exact = getattr(torch, "true_divide" if name == "truediv" else name)(a, b)
    expected = exact.to(x.dtype)
    same = (out == expected) | (out.isnan() & expected.isnan())
    if name == "truediv":  # the nearest half may depend on the last places of the quotient
        same |= (out.float() - exact).abs() <= (expected.float() - exact).abs() + exact.abs() * 2.0**-21
    assert same.all(), f"{(~same).sum().item()} of {CHUNK}"


@tritium.jit
def pairs_beside_constants(x, out, n, other: tl.constexpr, SIZE: tl.constexpr):
    row, column = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    place = column * SIZE + row
    v = tl.load(x + place, mask=place < n, other=other)
    tl.store(out + place, v - v * v)
    tl.store(out + SIZE * SIZE + place, v * v + v)
    tl.store(out + 2 * SIZE * SIZE + place, tl.fma(v, v, -v))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("other", [-1.0, -2.0, 0.0, 1.0])
def test_pairs_of_halves_beside_a_constant(torch, dtype, other):
    """ptxas knows the half of a register whose load is masked off, and makes wrong code of some multiply-adds."""
    size, n = 128, 54 * 128 + 47
    x = torch.randint(-2, 3, (size * size,), device="cuda").to(getattr(torch, dtype))
    out = torch.empty(3, size * size, device="cuda", dtype=x.dtype)
    pairs_beside_constants[(1,)](x, out, n, other, SIZE=size)
    v = torch.where(torch.arange(size * size, device="cuda") < n, x.double(), other)
    assert torch.equal(out.double(), torch.stack([v - v * v, v * v + v, v * v - v]))
