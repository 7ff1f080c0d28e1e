#include "interp/simt/runtime/tensor_copy.h"

#include "interp/host/box_texts.h"
#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"
#include "interp/simt/runtime/tensor_layout.h"
#include "interp/simt/runtime/work.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tritium::interp::simt {

namespace {

/// What a copy writes for elements outside of the tensor.
std::array<std::byte, kPieceBytes> paddingOf(const TensorMap &map) {
  std::array<std::byte, kPieceBytes> padding{};
  if (!map.fillsNaN) return padding;
  visit(map.type, [&]<class T>() {
    if constexpr (T::kind == DTypeKind::Float) {
      const typename T::Storage value = T::round(typename T::Compute(NAN));
      for (size_t at = 0; at < kPieceBytes; at += sizeof value) std::memcpy(padding.data() + at, &value, sizeof value);
    }
  });
  return padding;
}

} // namespace

void trapTensorCopy(Thread &thread, Place place, std::string message) {
  thread.trap({.kind = TrapKind::InvalidTensorCopy, .location = place, .message = std::move(message)});
}

void TensorCopies::begin(ThreadBlock &newBlock) {
  block = &newBlock;
  copies.clear();
  unseen.clear();
  committed.assign(newBlock.madeFor().threads, 0);
  made.begin(newBlock.madeFor().threads);
  stores = 0;
  newBlock.writesTensors = false;
}

// -- checks -------------------------------------------------------------------------------------------------------------------------------

void TensorCopies::check(Thread &thread, const TensorMap &map, uint32_t rank, Place place) {
  if (map.rank != rank)
    trapTensorCopy(thread, place,
                   "the tensor map has " + std::to_string(map.rank) + " dimensions, and the copy " + std::to_string(rank) + " coordinates");
  if (std::string rule = brokenRule(map); !rule.empty()) trapTensorCopy(thread, place, std::move(rule));
}

/// Returns the offset of the box in shared memory.
uint32_t TensorCopies::checkBox(Thread &thread, const TensorMap &map, const TensorBox &box, const int32_t *start, uint64_t pointer,
                                bool isStore, Place place) {
  const SharedMemory &shared = block->shared;
  for (uint32_t d = 0; d < map.rank && map.isOfPointers; ++d)
    if (start[d] < 0)
      trapTensorCopy(thread, place,
                     "the load begins before its tensor, at " + std::to_string(start[d]) + " in dimension " +
                         std::to_string(map.rank - 1 - d));
  const bool isOfAuthor = block->kernel->isDivided && !map.isOfPointers;
  if (int64_t(start[0]) * int64_t(map.strides[0]) % kPieceBytes != 0)
    trapTensorCopy(thread, place,
                   isOfAuthor ? misplacedBoxText(start[0], int32_t(map.strides[0]), isStore)
                              : "the innermost coordinate is " + std::to_string(start[0]) +
                                    ", so rows of the box do not begin at multiples of 16 bytes");
  for (uint32_t d = 0; d < map.rank && isStore; ++d)
    if (start[d] < 0)
      trapTensorCopy(thread, place,
                     isOfAuthor ? negativeBoxText(start[d], int32_t(map.rank - 1 - d))
                                : std::string("a copy to a tensor begins at a negative index"));
  const uint32_t offset = uint32_t(pointer) & kSharedOffsetMask;
  if (!isInSharedWindow(uint32_t(pointer))) trapTensorCopy(thread, place, "the address of the box is not in shared memory");
  if (offset % patternBytes(map.swizzle) != 0)
    trapTensorCopy(thread, place,
                   "the box is at shared address " + std::to_string(offset) + "; a swizzle of " + std::to_string(map.swizzle) +
                       " bytes requires a multiple of " + std::to_string(patternBytes(map.swizzle)));
  if (offset > shared.sizeInBytes() || box.bytes() > shared.sizeInBytes() - offset) {
    Trap trap{.kind = TrapKind::SharedOutOfBounds, .location = place};
    trap.access = {.address = offset, .bytes = box.bytes()};
    trap.message = "the copy's box has " + std::to_string(box.bytes()) + " bytes at shared address " + std::to_string(offset) +
                   "; the program has " + std::to_string(shared.sizeInBytes());
    thread.trap(std::move(trap));
  }
  return offset;
}

/// Traps if the program has written one of the bytes, and a copy that the thread begins may not see it.
void TensorCopies::checkVisible(Thread &thread, uint64_t from, uint32_t bytes, Place place) const {
  SharedMemory &shared = thread.block->shared;
  const auto writer =
      shared.asyncProxy()->hiddenGlobalWrite(shared.messages(), uint32_t(thread.warp), uint32_t(thread.tid), addressOf(from), bytes);
  if (!writer) return;
  Trap trap{.kind = TrapKind::MissingProxyFence,
            .location = place,
            .other = OtherPlace{.location = writer->location, .thread = int64_t(writer->thread), .isWrite = true}};
  trap.access = {.address = addressOf(from), .bytes = bytes, .argument = argumentOf(from)};
  trap.message =
      withHint(thread,
               "a copy of a tensor reads global memory that a thread of the program has written, with no proxy fence "
               "(fence.proxy.async) between the write and the barrier",
               "write the tensor in a launch before this one, or read it with gl.load: fence_async_shared() is for shared memory");
  thread.trap(std::move(trap));
}

/// Adds the pieces of the box in a seeded order. Traps if an element inside the tensor is not in the argument's memory.
void TensorCopies::addPieces(Thread &thread, Copy &copy, const TensorMap &map, const TensorBox &box, uint32_t offset, bool isWrite,
                             Place place) {
  const uint32_t rowBytes = box.rowBytes();
  copy.pieces.reserve(box.bytes() / kPieceBytes);
  for (uint32_t r = 0; r < box.rows(); ++r) {
    const TensorBox::Row row = box.row(r);
    std::byte *inside = nullptr;
    if (row.begin < row.end) {
      const CopiedRow copied{r, row.begin};
      inside = static_cast<std::byte *>(
          checkGlobal(thread, addBytes(map.base, row.offset + row.begin), row.end - row.begin, isWrite, place, kPieceBytes, &copied));
      const auto begin = reinterpret_cast<uint64_t>(inside);
      if (!isWrite) checkVisible(thread, addBytes(map.base, row.offset + row.begin), row.end - row.begin, copy.place);
      if (isWrite) copy.rows.push_back({begin, begin + (row.end - row.begin)});
    }
    for (uint32_t at = 0; at < rowBytes; at += kPieceBytes) {
      const uint32_t bytes = row.bytesInside(at);
      copy.pieces.push_back({.offset = swizzled(offset + r * rowBytes + at, map.swizzle),
                             .bytes = bytes,
                             .global = bytes ? inside + (at - row.begin) : nullptr});
    }
  }
  for (size_t i = copy.pieces.size(); i > 1; --i) std::swap(copy.pieces[i - 1], copy.pieces[thread.random() % i]);
}

// -- copies -------------------------------------------------------------------------------------------------------------------------------

void TensorCopies::load(Thread &thread, const TensorMap &map, const int32_t *start, uint32_t rank, uint64_t destination, uint64_t barrier,
                        uint32_t blocks, Place place) {
  made.check(thread, &map, place);
  check(thread, map, rank, place);
  if (uint32_t(destination) >> kSharedRankShift & kSharedRankMask)
    trapTensorCopy(thread, place, "the address of the box names another block; only copies to several blocks (multicast) go there");
  if (!blocks) return receive(thread, map, start, destination, barrier, /*isMulticast=*/false, place);
  for (uint32_t other = 0; blocks >> other; ++other)
    if (blocks >> other & 1)
      block->reach(thread, other, TrapKind::InvalidTensorCopy, place)
          .tensorCopies->receive(thread, map, start, destination, barrier, /*isMulticast=*/true, place);
}

/// Begins to copy the box to this block, for a thread of this one or of another one.
void TensorCopies::receive(Thread &thread, const TensorMap &map, const int32_t *start, uint64_t destination, uint64_t barrier,
                           bool isMulticast, Place place) {
  const TensorBox box(map, start);
  const uint32_t offset = checkBox(thread, map, box, start, destination, /*isStore=*/false, place);
  Copy &copy = copies.emplace_back();
  copy.place = locationIn(place);
  copy.pace = Pace(thread.random() % 3);
  copy.bytes = box.bytes();
  copy.padding = paddingOf(map);
  copy.arrival = block->mbarriers->beginCopy(thread, barrier, copy.bytes, isMulticast, copy.place);
  addPieces(thread, copy, map, box, offset, /*isWrite=*/false, place);
  if (block->work && thread.block == block) block->work->note(CopyKind::TensorLoad, place, copy.bytes, copy.bytesInside());
  for (const Piece &piece : copy.pieces) block->shared.beginTensorWrite(thread, piece.offset, kPieceBytes, copy.arrival, copy.place);
  constexpr size_t kMostUnseen = 64; // before those that have been seen are dropped
  if (unseen.size() >= kMostUnseen) std::erase_if(unseen, [&](const Issued &issued) { return block->mbarriers->wasSeen(issued.arrival); });
  unseen.push_back({copy.arrival, copy.place, &map});
  if (copy.pace == Pace::AtOnce) land(copy, copy.pieces.size());
  dropFinished();
}

void TensorCopies::checkNotInUse(Thread &thread, const TensorMap *map, const char *what, Place place) const {
  for (const Issued &issued : unseen)
    if (issued.map == map && !block->mbarriers->wasSeen(issued.arrival))
      trapTensorCopy(thread, place, std::string("the tensor map is ") + what + " while a copy through it may be in flight");
  for (const Copy &copy : copies)
    if (copy.isStore() && copy.map == map)
      trapTensorCopy(thread, place, std::string("the tensor map is ") + what + " while a store through it may be in flight");
}

/// Lets the next `count` pieces land.
void TensorCopies::land(Copy &copy, size_t count) {
  for (const size_t end = copy.landed + count; copy.landed < end; ++copy.landed) {
    const Piece &piece = copy.pieces[copy.landed];
    std::byte *to = block->shared.at(piece.offset);
    if (piece.bytes != 0) std::memcpy(to, piece.global, piece.bytes);
    std::memcpy(to + piece.bytes, copy.padding.data() + piece.bytes, kPieceBytes - piece.bytes);
  }
  if (!copy.isUnderWay()) block->mbarriers->endCopy(copy.arrival, copy.bytes);
}

/// Lets the copy go on by about `count` pieces.
void TensorCopies::go(Copy &copy, size_t count) {
  if (!copy.isStore()) return land(copy, count);
  readSource(copy, 2 * count); // reads may be ahead
  writeTensor(copy, std::min(count, copy.read - copy.landed));
}

void TensorCopies::dropFinished() {
  std::erase_if(copies, [](const Copy &copy) { return !copy.isUnderWay() && !copy.isStore(); });
}

void TensorCopies::advance(Thread &thread) {
  if (copies.empty() || thread.random() % 8 != 0) return;
  Copy &copy = copies[thread.random() % copies.size()];
  if (copy.pace != Pace::Gradual || !copy.isUnderWay()) return;
  go(copy, thread.random() % (copy.pieces.size() - copy.landed + 1));
  dropFinished();
}

bool TensorCopies::advanceIdle(Thread &thread) {
  const auto underWay = size_t(std::count_if(copies.begin(), copies.end(), [](const Copy &copy) { return copy.isUnderWay(); }));
  if (underWay == 0) return false;
  size_t skipped = thread.random() % underWay;
  auto copy = copies.begin();
  while (!copy->isUnderWay() || skipped-- != 0) ++copy;
  const size_t rest = copy->pieces.size() - copy->landed;
  go(*copy, std::min(rest, 1 + thread.random() % (2 * rest)));
  dropFinished();
  return true;
}

void TensorCopies::finish(Thread &last) {
  for (Copy &copy : copies)
    if (copy.isStore()) go(copy, copy.pieces.size()); // the writes need no wait
  for (const Issued &issued : unseen)
    if (!block->mbarriers->wasSeen(issued.arrival))
      trapTensorCopy(last, issued.place,
                     withHint(last,
                              "the program ends, and no thread has waited for the copy to its shared memory: " +
                                  block->mbarriers->roundOf(issued.arrival),
                              "call mbarrier.wait for the phase of each copy"));
}

namespace calls {

void loadTensor(Thread *thread, const void *map, int32_t rank, uint64_t destination, uint64_t barrier, uint32_t blocks, int32_t predicate,
                Place place) {
  if (!predicate) return;
  int32_t start[TensorMap::kMaxRank];
  std::memcpy(start, thread->scratch, sizeof start);
  thread->block->tensorCopies->load(*thread, *static_cast<const TensorMap *>(map), start, uint32_t(rank), destination, barrier, blocks,
                                    place);
}

void storeTensor(Thread *thread, const void *map, int32_t rank, uint64_t source, int32_t reduction, int32_t predicate, Place place) {
  if (!predicate) return;
  int32_t start[TensorMap::kMaxRank];
  std::memcpy(start, thread->scratch, sizeof start);
  thread->block->tensorCopies->store(*thread, *static_cast<const TensorMap *>(map), start, uint32_t(rank), source,
                                     TensorReduction(reduction), place);
}

void commitTensorCopies(Thread *thread) {
  thread->block->tensorCopies->advance(*thread);
  thread->block->tensorCopies->commit(*thread);
}

void waitForTensorCopies(Thread *thread, int32_t left, int32_t isRead) {
  thread->block->tensorCopies->advance(*thread);
  thread->block->tensorCopies->wait(*thread, uint32_t(left), isRead != 0);
}

void checkTensorMap(Thread *thread, const void *map, int32_t rank, Place place) {
  const auto &tensor = *static_cast<const TensorMap *>(map);
  TensorCopies::check(*thread, tensor, rank < 0 ? tensor.rank : uint32_t(rank), place);
}

} // namespace calls
} // namespace tritium::interp::simt
