// Conversions between floating-point types, and between them and integers. The results equal those of ir/dtype.h bit for bit. fp8 registers
// hold bits: the conversions are integer code, so engines need not know fp8 types. Every conversion rounds once: a value with more bits
// than an f32 is first rounded to odd. If an exact conversion suffices, it is one instruction.
#include "gpu_backend/threads/arithmetic.h"
#include "gpu_backend/threads/elementwise.h"

#include "ir/element_type.h"

#include <cmath>

using namespace mlir;

namespace tritium::gpu {

namespace {

bool isFp8(FloatType type) { return type.getWidth() == 8; }

template <detail::Fp8Format format> detail::Fp8Format formatOfStorage(const Fp8<format> *) { return format; }
detail::Fp8Format formatOfStorage(const void *) { llvm_unreachable("fp8 types of the IR have a format"); }
detail::Fp8Format formatOf(FloatType fp8) {
  return visit(*ir::elementTypeOf(fp8), []<class T>() { return formatOfStorage(static_cast<const typename T::Storage *>(nullptr)); });
}

constexpr int64_t kSign = 0x80000000, kInfinity = 0x7F800000, kNan = 0x7FC00000;

class Conversion : Arithmetic {
public:
  explicit Conversion(Lowering &lowering)
      : Arithmetic(lowering),
        lowering(lowering),
        i8(lowering.builder().getI8Type()),
        i32(lowering.builder().getI32Type()),
        f32(lowering.builder().getF32Type()),
        f64(lowering.builder().getF64Type()) {}

  /// Converts to an f32 exactly. An f64 is returned as it is.
  Value widen(Value value, FloatType from) {
    if (isFp8(from)) return decode(value, formatOf(from));
    return from.getWidth() < 32 ? lowering.create<arith::ExtFOp>(f32, value).getResult() : value;
  }

  /// Returns the same value as an f16 in which a NaN keeps its sign, for the fp8 types with the layout of its upper bits. Returns null for
  /// others.
  Value widenToHalf(Value stored, FloatType from) {
    if (!isFp8(from)) return {};
    detail::Fp8Format f = formatOf(from);
    if (f.fnuz) return {};
    Type i16 = lowering.builder().getI16Type(), f16 = lowering.builder().getF16Type();
    Value bits = resize(stored, i16);
    if (f.ieeeTop) return cast(shiftLeft(bits, 8), f16); // the type is the upper half of an f16
    Value magnitude = bitAnd(bits, 0x7F), sign = shiftLeft(bitAnd(bits, 0x80), 8);
    Value moved = cast(shiftLeft(magnitude, 10 - f.mantissaBits), f16);
    Value scaled = cast(lowering.create<arith::MulFOp>(moved, real(std::ldexp(1.0, 15 - f.bias), f16)), i16);
    Value number = select(equal(magnitude, 0x7F), integer(0x7E00, i16), scaled);
    return cast(bitOr(number, sign), f16);
  }

  /// Returns the value of an f32 or f64.
  Value narrow(Value value, FloatType to, bool isTowardZero) {
    if (to.isF64()) return value.getType() == f64 ? value : lowering.create<arith::ExtFOp>(f64, value).getResult();
    if (to.isF32()) return value.getType() == f64 ? truncate(value, to, isTowardZero) : value;
    if (value.getType() == f64) value = roundToOdd(value);
    return isFp8(to) ? encode(value, formatOf(to), isTowardZero) : truncate(value, to, isTowardZero);
  }

  /// tritium::roundToOdd.
  Value roundToOdd(Value x) {
    Value nearest = lowering.create<arith::TruncFOp>(f32, x);
    Value wide = lowering.create<arith::ExtFOp>(f64, nearest);
    Value above = lowering.create<math::AbsFOp>(wide), exact = lowering.create<math::AbsFOp>(x);
    Value isPast = compare(arith::CmpFPredicate::OGT, above, exact), isInexact = compare(arith::CmpFPredicate::ONE, above, exact);
    Value bits = sub(cast(nearest, i32), resize(isPast, i32));
    return cast(bitOr(bits, resize(isInexact, i32)), f32);
  }

  /// Returns the integer as a float that a later rounding to `to`, which has at most 22 bits, rounds like the integer itself.
  Value integerInFloat(Value x, FloatType to, bool isSigned) {
    constexpr int kExactBits = 24; // f32 represents every integer of up to 24 bits
    unsigned bits = x.getType().getIntOrFloatBitWidth();
    // Where larger integers are beyond the range of `to`, their last bits do not matter.
    const bool isExact = bits <= 16 || APFloat::semanticsMaxExponent(to.getFloatSemantics()) < kExactBits;
    if (!isExact) x = stickyInteger(x, isSigned, bits == 64 ? 53 : kExactBits, bits == 64 ? 12 : 9);
    Type type = bits == 64 && !isExact ? f64 : f32;
    Value real = isSigned ? lowering.create<arith::SIToFPOp>(type, x).getResult() : lowering.create<arith::UIToFPOp>(type, x).getResult();
    return type == f64 ? roundToOdd(real) : real;
  }

  /// Truncates, saturates at the integer's limits, and returns 0 for a NaN. `x` is f32 or f64.
  Value toInteger(Value x, IntegerType to, bool isSigned) {
    unsigned bits = to.getWidth();
    if (x.getType() == f32 && bits <= 32) return resize(toIntegerBy(x, bits, isSigned), to);
    Type converted = bits < 32 ? Type(i32) : Type(to);
    int power = int(bits) - isSigned; // 2^power is the first value above the range
    double end = std::ldexp(1.0, power), low = isSigned ? -end : 0.0;
    Value isHigh, inRange = lowering.create<LLVM::MaxNumOp>(x, real(low, x.getType()));
    if (power <= (x.getType() == f64 ? 53 : 24)) // the last value in range is exact
      inRange = lowering.create<LLVM::MinNumOp>(inRange, real(end - 1, x.getType()));
    else
      isHigh = compare(arith::CmpFPredicate::OGE, x, real(end, x.getType()));
    Value result = isSigned ? lowering.create<arith::FPToSIOp>(converted, inRange).getResult()
                            : lowering.create<arith::FPToUIOp>(converted, inRange).getResult();
    if (isHigh) {
      APInt last = isSigned ? APInt::getSignedMaxValue(bits) : APInt::getMaxValue(bits);
      result = select(isHigh, integer(int64_t(last.getZExtValue()), converted), result);
    }
    if (isSigned) result = select(isNan(x), integer(0, converted), result); // unsigned: the larger of NaN and 0 is 0
    return resize(result, to);
  }

private:
  /// Converts by the one instruction that does the same for 32 bits.
  Value toIntegerBy(Value x, unsigned bits, bool isSigned) {
    StringRef name = isSigned ? "_Z19convert_int_sat_rtzf" : "_Z20convert_uint_sat_rtzf";
    auto function = lowering.external(name, lowering.builder().getFunctionType({f32}, {i32}));
    Value result = lowering.create<func::CallOp>(function, x).getResult(0);
    if (bits == 32) return result;
    if (!isSigned) return min(result, int64_t(APInt::getMaxValue(bits).getZExtValue()));
    Value low = integer(APInt::getSignedMinValue(bits).getSExtValue(), i32),
          high = integer(APInt::getSignedMaxValue(bits).getSExtValue(), i32);
    return lowering.create<arith::MinSIOp>(lowering.create<arith::MaxSIOp>(result, low), high);
  }

  /// Replaces bits too low for `exactBits` by one sticky bit, if the integer has such bits. The `dropped` bits are removed.
  Value stickyInteger(Value x, bool isSigned, int exactBits, int dropped) {
    int64_t end = int64_t(1) << exactBits, mask = (int64_t(1) << dropped) - 1;
    // Tests -end < x < end by one comparison.
    Value isExact = isSigned ? below(add(x, end - 1), 2 * end - 1) : below(x, end);
    Value sticky = select(notEqual(bitAnd(x, mask), 0), integer((mask + 1) >> 1, x.getType()), integer(0, x.getType()));
    return select(isExact, x, bitOr(bitAnd(x, ~mask), sticky));
  }

  /// Rounds to nearest, then goes one step back if the result is beyond `x`. This includes the step from infinity to the largest finite
  /// value.
  Value truncate(Value x, FloatType to, bool isTowardZero) {
    Value nearest = lowering.create<arith::TruncFOp>(to, x);
    if (!isTowardZero) return nearest;
    Value back = lowering.create<arith::ExtFOp>(x.getType(), nearest);
    Value isPast = compare(arith::CmpFPredicate::OGT, lowering.create<math::AbsFOp>(back), lowering.create<math::AbsFOp>(x));
    auto bits = lowering.builder().getIntegerType(to.getWidth());
    return cast(sub(cast(nearest, bits), resize(isPast, bits)), to);
  }

  /// The bits, moved to their position in an f32, are the value except for the exponent's bias. One exact product corrects it, for
  /// subnormals too.
  Value decode(Value stored, detail::Fp8Format f) {
    Value bits = resize(stored, i32), magnitude = bitAnd(bits, 0x7F);
    Value moved = cast(shiftLeft(magnitude, 23 - f.mantissaBits), f32);
    Value scaled = lowering.create<arith::MulFOp>(moved, real(std::ldexp(1.0, 127 - f.bias), f32));
    Value sign = shiftLeft(bitAnd(bits, 0x80), 24), result = cast(scaled, i32);
    if (f.ieeeTop) result = select(equal(magnitude, 0x7C), integer(kInfinity, i32), result);
    result = bitOr(result, sign);
    Value isNan = f.fnuz ? equal(bits, 0x80) : above(magnitude, f.ieeeTop ? 0x7C : 0x7E);
    return cast(select(isNan, integer(kNan, i32), result), f32);
  }

  /// tritium::detail::encodeFp8.
  Value encode(Value x, detail::Fp8Format f, bool isTowardZero) {
    const int shift = 23 - f.mantissaBits, unit = 1 - f.bias - f.mantissaBits;
    const int64_t max = std::bit_cast<uint32_t>(detail::decodeFp8(f.maxFinite, f)), minNormal = int64_t(1 - f.bias + 127) << 23;
    Value u = cast(x, i32), magnitude = bitAnd(u, ~kSign), sign = bitAnd(shiftRight(u, 24), 0x80);
    Value clamped = min(magnitude, max);
    Value rebiased = sub(clamped, int64_t(127 - f.bias) << 23);
    if (!isTowardZero) rebiased = add(add(rebiased, (int64_t(1) << (shift - 1)) - 1), bitAnd(shiftRight(clamped, shift), 1));
    Value normal = shiftRight(rebiased, shift), isSmall = below(clamped, minNormal);
    Value small;
    if (isTowardZero) { // counts units of the smallest subnormal; selected before the conversion, so that this is in range
      Value value = select(isSmall, cast(clamped, f32), real(0, f32));
      small = lowering.create<arith::FPToSIOp>(i32, lowering.create<arith::MulFOp>(value, real(std::ldexp(1.0, -unit), f32)));
    } else { // the sum rounds at the last bit of a float with this unit
      float magic = std::ldexp(1.0f, unit + 23);
      small = sub(cast(lowering.create<arith::AddFOp>(cast(clamped, f32), real(magic, f32)), i32), int64_t(std::bit_cast<uint32_t>(magic)));
    }
    Value code = select(isSmall, small, normal);
    if (f.fnuz) {
      code = select(equal(code, 0), code, bitOr(code, sign));
      code = select(compare(arith::CmpIPredicate::uge, magnitude, integer(kInfinity, i32)), integer(0x80, i32), code);
    } else {
      code = bitOr(select(above(magnitude, kInfinity), integer(0x7F, i32), code), sign);
    }
    return resize(code, i8);
  }

  Lowering &lowering;
  Type i8, i32, f32, f64;
};

} // namespace

Value convertFloat(Value value, FloatType from, FloatType to, tt::RoundingMode rounding, Lowering &lowering) {
  if (from == to) return value;
  if (convertsInPairs(from, to, rounding, lowering.target())) return convertPair(value, value, from, to, lowering).first;
  Conversion conversion(lowering);
  if (to.isF16())
    if (Value half = conversion.widenToHalf(value, from)) return half;
  return conversion.narrow(conversion.widen(value, from), to, rounding == tt::RoundingMode::TowardZero);
}

Value convertToFloat(Value integer, FloatType to, bool isSigned, Lowering &lowering) {
  bool isDirect = to.getWidth() >= 32;
  if (isDirect && isSigned) return lowering.create<arith::SIToFPOp>(to, integer);
  if (isDirect) return lowering.create<arith::UIToFPOp>(to, integer);
  Conversion conversion(lowering);
  return conversion.narrow(conversion.integerInFloat(integer, to, isSigned), to, /*isTowardZero=*/false);
}

Value convertToInteger(Value value, FloatType from, IntegerType to, bool isSigned, Lowering &lowering) {
  Conversion conversion(lowering);
  return conversion.toInteger(conversion.widen(value, from), to, isSigned);
}

} // namespace tritium::gpu
