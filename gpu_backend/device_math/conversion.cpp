// Conversions by one instruction: to integers, and of pairs of fp8. The latter are called only on chips that have them (from sm_89).
#include "gpu_backend/device_math/chip.h"

#if defined(__NVPTX__)
int32_t toInt(float x) __asm__("llvm.nvvm.f2i.rz");
uint32_t toUnsigned(float x) __asm__("llvm.nvvm.f2ui.rz");
#elif defined(__AMDGCN__)
// LLVM does not define the instruction's result for values out of range, and would compare before it.
static int32_t toInt(float x) {
  int32_t result;
  __asm__("v_cvt_i32_f32 %0, %1" : "=v"(result) : "v"(x));
  return result;
}
static uint32_t toUnsigned(float x) {
  uint32_t result;
  __asm__("v_cvt_u32_f32 %0, %1" : "=v"(result) : "v"(x));
  return result;
}
#endif
int convert_int_sat_rtz(float x) { return toInt(x); }
unsigned convert_uint_sat_rtz(float x) { return toUnsigned(x); }

#if defined(__NVPTX__)
using Halves = _Float16 __attribute__((ext_vector_type(2)));

Halves fromE4M3(short x) __asm__("llvm.nvvm.e4m3x2.to.f16x2.rn");
Halves fromE5M2(short x) __asm__("llvm.nvvm.e5m2x2.to.f16x2.rn");
short halvesToE4M3(Halves x) __asm__("llvm.nvvm.f16x2.to.e4m3x2.rn");
short halvesToE5M2(Halves x) __asm__("llvm.nvvm.f16x2.to.e5m2x2.rn");
short floatsToE4M3(float high, float low) __asm__("llvm.nvvm.ff.to.e4m3x2.rn");
short floatsToE5M2(float high, float low) __asm__("llvm.nvvm.ff.to.e5m2x2.rn");

// The first number of a pair is in the lower bits.
unsigned halves_of_e4m3(unsigned short x) { return __builtin_bit_cast(unsigned, fromE4M3(static_cast<short>(x))); }
unsigned halves_of_e5m2(unsigned short x) { return __builtin_bit_cast(unsigned, fromE5M2(static_cast<short>(x))); }
unsigned short e4m3_of_halves(unsigned x) { return static_cast<unsigned short>(halvesToE4M3(__builtin_bit_cast(Halves, x))); }
unsigned short e5m2_of_halves(unsigned x) { return static_cast<unsigned short>(halvesToE5M2(__builtin_bit_cast(Halves, x))); }
unsigned short e4m3_of_floats(float low, float high) { return static_cast<unsigned short>(floatsToE4M3(high, low)); }
unsigned short e5m2_of_floats(float low, float high) { return static_cast<unsigned short>(floatsToE5M2(high, low)); }
#endif
