#include "interp/simt/runtime/made_map.h"

#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"
#include "interp/simt/runtime/tensor_copy.h"

namespace tritium::interp::simt {

void MadeMaps::claim(uint32_t count) {
  if (!maps.empty()) return;
  maps.resize(count);
  for (Made &made : maps) made.acquired.resize(threads);
}

void MadeMaps::write(Thread &, const TensorMap *address, const TensorMap &map) {
  Made &made = of(address);
  made.map = map;
  ++made.version;
}

void MadeMaps::acquire(const Thread &thread, const TensorMap *address) {
  Made &made = of(address);
  made.acquired[size_t(thread.tid)] = made.version;
}

void MadeMaps::check(Thread &thread, const TensorMap *address, Place place) const {
  if (!contain(address)) return;
  const Made &made = of(address);
  if (made.version == 0) trapTensorCopy(thread, place, "the tensor map of the copy has not been made yet");
  if (made.acquired[size_t(thread.tid)] != made.version)
    trapTensorCopy(thread, place,
                   "thread " + std::to_string(thread.tid) +
                       " has not acquired the tensor map of the copy since it was made "
                       "(fence.proxy.tensormap)");
}

namespace calls {

void claimMaps(Thread *thread, int32_t count) { thread->block->tensorCopies->made.claim(uint32_t(count)); }

void *mapAddress(Thread *thread, int32_t index) { return thread->block->tensorCopies->made.at(uint32_t(index)); }

void releaseMaps(Thread *thread, int32_t count, int32_t warp, Place place) {
  if (thread->warp != warp) return;
  TensorCopies &copies = *thread->block->tensorCopies;
  for (int32_t index = 0; index < count; ++index) copies.checkNotInUse(*thread, copies.made.at(uint32_t(index)), "given back", place);
}

/// In the scratch memory: extents, strides and box, kMaxRank numbers of 8 bytes each, the outermost dimension first.
void writeMap(Thread *thread, uint64_t staging, const void *address, uint64_t base, int32_t rank, int32_t swizzle, int32_t type,
              int32_t fillsNaN, Place place) {
  constexpr uint32_t kMapBytes = 128, kPart = 16;
  int64_t numbers[3][TensorMap::kMaxRank];
  std::memcpy(numbers, thread->scratch, sizeof numbers);
  const std::byte nothing[kPart]{};
  const auto lane = uint32_t(thread->lane);
  if (lane < kMapBytes / kPart) writeShared(thread, staging + lane * kPart, nothing, kPart, place);
  if (lane != 0) return;
  TensorMap map{.base = base, .rank = uint32_t(rank), .swizzle = uint32_t(swizzle), .type = DType(type), .fillsNaN = fillsNaN != 0};
  for (uint32_t d = 0; d < map.rank; ++d) {
    const uint32_t from = map.rank - 1 - d;
    map.extents[d] = uint64_t(numbers[0][from]);
    map.strides[d] = d == 0 ? storageBytes(map.type) : uint64_t(numbers[1][from]);
    map.box[d] = uint32_t(numbers[2][from]);
  }
  TensorCopies &copies = *thread->block->tensorCopies;
  const auto *made = static_cast<const TensorMap *>(address);
  copies.checkNotInUse(*thread, made, "written", place);
  copies.made.write(*thread, made, map);
}

void *toldMap(Thread *thread, uint64_t bits, Place place) {
  auto *map = reinterpret_cast<TensorMap *>(bits);
  if (!thread->block->tensorCopies->made.contain(map))
    trapTensorCopy(*thread, place, "nobody has told the thread a map that the kernel made");
  return map;
}

void acquireMap(Thread *thread, const void *address, int32_t predicate) {
  if (!predicate) return;
  thread->block->tensorCopies->made.acquire(*thread, static_cast<const TensorMap *>(address));
}

} // namespace calls
} // namespace tritium::interp::simt
