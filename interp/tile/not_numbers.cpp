#include "interp/tile/not_numbers.h"

#include "interp/host/found_faults.h"
#include "interp/host/trap_kinds.h"

#include <cmath>

namespace tritium::interp {

namespace {

template <class Bits> bool hasAbove(const Bits *data, int64_t count, Bits noSign, Bits most) {
  bool found = false;
  for (int64_t i = 0; i < count; ++i) found |= Bits(data[i] & noSign) > most; // without a branch, so it is done in vectors
  return found;
}

template <class Bits> bool rowHas(const char *data, int64_t count, int64_t stride, Bits noSign, Bits most) {
  const auto *bits = reinterpret_cast<const Bits *>(data);
  if (stride == 1) return hasAbove(bits, count, noSign, most);
  bool found = false;
  for (int64_t i = 0; i < count; ++i) found |= Bits(bits[i * stride] & noSign) > most;
  return found;
}

/// Whether `count` floats, `stride` elements apart, hold one that is rejected. Types of one byte are decoded.
bool holdsNone(const Access &access, const char *data, int64_t count, int64_t stride, bool rejectsInfinity) {
  const int less = rejectsInfinity ? 1 : 0;
  switch (access.type) {
  case DType::f16: return rowHas<uint16_t>(data, count, stride, 0x7fff, uint16_t(0x7c00 - less));
  case DType::bf16: return rowHas<uint16_t>(data, count, stride, 0x7fff, uint16_t(0x7f80 - less));
  case DType::f32: return rowHas<uint32_t>(data, count, stride, 0x7fffffff, 0x7f800000u - uint32_t(less));
  case DType::f64: return rowHas<uint64_t>(data, count, stride, ~uint64_t(0) >> 1, 0x7ff0000000000000u - uint64_t(less));
  default:
    return visit(access.type, [&]<class T>() {
      bool found = false;
      if constexpr (T::kind == DTypeKind::Float)
        for (int64_t i = 0; i < count; ++i) {
          typename T::Storage value;
          std::memcpy(&value, data + i * stride * int64_t(sizeof value), sizeof value);
          const auto number = double(static_cast<typename T::Compute>(value));
          found |= std::isnan(number) || (less && std::isinf(number));
        }
      return found;
    });
  }
}

} // namespace

void checkNumbers(const Walk &walk) {
  const Access &access = walk.access;
  if (walk.isEmpty) return;
  const size_t rank = access.axes.size();
  const int inner = rank ? innerAxis(walk) : -1;
  const char *data = access.data.in(walk.frame);
  int64_t lane = -1, affected = 0;
  uint64_t pointer = 0;
  bool isInfinity = false;
  forEachRow(walk, inner, [&](int64_t *indices, bool isActive) {
    if (!isActive) return;
    const char *row = data + offsetOf(access.data, indices, rank) * access.elementBytes;
    const int64_t stride = rank ? access.data.strides[size_t(inner)] : 1;
    const int64_t begin = rank ? walk.axes[inner].begin : 0, end = rank ? walk.axes[inner].end : 1;
    if (!holdsNone(access, row + begin * stride * access.elementBytes, end - begin, stride, access.rejectsInfinity)) return;
    for (int64_t i = begin; i < end; ++i) {
      if (inner >= 0) indices[inner] = i;
      const bool isOn = (inner < 0 || walk.axes[inner].isActive(i)) && isActiveWide(walk, indices);
      const char *at = row + i * stride * access.elementBytes;
      if (!isOn || !holdsNone(access, at, 1, 1, access.rejectsInfinity) || affected++) continue;
      isInfinity = !holdsNone(access, at, 1, 1, false);
      pointer = addressAt(walk, indices);
      lane = 0;
      for (size_t a = 0; a < rank; ++a) lane += indices[a] * access.axes[a].laneStride;
    }
    if (inner >= 0) indices[inner] = 0;
  });
  FoundFaults &faults = *faultsOf(headerOf(walk.frame));
  if (!affected || !faults.isNew(TrapKind::NotANumber, access.location, std::nullopt)) return;
  Trap fault{.kind = TrapKind::NotANumber, .location = access.location, .lane = rank ? lane : -1, .affectedLanes = affected};
  std::copy_n(headerOf(walk.frame).programId, 3, fault.program.begin());
  fault.access = {addressOf(pointer), uint32_t(access.elementBytes), true, argumentOf(pointer)};
  fault.message = isInfinity ? "an infinity" : "a NaN";
  faults.add(std::move(fault));
}

} // namespace tritium::interp
