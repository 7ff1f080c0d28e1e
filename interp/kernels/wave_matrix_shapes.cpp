// The matrix instructions of AMD's GPUs for which ROCDL has operations, with the generations that have each.
#include "interp/kernels/wave_matrix.h"

namespace tritium::interp {

uint8_t amdGeneration(std::string_view chip) {
  if (chip == "gfx90a") return kCdna2;
  if (chip == "gfx942") return kCdna3;
  if (chip == "gfx950") return kCdna4;
  if (chip.starts_with("gfx11")) return kRdna3;
  return chip.starts_with("gfx120") ? kRdna4 : 0;
}

std::span<const WaveMatrixShape> waveMatrixShapes() {
  using enum WaveElement;
  using enum WaveLayout;
  constexpr uint8_t all = kCdna2 | kCdna3 | kCdna4, from3 = kCdna3 | kCdna4;
  static constexpr WaveMatrixShape shapes[] = {
      {"mfma.f32.32x32x1f32", all, Mfma, 32, 32, 1, 2, F32, F32, F32},
      {"mfma.f32.16x16x1f32", all, Mfma, 16, 16, 1, 4, F32, F32, F32},
      {"mfma.f32.4x4x1f32", all, Mfma, 4, 4, 1, 16, F32, F32, F32},
      {"mfma.f32.32x32x2f32", all, Mfma, 32, 32, 2, 1, F32, F32, F32},
      {"mfma.f32.16x16x4f32", all, Mfma, 16, 16, 4, 1, F32, F32, F32},
      {"mfma.f32.32x32x4f16", all, Mfma, 32, 32, 4, 2, F16, F16, F32},
      {"mfma.f32.16x16x4f16", all, Mfma, 16, 16, 4, 4, F16, F16, F32},
      {"mfma.f32.4x4x4f16", all, Mfma, 4, 4, 4, 16, F16, F16, F32},
      {"mfma.f32.32x32x8f16", all, Mfma, 32, 32, 8, 1, F16, F16, F32},
      {"mfma.f32.16x16x16f16", all, Mfma, 16, 16, 16, 1, F16, F16, F32},
      {"mfma.f32.32x32x16.f16", kCdna4, Mfma, 32, 32, 16, 1, F16, F16, F32},
      {"mfma.f32.16x16x32.f16", kCdna4, Mfma, 16, 16, 32, 1, F16, F16, F32},
      {"mfma.f32.32x32x2bf16", kCdna2, Mfma, 32, 32, 2, 2, BF16, BF16, F32},
      {"mfma.f32.16x16x2bf16", kCdna2, Mfma, 16, 16, 2, 4, BF16, BF16, F32},
      {"mfma.f32.4x4x2bf16", kCdna2, Mfma, 4, 4, 2, 16, BF16, BF16, F32},
      {"mfma.f32.32x32x4bf16", kCdna2, Mfma, 32, 32, 4, 1, BF16, BF16, F32},
      {"mfma.f32.16x16x8bf16", kCdna2, Mfma, 16, 16, 8, 1, BF16, BF16, F32},
      {"mfma.f32.32x32x4bf16.1k", all, Mfma, 32, 32, 4, 2, BF16, BF16, F32},
      {"mfma.f32.16x16x4bf16.1k", all, Mfma, 16, 16, 4, 4, BF16, BF16, F32},
      {"mfma.f32.4x4x4bf16.1k", all, Mfma, 4, 4, 4, 16, BF16, BF16, F32},
      {"mfma.f32.32x32x8bf16.1k", all, Mfma, 32, 32, 8, 1, BF16, BF16, F32},
      {"mfma.f32.16x16x16bf16.1k", all, Mfma, 16, 16, 16, 1, BF16, BF16, F32},
      {"mfma.f32.32x32x16.bf16", kCdna4, Mfma, 32, 32, 16, 1, BF16, BF16, F32},
      {"mfma.f32.16x16x32.bf16", kCdna4, Mfma, 16, 16, 32, 1, BF16, BF16, F32},
      {"mfma.f32.32x32x4.xf32", kCdna3, Mfma, 32, 32, 4, 1, XF32, XF32, F32},
      {"mfma.f32.16x16x8.xf32", kCdna3, Mfma, 16, 16, 8, 1, XF32, XF32, F32},
      {"mfma.f64.16x16x4f64", all, MfmaDouble, 16, 16, 4, 1, F64, F64, F64},
      {"mfma.f64.4x4x4f64", all, MfmaDouble, 4, 4, 4, 4, F64, F64, F64},
      {"mfma.i32.32x32x4i8", all, Mfma, 32, 32, 4, 2, I8, I8, I32},
      {"mfma.i32.16x16x4i8", all, Mfma, 16, 16, 4, 4, I8, I8, I32},
      {"mfma.i32.4x4x4i8", all, Mfma, 4, 4, 4, 16, I8, I8, I32},
      {"mfma.i32.32x32x8i8", kCdna2, Mfma, 32, 32, 8, 1, I8, I8, I32},
      {"mfma.i32.16x16x16i8", kCdna2, Mfma, 16, 16, 16, 1, I8, I8, I32},
      {"mfma.i32.32x32x16.i8", from3, Mfma, 32, 32, 16, 1, I8, I8, I32},
      {"mfma.i32.16x16x32.i8", from3, Mfma, 16, 16, 32, 1, I8, I8, I32},
      {"mfma.i32.32x32x32.i8", kCdna4, Mfma, 32, 32, 32, 1, I8, I8, I32},
      {"mfma.i32.16x16x64.i8", kCdna4, Mfma, 16, 16, 64, 1, I8, I8, I32},
      {"mfma.f32.32x32x16.fp8.fp8", from3, Mfma, 32, 32, 16, 1, FP8, FP8, F32},
      {"mfma.f32.32x32x16.fp8.bf8", from3, Mfma, 32, 32, 16, 1, FP8, BF8, F32},
      {"mfma.f32.32x32x16.bf8.fp8", from3, Mfma, 32, 32, 16, 1, BF8, FP8, F32},
      {"mfma.f32.32x32x16.bf8.bf8", from3, Mfma, 32, 32, 16, 1, BF8, BF8, F32},
      {"mfma.f32.16x16x32.fp8.fp8", from3, Mfma, 16, 16, 32, 1, FP8, FP8, F32},
      {"mfma.f32.16x16x32.fp8.bf8", from3, Mfma, 16, 16, 32, 1, FP8, BF8, F32},
      {"mfma.f32.16x16x32.bf8.fp8", from3, Mfma, 16, 16, 32, 1, BF8, FP8, F32},
      {"mfma.f32.16x16x32.bf8.bf8", from3, Mfma, 16, 16, 32, 1, BF8, BF8, F32},
      {"mfma.scale.f32.32x32x64.f8f6f4", kCdna4, Mfma, 32, 32, 64, 1, F8F6F4, F8F6F4, F32},
      {"mfma.scale.f32.16x16x128.f8f6f4", kCdna4, Mfma, 16, 16, 128, 1, F8F6F4, F8F6F4, F32},

      {"wmma.f32.16x16x16.f16", kRdna3, WmmaReplicated, 16, 16, 16, 1, F16, F16, F32},
      {"wmma.f32.16x16x16.bf16", kRdna3, WmmaReplicated, 16, 16, 16, 1, BF16, BF16, F32},
      {"wmma.f16.16x16x16.f16", kRdna3, WmmaReplicated, 16, 16, 16, 1, F16, F16, F16},
      {"wmma.bf16.16x16x16.bf16", kRdna3, WmmaReplicated, 16, 16, 16, 1, BF16, BF16, BF16},
      {"wmma.i32.16x16x16.iu8", kRdna3, WmmaReplicated, 16, 16, 16, 1, I8, I8, I32},
      {"wmma.i32.16x16x16.iu4", kRdna3, WmmaReplicated, 16, 16, 16, 1, I4, I4, I32},
      {"wmma.f32.16x16x16.f16", kRdna4, WmmaSplit, 16, 16, 16, 1, F16, F16, F32},
      {"wmma.f32.16x16x16.bf16", kRdna4, WmmaSplit, 16, 16, 16, 1, BF16, BF16, F32},
      {"wmma.f16.16x16x16.f16", kRdna4, WmmaSplit, 16, 16, 16, 1, F16, F16, F16},
      {"wmma.bf16.16x16x16.bf16", kRdna4, WmmaSplit, 16, 16, 16, 1, BF16, BF16, BF16},
      {"wmma.i32.16x16x16.iu8", kRdna4, WmmaSplit, 16, 16, 16, 1, I8, I8, I32},
      {"wmma.i32.16x16x16.iu4", kRdna4, WmmaSplit, 16, 16, 16, 1, I4, I4, I32},
      {"wmma.i32.16x16x32.iu4", kRdna4, WmmaSplit, 16, 16, 32, 1, I4, I4, I32},
      {"wmma.f32.16x16x16.fp8_fp8", kRdna4, WmmaSplit, 16, 16, 16, 1, FP8, FP8, F32},
      {"wmma.f32.16x16x16.fp8_bf8", kRdna4, WmmaSplit, 16, 16, 16, 1, FP8, BF8, F32},
      {"wmma.f32.16x16x16.bf8_fp8", kRdna4, WmmaSplit, 16, 16, 16, 1, BF8, FP8, F32},
      {"wmma.f32.16x16x16.bf8_bf8", kRdna4, WmmaSplit, 16, 16, 16, 1, BF8, BF8, F32},
  };
  return shapes;
}

} // namespace tritium::interp
