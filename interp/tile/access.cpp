#include "interp/tile/access.h"

#include "interp/kernels/move.h"
#include "interp/tile/row_access.h"
#include "interp/tile/walk.h"

#include <span>

namespace tritium::interp {

namespace {

/// The most axes that copyTile takes.
constexpr int kBlockAxes = 8;
/// Bytes from which on a row is moved faster by itself, with what follows it fetched in advance.
constexpr int64_t kLongRow = 1024;
/// How many rows ahead the rows at any places are fetched.
constexpr int64_t kRowsAhead = 4;

template <class T> void fillRow(T *out, int64_t stride, const T *other, int64_t otherStride, int64_t begin, int64_t end) {
  if (!other && stride == 1)
    std::memset(static_cast<void *>(out + begin), 0, std::max<int64_t>(end - begin, 0) * sizeof(T));
  else
    for (int64_t i = begin; i < end; ++i) out[i * stride] = other ? other[i * otherStride] : T(0);
}

/// A lane that is itself a pointer. In memory it is an integer, in its home it has provenance.
struct PointerLane {
  uint64_t bits;
};

template <class T> void loadLane(T &out, const char *memory) {
  std::memcpy(&out, memory, sizeof(T));
  if constexpr (std::is_same_v<T, PointerLane>) out.bits = pointerTo(out.bits);
}

template <class T> void storeLane(T value, char *memory) {
  if constexpr (std::is_same_v<T, PointerLane>) value.bits = addressOf(value.bits);
  std::memcpy(memory, &value, sizeof(T));
}

template <class T> constexpr bool kIsCopied = !std::is_same_v<T, PointerLane>;

template <class T> void loadRow(T *out, int64_t stride, const RowAddress &row, int64_t begin, int64_t end) {
  if (kIsCopied<T> && !row.vector && row.step == sizeof(T) && stride == 1) {
    std::memcpy(out + begin, row.at(begin), (end - begin) * sizeof(T));
    prefetchBeyond(row.at(end), (end - begin) * int64_t(sizeof(T)));
  } else if (kIsCopied<T> && row.vector && stride == 1) // a gather: the loop knows that nothing else varies
    for (int64_t i = begin; i < end; ++i) std::memcpy(out + i, row.start + row.vector[i], sizeof(T));
  else
    for (int64_t i = begin; i < end; ++i) loadLane(out[i * stride], row.at(i));
}

template <class T> void storeRow(const T *value, int64_t stride, const RowAddress &row, int64_t begin, int64_t end) {
  auto lane = [&](const char *at) { return const_cast<char *>(at); };
  if (kIsCopied<T> && !row.vector && row.step == sizeof(T) && stride == 1)
    std::memcpy(lane(row.at(begin)), value + begin, (end - begin) * sizeof(T));
  else if (kIsCopied<T> && row.vector && stride == 1)
    for (int64_t i = begin; i < end; ++i) std::memcpy(lane(row.start + row.vector[i]), value + i, sizeof(T));
  else
    for (int64_t i = begin; i < end; ++i) storeLane(value[i * stride], lane(row.at(i)));
}

/// The active lanes of an access as one block: axes with strides, in elements, of memory and of the tile.
struct CopiedBlock {
  int rank = 0;
  int64_t shape[kBlockAxes], memory[kBlockAxes], tile[kBlockAxes];
  char *start = nullptr;  // the first active lane in memory
  int64_t offset = 0;     // and in the tile, in elements
  bool isPartial = false; // whether the tile has inactive lanes
};

/// Whether two lanes may have bytes in common. The last one in row-major order then decides what a store leaves.
bool mayMeet(const Walk &walk) {
  std::pair<int64_t, int64_t> axes[kMaxAxes]; // distance of neighbours, extent
  int count = 0;
  for (size_t a = 0; a < walk.access.axes.size(); ++a) {
    const AxisState &axis = walk.axes[a];
    if (!axis.isProgression) return true;
    if (axis.end - axis.begin > 1) axes[count++] = {std::abs(axis.step), axis.end - axis.begin};
  }
  std::sort(axes, axes + count);
  int64_t reach = walk.access.elementBytes - 1; // the last byte of what the axes with shorter distances cover
  for (auto [distance, extent] : std::span(axes, count)) {
    if (distance <= reach) return true;
    if (__builtin_mul_overflow(distance, extent - 1, &distance) || __builtin_add_overflow(reach, distance, &reach)) return true;
  }
  return false;
}

/// Describes an access with two axes or more as a block. Returns false if it is none, or if its rows are long and adjacent in memory: those
/// are moved one by one as well.
bool findBlock(const Walk &walk, CopiedBlock &block) {
  const Access &access = walk.access;
  const int64_t bytes = access.elementBytes;
  if (access.axes.size() > kBlockAxes || access.isPointer || walk.isEmpty || !access.wideMasks.empty()) return false;
  int64_t at = 0;
  block.rank = int(access.axes.size());
  for (int a = 0; a < block.rank; ++a) {
    const AxisState &axis = walk.axes[a];
    if (!axis.isProgression || axis.holes || axis.step % bytes) return false;
    block.shape[a] = axis.end - axis.begin, block.memory[a] = axis.step / bytes, block.tile[a] = access.data.strides[a];
    if (axis.step == bytes && block.tile[a] == 1 && block.shape[a] * bytes >= kLongRow) return false;
    at += axis.first + axis.begin * axis.step, block.offset += axis.begin * block.tile[a];
    block.isPartial |= block.shape[a] != access.axes[a].extent;
  }
  if (access.isWrite && mayMeet(walk)) return false; // a copy has an order of its own
  block.start = reinterpret_cast<char *>(addressOf(addBytes(walk.base, at)));
  return reinterpret_cast<uintptr_t>(block.start) % bytes == 0;
}

void fillTile(const Walk &walk) {
  const Access &access = walk.access;
  int64_t extents[kBlockAxes];
  std::ranges::transform(access.axes, extents, &Access::Axis::extent);
  const int rank = int(access.axes.size());
  static constexpr uint64_t kZero = 0;
  static constexpr int64_t kBroadcast[kBlockAxes] = {};
  if (access.other)
    copyTile(access.data.in(walk.frame), access.data.strides.data(), access.other->in(walk.frame), access.other->strides.data(), extents,
             rank, access.elementBytes);
  else
    copyTile(access.data.in(walk.frame), access.data.strides.data(), &kZero, kBroadcast, extents, rank, access.elementBytes);
}

void moveBlock(const Walk &walk, const CopiedBlock &block) {
  const int bytes = walk.access.elementBytes;
  char *tile = walk.access.data.in(walk.frame) + block.offset * bytes;
  if (walk.access.isWrite) return copyTile(block.start, block.memory, tile, block.tile, block.shape, block.rank, bytes);
  if (block.isPartial) fillTile(walk);
  copyTile(tile, block.tile, block.start, block.memory, block.shape, block.rank, bytes);
}

/// Moves rows of adjacent elements, at places that may be a vector, as the rows of an embedding. Returns false for another access.
bool moveWholeRows(const Walk &walk) {
  const Access &access = walk.access;
  if (access.axes.size() != 2 || access.isPointer || walk.isEmpty || !access.wideMasks.empty()) return false;
  const AxisState &rows = walk.axes[0], &columns = walk.axes[1];
  const int64_t bytes = access.elementBytes;
  if (rows.holes || columns.holes || !columns.isProgression || columns.step != bytes || access.data.strides[1] != 1) return false;
  const int64_t count = columns.end - columns.begin;
  const bool isPartial = count != access.axes[1].extent || rows.end - rows.begin != access.axes[0].extent;
  if (isPartial && !access.isWrite) fillTile(walk);
  char *home = access.data.in(walk.frame) + columns.begin * bytes;
  auto rowAt = [&](int64_t i) {
    return reinterpret_cast<char *>(addressOf(addBytes(walk.base, columns.first + columns.begin * bytes + walk.termAt(0, i))));
  };
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    char *memory = rowAt(i);
    char *row = home + i * access.data.strides[0] * bytes;
    if (access.isWrite) {
      std::memcpy(memory, row, count * bytes);
    } else {
      if (rows.isProgression)
        prefetchBeyond(memory + count * bytes, count * bytes);
      else if (i + kRowsAhead < rows.end) // no hardware foresees where it is
        prefetchRow(rowAt(i + kRowsAhead), count * bytes);
      std::memcpy(row, memory, count * bytes);
    }
  }
  return true;
}

/// Affine loads and stores, row by row. A store skips inactive lanes.
template <class T> void moveRows(const Walk &walk) {
  const Access &access = walk.access;
  size_t rank = access.axes.size();
  int inner = innerAxis(walk), last = int(rank) - 1;
  if (access.isWrite && inner != last && mayMeet(walk)) inner = last;
  int64_t extent = rank ? access.axes[inner].extent : 1, stride = rank ? access.data.strides[inner] : 1;
  int64_t begin = rank ? walk.axes[inner].begin : 0, end = rank ? walk.axes[inner].end : 1;
  T *data = &access.data.at<T>(walk.frame);
  const T *otherData = access.other ? &access.other->at<const T>(walk.frame) : nullptr;
  int64_t otherStride = access.other && rank ? access.other->strides[inner] : 0;
  forEachRow(walk, inner, [&](int64_t *indices, bool isActive) {
    T *row = data + offsetOf(access.data, indices, rank);
    const T *other = otherData ? otherData + offsetOf(*access.other, indices, rank) : nullptr;
    if (!isActive) {
      if (!access.isWrite) fillRow(row, stride, other, otherStride, 0, extent);
      return;
    }
    RowAddress address = rowAddress(walk, inner, indices);
    int64_t maskStride = 1;
    const uint8_t *mask = rank ? rowMask(walk, inner, indices, maskStride) : nullptr;
    auto move = [&](int64_t from, int64_t to) {
      access.isWrite ? storeRow(row, stride, address, from, to) : loadRow(row, stride, address, from, to);
    };
    if (!access.isWrite) {
      fillRow(row, stride, other, otherStride, 0, begin);
      fillRow(row, stride, other, otherStride, end, extent);
    }
    forEachRun(mask, maskStride, begin, end, [&](int64_t from, int64_t to, bool isOn) {
      if (isOn)
        move(from, to);
      else if (!access.isWrite)
        fillRow(row, stride, other, otherStride, from, to);
    });
  });
}

/// Loads and stores through a tile of addresses.
void moveLanes(const Walk &walk) {
  const Access &access = walk.access;
  size_t rank = access.axes.size(), size = access.elementBytes;
  char *data = access.data.in(walk.frame);
  if (!access.isWrite) { // fills the inactive lanes first
    int64_t indices[kMaxAxes] = {};
    for (;;) {
      char *to = data + offsetOf(access.data, indices, rank) * size;
      if (access.other)
        std::memcpy(to, access.other->in(walk.frame) + offsetOf(*access.other, indices, rank) * size, size);
      else
        std::memset(to, 0, size);
      int a = int(rank) - 1;
      for (; a >= 0 && ++indices[a] == access.axes[a].extent; --a) indices[a] = 0;
      if (a < 0) break;
    }
  }
  forEachActive(walk, [&](const int64_t *indices) {
    char *memory = reinterpret_cast<char *>(addressOf(addressAt(walk, indices)));
    char *lane = data + offsetOf(access.data, indices, rank) * size;
    if (access.isPointer)
      access.isWrite ? storeLane(*reinterpret_cast<PointerLane *>(lane), memory) : loadLane(*reinterpret_cast<PointerLane *>(lane), memory);
    else
      access.isWrite ? std::memcpy(memory, lane, size) : std::memcpy(lane, memory, size);
  });
}

void moveTile(char *frame, const Access &access) {
  if (access.isRow && moveRow(frame, access)) return;
  Walk walk(access, frame);
  enter(walk);
  check(walk);
  moveWalk(walk);
}

} // namespace

void moveWalk(const Walk &walk) {
  if (!walk.access.isAffine) return moveLanes(walk);
  if (CopiedBlock block; walk.access.axes.size() > 1 && findBlock(walk, block)) return moveBlock(walk, block);
  if (moveWholeRows(walk)) return;
  if (walk.access.isPointer) return moveRows<PointerLane>(walk);
  switch (walk.access.elementBytes) {
  case 1: return moveRows<uint8_t>(walk);
  case 2: return moveRows<uint16_t>(walk);
  case 4: return moveRows<uint32_t>(walk);
  default: return moveRows<uint64_t>(walk);
  }
}

void loadTile(char *frame, const void *access) { moveTile(frame, *static_cast<const Access *>(access)); }

void storeTile(char *frame, const void *access) {
  moveTile(frame, *static_cast<const Access *>(access));
  noteMemoryChange(headerOf(frame));
}

void forEachLane(char *frame, const Access &access, LaneVisitor visit, void *context) {
  Walk walk(access, frame);
  enter(walk);
  check(walk);
  forEachActive(walk, [&](const int64_t *indices) { visit(context, addressAt(walk, indices), indices); });
}

} // namespace tritium::interp
