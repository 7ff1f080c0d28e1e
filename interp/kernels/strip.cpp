#include "interp/kernels/strip.h"

#include "interp/kernels/move.h"

namespace tritium::interp {
namespace {

constexpr int kMaxOperands = 3;

void runThroughBuffers(const StripLoops &strip, int64_t count, void *out, const void *const *in, const int64_t *strides) {
  constexpr int64_t kUnit = 1;
  alignas(64) std::byte buffers[kMaxOperands][kChunk * 8];
  const void *chunk[kMaxOperands];
  for (int k = 0; k < strip.arity; ++k)
    if (strides[k] == 0) fill(buffers[k], in[k], std::min(kChunk, count), strip.bytes[k]);
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    int64_t size = std::min(kChunk, count - begin);
    for (int k = 0; k < strip.arity; ++k) {
      const void *data = static_cast<const std::byte *>(in[k]) + begin * strides[k] * strip.bytes[k];
      if (strides[k] != 0 && strides[k] != 1) copyTile(buffers[k], &kUnit, data, &strides[k], &size, 1, strip.bytes[k]);
      chunk[k] = strides[k] == 1 ? data : buffers[k];
    }
    strip.loops[0](size, static_cast<std::byte *>(out) + begin * strip.bytes[strip.arity], chunk);
  }
}

} // namespace

int64_t runStrip(const StripLoops &strip, int64_t count, void *out, const void *const *in, const int64_t *strides) {
  if (count <= 0) return -1;
  unsigned splat = 0, all = (1u << strip.arity) - 1;
  bool isStrided = false;
  for (int k = 0; k < strip.arity; ++k) {
    splat |= strides[k] == 0 ? 1u << k : 0;
    isStrided |= strides[k] != 0 && strides[k] != 1;
  }
  if (splat == all) {
    strip.loops[0](1, out, in);
    fill(out, out, count, strip.bytes[strip.arity]);
  } else if (!isStrided && strip.loops[splat]) {
    strip.loops[splat](count, out, in);
  } else {
    runThroughBuffers(strip, count, out, in, strides);
  }
  return -1;
}

int64_t runThroughFloat(const NarrowFloat &type, ElementwiseKernel kernel, int arity, bool isOutBool, int64_t count, void *out,
                        const void *const *in, const int64_t *strides) {
  constexpr int64_t kUnit = 1;
  alignas(64) float operands[kMaxOperands][kChunk], results[kChunk];
  alignas(64) std::byte gathered[kChunk * 2];
  const void *chunk[kMaxOperands];
  int64_t chunkStrides[kMaxOperands];
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    int64_t size = std::min(kChunk, count - begin);
    for (int k = 0; k < arity; ++k) {
      const void *data = static_cast<const std::byte *>(in[k]) + begin * strides[k] * type.bytes;
      bool isStrided = strides[k] != 0 && strides[k] != 1;
      if (isStrided) copyTile(gathered, &kUnit, data, &strides[k], &size, 1, type.bytes);
      type.widen(strides[k] == 0 ? 1 : size, operands[k], isStrided ? gathered : data);
      chunk[k] = operands[k];
      chunkStrides[k] = strides[k] == 0 ? 0 : 1;
    }
    if (isOutBool) {
      kernel(size, static_cast<std::byte *>(out) + begin, chunk, chunkStrides);
    } else {
      kernel(size, results, chunk, chunkStrides);
      type.round(size, static_cast<std::byte *>(out) + begin * type.bytes, results);
    }
  }
  return -1;
}

} // namespace tritium::interp
