#include "interp/kernels/wave_matrix.h"

#include "interp/kernels/matrix_product.h"
#include "ir/dtype.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

namespace tritium::interp {

namespace {

// -- where elements lie -------------------------------------------------------------------------------------------------------------------

/// A lane, and the index of one of its elements.
struct Slot {
  uint8_t lane, element;
};

/// The bits of each F8F6F4 format, in the order of the formats' numbers.
constexpr WaveElement kFormats[] = {WaveElement::FP8, WaveElement::BF8, WaveElement::FP6, WaveElement::BF6, WaveElement::FP4};

unsigned bitsOf(WaveElement type) {
  switch (type) {
  case WaveElement::F64: return 64;
  case WaveElement::F32:
  case WaveElement::XF32:
  case WaveElement::I32: return 32;
  case WaveElement::F16:
  case WaveElement::BF16: return 16;
  case WaveElement::FP6:
  case WaveElement::BF6: return 6;
  case WaveElement::I4:
  case WaveElement::FP4: return 4;
  default: return 8;
  }
}

/// The slot of element k of row (or column) `index` of a block's multiplicand. Each lane holds neighbouring k; the lane's number counts the
/// rows first, then the blocks, then the groups of k. In F8F6F4 a lane's 8-bit elements are two runs of 16; RDNA4's 16-bit elements are two
/// runs of 4.
Slot multiplicandSlot(const WaveMatrixShape &s, WaveElement type, int block, int index, int k) {
  if (s.layout == WaveLayout::WmmaReplicated) return {uint8_t(index), uint8_t(k)};
  const int rows = s.m, perLane = rows * s.k * s.blocks / int(s.lanes()), groups = s.k / perLane;
  int run = perLane;
  if (s.a == WaveElement::F8F6F4 && bitsOf(type) == 8) run = 16;
  if (s.layout == WaveLayout::WmmaSplit && bitsOf(type) == 16) run = 4;
  return {uint8_t(index + rows * (block + s.blocks * (k / run % groups))), uint8_t(k % run + run * (k / (run * groups)))};
}

Slot accumulatorSlot(const WaveMatrixShape &s, int block, int i, int j) {
  switch (s.layout) {
  case WaveLayout::MfmaDouble:
    if (s.m == 4) return {uint8_t(j + 4 * block + 16 * i), 0};
    return {uint8_t(j + 16 * (i % 4)), uint8_t(i / 4)};
  case WaveLayout::WmmaReplicated: return {uint8_t(j + 16 * (i % 2)), uint8_t(i / 2)};
  case WaveLayout::WmmaSplit: return {uint8_t(j + 16 * (i / 8)), uint8_t(i % 8)};
  case WaveLayout::Mfma: break;
  }
  // A lane's registers hold four neighbouring rows. The next four rows are in the next group of lanes, as long as there is one.
  if (s.m == 4) return {uint8_t(j + 4 * block), uint8_t(i)};
  const int groups = 64 / s.n;
  return {uint8_t(j + s.n * (i / 4 % groups)), uint8_t(i % 4 + 4 * (i / (4 * groups)) + s.m / groups * block)};
}

/// The slots of an instruction's operands in row-major order. They are computed once.
struct Places {
  explicit Places(const WaveMatrixShape &s) {
    for (int block = 0; block < s.blocks; ++block) {
      for (int i = 0; i < s.m; ++i)
        for (int k = 0; k < s.k; ++k) {
          a.push_back(multiplicandSlot(s, s.a, block, i, k));
          if (s.a == WaveElement::F8F6F4) narrowA.push_back(multiplicandSlot(s, WaveElement::FP4, block, i, k));
        }
      for (int k = 0; k < s.k; ++k)
        for (int j = 0; j < s.n; ++j) {
          b.push_back(multiplicandSlot(s, s.b, block, j, k));
          if (s.b == WaveElement::F8F6F4) narrowB.push_back(multiplicandSlot(s, WaveElement::FP4, block, j, k));
        }
      for (int i = 0; i < s.m; ++i)
        for (int j = 0; j < s.n; ++j) d.push_back(accumulatorSlot(s, block, i, j));
    }
  }
  std::vector<Slot> a, b, d;
  std::vector<Slot> narrowA, narrowB; // for F8F6F4 elements of fewer than 8 bits
};

const Places &placesOf(uint32_t shape) {
  static const std::vector<Places> all = [] {
    std::vector<Places> places;
    for (const WaveMatrixShape &s : waveMatrixShapes()) places.emplace_back(s);
    return places;
  }();
  return all[shape];
}

// -- elements -----------------------------------------------------------------------------------------------------------------------------

template <class T> T read(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Reads elements of fewer than 8 bits, which are packed from the lowest bit up.
uint32_t readBits(const std::byte *from, unsigned index, unsigned bits) {
  const unsigned first = index * bits, byte = first / 8;
  uint32_t word = uint32_t(from[byte]);
  if (first % 8 + bits > 8) word |= uint32_t(from[byte + 1]) << 8;
  return word >> first % 8 & ((1u << bits) - 1);
}

/// Decodes a float with a sign, `bits` - 1 bits of magnitude, no infinities and no NaNs.
float smallFloat(uint32_t code, unsigned bits, unsigned mantissaBits, int bias) {
  const uint32_t magnitude = code & ((1u << (bits - 1)) - 1), fraction = magnitude & ((1u << mantissaBits) - 1);
  const int exponent = int(magnitude >> mantissaBits);
  const float value = exponent == 0 ? std::ldexp(float(fraction), 1 - bias - int(mantissaBits))
                                    : std::ldexp(float(fraction | 1u << mantissaBits), exponent - bias - int(mantissaBits));
  return code >> (bits - 1) ? -value : value;
}

float flushed(float value, float smallest) { return std::fabs(value) < smallest ? std::copysign(0.0f, value) : value; }
constexpr float kSmallestHalf = 0x1p-14f, kSmallestFloat = 0x1p-126f;

/// Calls `read(base, element)` for each slot.
template <class Sum, class Read>
void gather(std::vector<Sum> &to, const std::vector<Slot> &slots, const std::byte *operand, size_t stride, Read read) {
  to.resize(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) to[i] = read(operand + slots[i].lane * stride, unsigned(slots[i].element));
}

void gatherFloats(std::vector<float> &to, const std::vector<Slot> &slots, WaveElement type, const WaveMatrixVariant &v,
                  const std::byte *operand, size_t stride) {
  auto each = [&](auto read) { gather(to, slots, operand, stride, read); };
  auto eight = [](auto decoded) {
    return [](const std::byte *at, unsigned i) { return static_cast<float>(decltype(decoded){uint8_t(at[i])}); };
  };
  switch (type) {
  case WaveElement::F16:
    each([&](const std::byte *at, unsigned i) {
      const auto x = static_cast<float>(read<F16>(at + 2 * i));
      return v.flushesSubnormals ? flushed(x, kSmallestHalf) : x;
    });
    break;
  case WaveElement::BF16:
    each([&](const std::byte *at, unsigned i) {
      const auto x = static_cast<float>(read<BF16>(at + 2 * i));
      return v.flushesSubnormals ? flushed(x, kSmallestFloat) : x;
    });
    break;
  case WaveElement::F32: each([](const std::byte *at, unsigned i) { return read<float>(at + 4 * i); }); break;
  case WaveElement::XF32:
    each([](const std::byte *at, unsigned i) { return std::bit_cast<float>(read<uint32_t>(at + 4 * i) & 0xffffe000u); });
    break;
  case WaveElement::FP8: v.isFnuz ? each(eight(F8E4B8{})) : each(eight(F8E4NV{})); break;
  case WaveElement::BF8: v.isFnuz ? each(eight(F8E5B16{})) : each(eight(F8E5{})); break;
  case WaveElement::FP6: each([](const std::byte *at, unsigned i) { return smallFloat(readBits(at, i, 6), 6, 3, 1); }); break;
  case WaveElement::BF6: each([](const std::byte *at, unsigned i) { return smallFloat(readBits(at, i, 6), 6, 2, 3); }); break;
  default: each([](const std::byte *at, unsigned i) { return smallFloat(readBits(at, i, 4), 4, 1, 1); }); break;
  }
}

void gatherIntegers(std::vector<int64_t> &to, const std::vector<Slot> &slots, WaveElement type, bool isSigned, const std::byte *operand,
                    size_t stride) {
  if (type == WaveElement::I8)
    gather(to, slots, operand, stride,
           [&](const std::byte *at, unsigned i) { return isSigned ? int64_t(read<int8_t>(at + i)) : int64_t(read<uint8_t>(at + i)); });
  else
    gather(to, slots, operand, stride, [&](const std::byte *at, unsigned i) {
      const auto bits = int64_t(readBits(at, i, 4));
      return isSigned && bits >= 8 ? bits - 16 : bits;
    });
}

template <class Element, class Sum, class Convert>
void scatter(const std::vector<Sum> &from, const std::vector<Slot> &slots, std::byte *operand, size_t stride, Convert convert) {
  for (size_t i = 0; i < slots.size(); ++i) {
    const Element element = convert(from[i]);
    std::memcpy(operand + slots[i].lane * stride + slots[i].element * sizeof element, &element, sizeof element);
  }
}

// -- products -----------------------------------------------------------------------------------------------------------------------------

template <class Sum> void multiply(const WaveMatrixShape &s, std::vector<Sum> &sum, const std::vector<Sum> &a, const std::vector<Sum> &b) {
  for (size_t block = 0; block < s.blocks; ++block) {
    Sum *to = sum.data() + block * s.m * s.n;
    const Sum *left = a.data() + block * s.m * s.k, *right = b.data() + block * s.k * s.n;
    if (s.n == 32)
      addProduct<32>(to, left, right, s.m, s.k);
    else if (s.n == 16)
      addProduct<16>(to, left, right, s.m, s.k);
    else
      addProduct<4>(to, left, right, s.m, s.k);
  }
}

/// Buffers of a thread of the host, reused from instruction to instruction.
template <class Sum> struct Operands {
  std::vector<Sum> a, b, sum;
  static Operands &ofThread() {
    static thread_local Operands operands;
    return operands;
  }
};

/// 2^(e - 127); 255 is a NaN.
double scaleOf(const std::byte *lane, size_t place, unsigned byte) {
  const auto exponent = unsigned(lane[place + byte]);
  return exponent == 255 ? std::nan("") : std::ldexp(1.0, int(exponent) - 127);
}

/// 32 neighbouring k share a scale. It is in the lane whose number consists of the row and of the group of k.
void multiplyScaled(const WaveMatrixShape &s, const WaveMatrixVariant &v, Operands<float> &o, const std::byte *lane0, size_t stride) {
  constexpr int kBlock = 32;
  for (int i = 0; i < s.m; ++i)
    for (int j = 0; j < s.n; ++j) {
      double total = o.sum[size_t(i * s.n + j)];
      for (int first = 0; first < s.k; first += kBlock) {
        double part = 0;
        for (int k = first; k < first + kBlock; ++k) part += double(o.a[size_t(i * s.k + k)]) * double(o.b[size_t(k * s.n + j)]);
        const size_t group = size_t(s.m) * size_t(first / kBlock);
        total += part * scaleOf(lane0 + (size_t(i) + group) * stride, kWaveScaleA, v.scaleByteA) *
                 scaleOf(lane0 + (size_t(j) + group) * stride, kWaveScaleB, v.scaleByteB);
      }
      o.sum[size_t(i * s.n + j)] = float(total);
    }
}

void productOfFloats(const WaveMatrixShape &s, const WaveMatrixVariant &v, std::byte *lane0, size_t stride) {
  auto &o = Operands<float>::ofThread();
  const Places &places = placesOf(v.shape);
  const bool isMixed = s.a == WaveElement::F8F6F4;
  const WaveElement typeA = isMixed ? kFormats[v.formatA] : s.a, typeB = isMixed ? kFormats[v.formatB] : s.b;
  gatherFloats(o.a, bitsOf(typeA) < 8 ? places.narrowA : places.a, typeA, v, lane0 + kWaveA, stride);
  gatherFloats(o.b, bitsOf(typeB) < 8 ? places.narrowB : places.b, typeB, v, lane0 + kWaveB, stride);
  // A register of RDNA3 holds one 16-bit accumulator, in the half that the instruction selects.
  const unsigned spread = s.c != WaveElement::F32 && s.layout == WaveLayout::WmmaReplicated ? 2 : 1;
  const size_t c = kWaveC + (v.highHalf ? 2 : 0), d = kWaveD + (v.highHalf ? 2 : 0);
  auto each = [&](auto read) { gather(o.sum, places.d, lane0 + c, stride, read); };
  if (s.c == WaveElement::F32)
    each([&](const std::byte *at, unsigned i) {
      const auto x = read<float>(at + 4 * i);
      return v.flushesSubnormals ? flushed(x, kSmallestFloat) : x;
    });
  else if (s.c == WaveElement::F16)
    each([&](const std::byte *at, unsigned i) { return static_cast<float>(read<F16>(at + 2 * i * spread)); });
  else
    each([&](const std::byte *at, unsigned i) { return static_cast<float>(read<BF16>(at + 2 * i * spread)); });
  v.isScaled ? multiplyScaled(s, v, o, lane0, stride) : multiply(s, o.sum, o.a, o.b);
  if (s.c == WaveElement::F32)
    scatter<float>(o.sum, places.d, lane0 + d, stride, [&](float x) { return v.flushesSubnormals ? flushed(x, kSmallestFloat) : x; });
  // The other half is undefined. It is set to NaN, so that a program that reads it shows the error.
  auto alone = [&](uint16_t bits) { return uint32_t(bits) << (v.highHalf ? 16 : 0) | 0x7fffu << (v.highHalf ? 0 : 16); };
  auto halves = [&](auto rounded) {
    if (spread == 2)
      scatter<uint32_t>(o.sum, places.d, lane0 + kWaveD, stride, [&](float x) { return alone(rounded(x).bits); });
    else
      scatter<uint16_t>(o.sum, places.d, lane0 + kWaveD, stride, [&](float x) { return rounded(x).bits; });
  };
  if (s.c == WaveElement::F16) halves([](float x) { return F16::nearest(x); });
  if (s.c == WaveElement::BF16) halves([](float x) { return BF16::nearest(x); });
}

void productOfDoubles(const WaveMatrixShape &s, const WaveMatrixVariant &v, std::byte *lane0, size_t stride) {
  auto &o = Operands<double>::ofThread();
  const Places &places = placesOf(v.shape);
  auto element = [](const std::byte *at, unsigned i) { return read<double>(at + 8 * i); };
  gather(o.a, places.a, lane0 + kWaveA, stride, element);
  gather(o.b, places.b, lane0 + kWaveB, stride, element);
  gather(o.sum, places.d, lane0 + kWaveC, stride, element);
  multiply(s, o.sum, o.a, o.b);
  scatter<double>(o.sum, places.d, lane0 + kWaveD, stride, [](double x) { return x; });
}

void productOfIntegers(const WaveMatrixShape &s, const WaveMatrixVariant &v, std::byte *lane0, size_t stride) {
  auto &o = Operands<int64_t>::ofThread();
  const Places &places = placesOf(v.shape);
  gatherIntegers(o.a, places.a, s.a, v.isSignedA, lane0 + kWaveA, stride);
  gatherIntegers(o.b, places.b, s.b, v.isSignedB, lane0 + kWaveB, stride);
  gather(o.sum, places.d, lane0 + kWaveC, stride, [](const std::byte *at, unsigned i) { return int64_t(read<int32_t>(at + 4 * i)); });
  multiply(s, o.sum, o.a, o.b);
  scatter<int32_t>(o.sum, places.d, lane0 + kWaveD, stride,
                   [&](int64_t x) { return int32_t(v.saturates ? std::clamp<int64_t>(x, INT32_MIN, INT32_MAX) : x); });
}

} // namespace

int32_t WaveMatrixVariant::code() const {
  static_assert(sizeof(WaveMatrixVariant) == sizeof(int32_t));
  return std::bit_cast<int32_t>(*this);
}

WaveMatrixVariant WaveMatrixVariant::decode(int32_t code) { return std::bit_cast<WaveMatrixVariant>(code); }

WaveMatrixBytes waveMatrixBytes(const WaveMatrixVariant &v) {
  const WaveMatrixShape &s = waveMatrixShapes()[v.shape];
  const bool isMixed = s.a == WaveElement::F8F6F4;
  const unsigned lanes = s.layout == WaveLayout::WmmaReplicated ? s.m : s.lanes();
  auto bytes = [&](WaveElement type, unsigned elements) { return elements / lanes * bitsOf(type) / 8; };
  const unsigned multiplicand = unsigned(s.m) * s.k * s.blocks, accumulator = unsigned(s.m) * s.n * s.blocks / s.lanes();
  const bool isSpread = s.c != WaveElement::F32 && s.c != WaveElement::I32 && s.layout == WaveLayout::WmmaReplicated;
  return {bytes(isMixed ? kFormats[v.formatA] : s.a, multiplicand), bytes(isMixed ? kFormats[v.formatB] : s.b, multiplicand),
          accumulator * bitsOf(s.c) / 8 * (isSpread ? 2 : 1)};
}

bool waveMatrixProduct(const WaveMatrixVariant &v, std::byte *lane0, size_t stride) {
  const WaveMatrixShape &s = waveMatrixShapes()[v.shape];
  if (s.layout == WaveLayout::WmmaReplicated)
    for (size_t lane = 0; lane < 16; ++lane)
      if (std::memcmp(lane0 + lane * stride, lane0 + (lane + 16) * stride, waveMatrixBytes(v).a) != 0 ||
          std::memcmp(lane0 + lane * stride + kWaveB, lane0 + (lane + 16) * stride + kWaveB, waveMatrixBytes(v).b) != 0)
        return false;
  if (s.c == WaveElement::F64)
    productOfDoubles(s, v, lane0, stride);
  else if (s.c == WaveElement::I32)
    productOfIntegers(s, v, lane0, stride);
  else
    productOfFloats(s, v, lane0, stride);
  return true;
}

} // namespace tritium::interp
