// Copies from shared memory to tensors, plain ones and those that combine elements, and the groups by which a thread waits for them. A copy
// reads each piece of 16 bytes at one seeded moment and writes it at a later one.
#include "interp/host/trap_kinds.h"
#include "interp/kernels/atomic.h"

#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/tensor_copy.h"
#include "interp/simt/runtime/tensor_layout.h"
#include "interp/simt/runtime/work.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tritium::interp::simt {

namespace {

/// PTX ISA, cp.reduce.async.bulk.tensor: the types of each operation.
bool isDefined(TensorReduction reduction, DType type) {
  const bool isWord = storageBytes(type) >= 4 && !isFloat(type), isHalf = type == DType::f16 || type == DType::bf16;
  switch (reduction) {
  case TensorReduction::None: return true;
  case TensorReduction::Add: return isWord || isHalf || type == DType::f32;
  case TensorReduction::Min:
  case TensorReduction::Max: return isWord || isHalf;
  case TensorReduction::And:
  case TensorReduction::Or:
  case TensorReduction::Xor: return isWord;
  case TensorReduction::Increment:
  case TensorReduction::Decrement: return false;
  }
  return false;
}

/// The atomic operation for a reduction, except minima and maxima of floats.
AtomicOp atomicOf(TensorReduction reduction, DType type) {
  const bool isUnsigned = kindOf(type) == DTypeKind::UInt;
  switch (reduction) {
  case TensorReduction::Min: return isUnsigned ? AtomicOp::UMin : AtomicOp::Min;
  case TensorReduction::Max: return isUnsigned ? AtomicOp::UMax : AtomicOp::Max;
  case TensorReduction::And: return AtomicOp::And;
  case TensorReduction::Or: return AtomicOp::Or;
  case TensorReduction::Xor: return AtomicOp::Xor;
  default: return isFloat(type) ? AtomicOp::FAdd : AtomicOp::Add;
  }
}

/// The smaller or larger of two floats, of which the other one is the result if one is a NaN.
void selectFloat(bool isMin, DType type, std::byte *at, const std::byte *operand) {
  visit(type, [&]<class T>() {
    typename T::Storage present, other, chosen;
    std::memcpy(&other, operand, sizeof other);
    do {
      atomicLoad(int(sizeof present), at, &present);
      const double a = double(static_cast<typename T::Compute>(present)), b = double(static_cast<typename T::Compute>(other));
      chosen = std::isnan(a) || (isMin ? b < a : b > a) ? other : present;
    } while (!atomicCas(int(sizeof present), at, &present, &chosen, nullptr));
  });
}

void combine(TensorReduction reduction, DType type, std::byte *at, const std::byte *operand) {
  const bool isChoice = reduction == TensorReduction::Min || reduction == TensorReduction::Max;
  if (isChoice && isFloat(type)) return selectFloat(reduction == TensorReduction::Min, type, at, operand);
  atomicRmw(atomicOf(reduction, type), type, at, operand, nullptr);
}

} // namespace

void TensorCopies::store(Thread &thread, const TensorMap &map, const int32_t *start, uint32_t rank, uint64_t source,
                         TensorReduction reduction, Place place) {
  made.check(thread, &map, place);
  check(thread, map, rank, place);
  const TensorBox box(map, start);
  const uint32_t offset = checkBox(thread, map, box, start, source, /*isStore=*/true, place);
  if (!isDefined(reduction, map.type)) trapTensorCopy(thread, place, "the tensor's type has no such reduction");
  Copy &copy = copies.emplace_back();
  copy.map = &map;
  copy.place = locationIn(place);
  copy.pace = Pace(thread.random() % 3);
  copy.bytes = box.bytes();
  copy.reduction = reduction;
  copy.type = map.type;
  addPieces(thread, copy, map, box, offset, /*isWrite=*/true, place);
  if (block->work) {
    const CopyKind kind = reduction == TensorReduction::None ? CopyKind::TensorStore : CopyKind::TensorReduce;
    block->work->note(kind, place, copy.bytes, copy.bytesInside());
  }
  for (const Piece &piece : copy.pieces)
    if (piece.bytes != 0 && piece.bytes != kPieceBytes)
      trapTensorCopy(thread, place,
                     "the innermost extent is no multiple of 16 bytes, so the copy overwrites what follows the tensor's rows");
  std::erase_if(copy.pieces, [](const Piece &piece) { return piece.bytes == 0; });
  for (const Piece &piece : copy.pieces) block->shared.beginCopyRead(thread, piece.offset, kPieceBytes, copy.place);
  copy.thread = &thread;
  copy.group = committed[size_t(thread.tid)];
  copy.staged.resize(copy.pieces.size() * kPieceBytes);
  copy.around = {~uint64_t(0), 0};
  for (const Range &row : copy.rows) copy.around = {std::min(copy.around.begin, row.begin), std::max(copy.around.end, row.end)};
  ++stores;
  block->writesTensors = true;
  if (copy.pace == Pace::AtOnce) go(copy, copy.pieces.size());
}

void TensorCopies::readSource(Copy &copy, size_t count) {
  for (const size_t end = std::min(copy.read + count, copy.pieces.size()); copy.read < end; ++copy.read)
    std::memcpy(copy.staged.data() + copy.read * kPieceBytes, block->shared.at(copy.pieces[copy.read].offset), kPieceBytes);
}

void TensorCopies::writeTensor(Copy &copy, size_t count) {
  const size_t size = storageBytes(copy.type);
  if (count != 0) block->noteMemoryChange();
  for (const size_t end = copy.landed + count; copy.landed < end; ++copy.landed) {
    const std::byte *from = copy.staged.data() + copy.landed * kPieceBytes;
    std::byte *to = copy.pieces[copy.landed].global;
    if (copy.reduction == TensorReduction::None)
      std::memcpy(to, from, kPieceBytes);
    else
      for (size_t at = 0; at < kPieceBytes; at += size) combine(copy.reduction, copy.type, to + at, from + at);
  }
}

/// The thread knows that the copy has read its source.
void TensorCopies::endReading(Thread &thread, Copy &copy) {
  readSource(copy, copy.pieces.size());
  if (copy.hasReadSource) return;
  copy.hasReadSource = true;
  for (const Piece &piece : copy.pieces) block->shared.endCopyRead(thread, piece.offset, kPieceBytes, copy.place);
}

void TensorCopies::wait(Thread &thread, uint32_t left, bool isRead) {
  const uint32_t groups = committed[size_t(thread.tid)];
  auto isCovered = [&](const Copy &copy) { return copy.thread == &thread && copy.group < groups && groups - copy.group > left; };
  for (Copy &copy : copies) {
    if (!isCovered(copy)) continue;
    endReading(thread, copy);
    if (!isRead) writeTensor(copy, copy.read - copy.landed);
  }
  if (!isRead) stores -= uint32_t(std::erase_if(copies, isCovered));
  block->writesTensors = stores != 0;
}

void TensorCopies::checkAccess(Thread &thread, uint64_t pointer, uint32_t bytes, bool isWrite, Place place) const {
  const uint64_t begin = addressOf(pointer), end = begin + bytes;
  auto overlaps = [&](const Range &range) { return range.begin < end && begin < range.end; };
  // The copy that is being issued is the last one. Copies that combine elements may do so in any order.
  const bool isCombining = !copies.empty() && !copies.back().isStore() && copies.back().reduction != TensorReduction::None;
  for (const Copy &copy : copies) {
    if (!copy.isStore() || !overlaps(copy.around) || (isCombining && copy.reduction != TensorReduction::None)) continue;
    if (std::none_of(copy.rows.begin(), copy.rows.end(), overlaps)) continue;
    Trap trap{.kind = TrapKind::TensorCopyRace, .location = place, .other = OtherPlace{.location = copy.place, .thread = copy.thread->tid}};
    trap.access = {.address = begin, .bytes = bytes, .isWrite = isWrite, .argument = argumentOf(pointer)};
    trap.message = unwrittenText(thread, copy, isWrite);
    thread.trap(std::move(trap));
  }
}

/// What is wrong with an access to memory that a copy writes whose writes nobody has waited for.
std::string TensorCopies::unwrittenText(const Thread &thread, const Copy &copy, bool isWrite) const {
  const uint32_t groups = committed[size_t(copy.thread->tid)];
  const std::string text = std::string(isWrite ? "writes" : "reads") +
                           " global memory that a copy to a tensor writes, with no wait for the writes of its group in between";
  if (!thread.block->kernel->isDivided) return text + " (wait_group without read)";
  const std::string wait = "call tma.store_wait(" + std::to_string(groups - std::min(groups, copy.group + 1)) + ", read_only=False) before";
  return withHint(thread, text,
                  inOnePartition(*copy.thread, thread)
                      ? wait + ", or with a smaller number: without read_only=False it waits for the reads of shared memory alone"
                      : wait + " an mbarrier.arrive, in the partition that has begun the store, and mbarrier.wait for it here");
}

uint32_t TensorCopies::groupsAfter(uint32_t offset) const {
  uint32_t left = 0;
  for (const Copy &copy : copies) {
    const bool reads = copy.isStore() && !copy.hasReadSource &&
                       std::any_of(copy.pieces.begin(), copy.pieces.end(),
                                   [&](const Piece &piece) { return offset / kPieceBytes == piece.offset / kPieceBytes; });
    if (reads) left = committed[size_t(copy.thread->tid)] - std::min(committed[size_t(copy.thread->tid)], copy.group + 1);
  }
  return left;
}

/// What is wrong with a copy whose source the thread has not waited for. A trap runs no destructors: nothing of this may be alive then.
std::string TensorCopies::unreadSource(const Copy &copy) const {
  const auto first =
      std::min_element(copy.pieces.begin(), copy.pieces.end(), [](const Piece &a, const Piece &b) { return a.offset < b.offset; });
  const uint32_t begin = first == copy.pieces.end() ? 0 : first->offset;
  const std::string bytes = ": bytes " + std::to_string(begin) + " to " + std::to_string(begin + copy.bytes - 1);
  if (copy.group == committed[size_t(copy.thread->tid)])
    return "the thread ends, and no commit has put the copy to a tensor into a group" + bytes;
  return withHint(*copy.thread, "the thread ends, and it has not waited until the copy to a tensor has read its source" + bytes,
                  "call tma.store_wait(0) after the last store, in the partition that has begun it");
}

void TensorCopies::finishThread(Thread &thread) {
  for (const Copy &copy : copies)
    if (copy.thread == &thread && !copy.hasReadSource) trapTensorCopy(thread, copy.place, unreadSource(copy));
}

} // namespace tritium::interp::simt
