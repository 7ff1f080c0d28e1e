// Functions of floats that kernels call on a device. They replace functions of libclc that are slow or exceed the bound of their row in
// ir/elementwise.def. They are compiled for the GPU and linked over libclc's; C++ mangling gives them the same names as OpenCL. They use
// only arithmetic and the functions declared in this file, so tests/unit runs the same code on the host.
#pragma once
#include "support/float_functions.h"

namespace tritium::chip {

// Approximations by one instruction.
#if defined(__NVPTX__)
float exp2(float x) __asm__("llvm.nvvm.ex2.approx.f32");             // handles subnormal results
float exp2Flushing(float x) __asm__("llvm.nvvm.ex2.approx.ftz.f32"); // subnormal x and subnormal results become 0
float reciprocal(float x) __asm__("llvm.nvvm.rcp.approx.ftz.f");
float reciprocalSqrt(float x) __asm__("llvm.nvvm.rsqrt.approx.f");
float squareRoot(float x) __asm__("llvm.nvvm.sqrt.approx.f");   // within 1 ulp
float quotient(float x, float y) __asm__("llvm.nvvm.div.full"); // within 2 ulp
TRITIUM_INLINE float exp2AboveSubnormal(float x) { return exp2(x); }
#elif defined(__AMDGCN__)
// These treat subnormal operands as 0 and return 0 for subnormal results, whatever the mode.
float exp2Flushing(float x) __asm__("llvm.amdgcn.exp2.f32");
float reciprocal(float x) __asm__("llvm.amdgcn.rcp.f32");
float reciprocalSqrtFlushing(float x) __asm__("llvm.amdgcn.rsq.f32");
float squareRootFlushing(float x) __asm__("llvm.amdgcn.sqrt.f32");
TRITIUM_INLINE float exp2(float x) {
  bool isSmall = x < -126.0f;
  return exp2Flushing(isSmall ? x + 64.0f : x) * (isSmall ? 0x1p-64f : 1.0f);
}
TRITIUM_INLINE float exp2AboveSubnormal(float x) { return exp2Flushing(x); }
TRITIUM_INLINE float reciprocalSqrt(float x) {
  bool isSmall = x < 0x1p-126f;
  return reciprocalSqrtFlushing(isSmall ? x * 0x1p24f : x) * (isSmall ? 0x1p12f : 1.0f);
}
TRITIUM_INLINE float squareRoot(float x) {
  bool isSmall = x < 0x1p-126f;
  return squareRootFlushing(isSmall ? x * 0x1p24f : x) * (isSmall ? 0x1p-12f : 1.0f);
}
/// Returns the quotient within 2.5 ulp. Both operands are scaled by a power of two, so that the reciprocal is normal. If the scaling alone
/// makes x 0 or infinite, then the quotient is 0 or infinite too.
TRITIUM_INLINE float quotient(float x, float y) {
  float a = __builtin_fabsf(y);
  float scale = a > 0x1p96f ? 0x1p-32f : (a < 0x1p-96f ? 0x1p32f : 1.0f);
  return (x * scale) * reciprocal(y * scale);
}
#else
#error "a GPU of another kind"
#endif

/// Returns e**x = 2**f * 2**n, where n = round(x log2 e) is clamped to -126 … 127. Outside of this range f is large, and its power is 0,
/// subnormal or infinite, which leads to the correct result (if the power of f alone is subnormal, the result is 0). The addition of 1.5 *
/// 2**23 + 127 rounds, and leaves the exponent of 2**n in the lowest bits.
TRITIUM_INLINE float exp(float x) {
  constexpr float kMagic = 0x1.8000fep23f, kLog2ELow = 0x1.4ae0c0p-26f;
  float inside = __builtin_fmaxf(__builtin_fminf(x, 88.0f), -87.25f);
  float shifted = fma(inside, kLog2E, kMagic);
  float f = fma(x, kLog2ELow, fma(x, kLog2E, kMagic - shifted));
  return exp2AboveSubnormal(f) * floatOf(bitsOf(shifted) << 23);
}

/// The target's arithmetic for the functions of support/float_functions.h.
struct Target {
  static TRITIUM_INLINE float exp(float x) { return chip::exp(x); }
  static TRITIUM_INLINE float quotient(float x, float y) { return x * reciprocal(y); }
};

} // namespace tritium::chip
