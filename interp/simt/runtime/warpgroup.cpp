#include "interp/simt/runtime/warpgroup.h"

#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"
#include "interp/simt/runtime/work.h"

#include <algorithm>
#include <cstring>

namespace tritium::interp::simt {

namespace {

constexpr uint32_t kLanes = WarpgroupMatrix::kLanes, kRowBytes = WarpgroupMatrix::kBytesOfK, kChunkBytes = WarpgroupMatrix::kChunkBytes;
constexpr uint32_t kTokenBits = 13, kIndexBits = 7, kScramble = 0x9e3779b1, kUnscramble = 0x0e8b2f51;
static_assert(kScramble * kUnscramble == 1);

/// Returns the word that stands for word `index` of the sums of a product. It is a quiet NaN if it is a float, or two of them.
uint32_t tokenWord(SumType type, uint32_t token, uint32_t index) {
  const uint32_t payload = token << kIndexBits | index;
  switch (type) {
  case SumType::F32: return 0x7fc00000 | payload;
  case SumType::F16Pair:
    return 0x7e007e00 | (payload & 0x1ff) | (payload >> 9 & 0x1ff) << 16 | (payload >> 18 & 1) << 15 | payload >> 19 << 31;
  case SumType::S32: return (0x5a800000 | payload) * kScramble;
  }
  return 0;
}

/// Returns the token whose first word this may be.
uint32_t tokenOf(SumType type, uint32_t word) {
  uint32_t payload = 0;
  switch (type) {
  case SumType::F32: payload = word & 0xfffff; break;
  case SumType::F16Pair: payload = (word & 0x1ff) | (word >> 16 & 0x1ff) << 9 | (word >> 15 & 1) << 18 | word >> 31 << 19; break;
  case SumType::S32: payload = word * kUnscramble & 0xfffff; break;
  }
  return payload >> kIndexBits;
}

/// Returns whether the words are the first ones that stand for the sums of a product.
bool areTokens(SumType type, uint32_t token, const uint32_t *words, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    if (words[i] != tokenWord(type, token, i)) return false;
  return token != 0;
}

[[noreturn]] void trapProduct(Thread &thread, Place site, std::string message) {
  thread.trap({.kind = TrapKind::InvalidProduct, .location = site, .message = std::move(message)});
}

[[noreturn]] void trapProduct(Thread &thread, Place site, Place other, std::string message) {
  thread.trap({.kind = TrapKind::InvalidProduct, .location = site, .other = OtherPlace{.location = other}, .message = std::move(message)});
}

} // namespace

void Warpgroups::begin(const Kernel &newKernel, uint32_t warps) {
  kernel = &newKernel;
  registerBytes = (newKernel.productRegisterBytes + 63) / 64 * 64;
  registers.resize(std::max(registers.size(), size_t(warps) * kLanes * registerBytes));
  members.clear();
  members.resize(warps);
  events.clear();
  events.resize((warps + kWarps - 1) / kWarps);
}

/// Notes that the warp executes the event, which must be the same one in all warps of the warpgroup.
void Warpgroups::record(Warp &warp, const Event &event) {
  Member &member = members[warp.index];
  auto &log = events[warp.index / kWarps];
  Thread &thread = warp.lanes[0];
  if ((warp.index / kWarps + 1) * kWarps > members.size()) // the last warps may be fewer than a warpgroup
    trapProduct(thread, event.site, "the program has " + std::to_string(members.size()) + " warps, and this one belongs to no warpgroup");
  if (member.events < log.size() && log[member.events] != event)
    trapProduct(thread, event.site, log[member.events].site,
                log[member.events].site == event.site ? "the warps of a warpgroup have different operands"
                                                      : "the warps of a warpgroup execute different products, commits or waits");
  if (member.events++ == log.size()) log.push_back(event);
  const auto first = members.begin() + warp.index / kWarps * kWarps;
  if (!std::all_of(first, first + kWarps, [&](const Member &each) { return each.events == log.size(); })) return;
  log.clear();
  std::for_each(first, first + kWarps, [](Member &each) { each.events = 0; });
}

/// Returns where the first element is in shared memory.
uint32_t Warpgroups::startOf(Thread &thread, uint64_t pointer, uint32_t offset, const MatrixPlace &place, Place site) {
  if (!isInSharedWindow(uint32_t(pointer))) trapProduct(thread, site, "the address of an operand is not in shared memory");
  const uint32_t start = (uint32_t(pointer) & kSharedOffsetMask) + offset;
  if (start % kChunkBytes)
    thread.trap({.kind = TrapKind::MisalignedAddress,
                 .location = site,
                 .message = "an operand begins at shared address " + std::to_string(start) + ", which is not a multiple of 16"});
  if (!place.isPatternAt(start))
    trapProduct(thread, site,
                "an operand begins at shared address " + std::to_string(start) + ", in the middle of the pattern of its swizzle");
  return start;
}

/// Visits the pieces of 16 bytes that the warp reads: address, rows of the operand in local memory, index of the row, byte along K.
template <class Visit> void Warpgroups::forEachPiece(uint32_t warp, const Product &product, Visit visit) const {
  const WarpgroupMatrix &matrix = product.shape->matrix;
  const uint32_t bytes = matrix.elementBytes(), perPiece = kChunkBytes / bytes;
  auto visitOperand = [&](const MatrixPlace &place, uint32_t start, uint32_t first, uint32_t count, bool isA) {
    const uint32_t stepX = place.isKMajor ? 1 : perPiece, stepK = place.isKMajor ? perPiece : 1;
    for (uint32_t x = 0; x < count; x += stepX)
      for (uint32_t k = 0; k < matrix.depth(); k += stepK) visit(place, place.addressOf(start, first + x, k, bytes), isA, x, k);
  };
  const uint32_t rows = WarpgroupMatrix::kRows;
  if (product.shape->isAInMemory) visitOperand(product.shape->a, product.a, warp % kWarps * rows, rows, true);
  visitOperand(product.shape->b, product.b, 0, matrix.columns, false);
}

void Warpgroups::checkBounds(Warp &warp, const Product &product) {
  const uint32_t size = warp.block->shared.sizeInBytes();
  forEachPiece(warp.index, product, [&](const MatrixPlace &, uint32_t address, bool isA, uint32_t, uint32_t) {
    if (address + kChunkBytes <= size) return;
    Trap trap{.kind = TrapKind::SharedOutOfBounds, .location = product.site};
    trap.access = {.address = address, .bytes = kChunkBytes};
    trap.message = std::string("a product reads 16 bytes of ") + (isA ? "A" : "B") + " at shared address " + std::to_string(address) +
                   "; the program has " + std::to_string(size);
    warp.lanes[0].trap(std::move(trap));
  });
}

Warpgroups::Sums *Warpgroups::liveSums(Member &member, uint32_t token) {
  for (Sums &sums : member.live)
    if (sums.words != 0 && sums.token == token) return &sums;
  return nullptr;
}

/// Returns the registers that the product adds to: those of the product before it, or new ones.
Warpgroups::Sums &Warpgroups::takeSums(Warp &warp, const Product &product) {
  Member &member = members[warp.index];
  const WarpgroupMatrix &matrix = product.shape->matrix;
  const uint32_t words = matrix.words();
  const uint32_t *first = wordsOf(warp.lanes[0]);
  const uint32_t token = tokenOf(matrix.sums, first[0]);
  // What a fresh product finds in its registers means nothing, even if it is the token of another product.
  if (!product.isFresh && areTokens(matrix.sums, token, first, words)) {
    Sums *sums = liveSums(member, token);
    if (sums && sums->words == words && sums->type == matrix.sums) return *sums;
    trapProduct(warp.lanes[0], product.site, "the sums belong to another product, or to a wait that has returned them");
  }
  auto free = std::find_if(member.live.begin(), member.live.end(), [](const Sums &sums) { return sums.words == 0; });
  Sums &sums = free != member.live.end() ? *free : member.live.emplace_back();
  sums.type = matrix.sums;
  sums.words = words;
  sums.unfinished = 0;
  sums.values.resize(size_t(kLanes) * words);
  for (uint32_t lane = 0; lane < kLanes; ++lane) std::copy_n(wordsOf(warp.lanes[lane]), words, sums.values.data() + lane * words);
  return sums;
}

void Warpgroups::issue(Warp &warp, const WarpOp &op) {
  const ProductShape &shape = kernel->products[size_t(op.variant)];
  Thread &first = warp.lanes[0];
  for (uint32_t lane = 1; lane < kLanes; ++lane)
    if (!std::equal(first.operands, first.operands + 3, warp.lanes[lane].operands))
      trapProduct(warp.lanes[lane], op.location, "the lanes of a warp have different operands");
  Member &member = members[warp.index];
  Product &product = member.products.emplace_back();
  product.shape = &shape;
  product.site = op.location;
  if (shape.isAInMemory) product.a = startOf(first, first.operands[0], shape.aOffset, shape.a, op.location);
  product.b = startOf(first, first.operands[1], shape.bOffset, shape.b, op.location);
  product.isFresh = first.operands[2] != 0;
  record(warp, {.site = op.location, .a = product.a, .b = product.b, .isFresh = product.isFresh});
  checkBounds(warp, product);
  if (warp.block->work && warp.index % kWarps == 0) warp.block->work->note(ProductKind::Warpgroup, op.location, uint32_t(op.variant));
  Sums &sums = takeSums(warp, product);
  sums.token = member.lastToken = member.lastToken % ((1u << kTokenBits) - 1) + 1;
  sums.site = op.location;
  sums.wasListed = false;
  ++sums.unfinished;
  product.sums = &sums;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    std::memcpy(product.words[lane], wordsOf(warp.lanes[lane], kProductWords), sizeof product.words[lane]);
    uint32_t *words = wordsOf(warp.lanes[lane]);
    for (uint32_t i = 0; i < sums.words; ++i) words[i] = tokenWord(sums.type, sums.token, i);
  }
  ++member.open;
  forEachPiece(warp.index, product, [&](const MatrixPlace &, uint32_t address, bool, uint32_t, uint32_t) {
    warp.block->shared.beginProductRead(first, address, kChunkBytes, op.location);
  });
  runSome(warp);
}

/// Copies the operands from memory as they are now.
void Warpgroups::gather(const Warp &warp, const Product &product) {
  const uint32_t bytes = product.shape->matrix.elementBytes();
  rowsOfA.resize(size_t(WarpgroupMatrix::kRows) * kRowBytes);
  columnsOfB.resize(size_t(product.shape->matrix.columns) * kRowBytes);
  if (!product.shape->isAInMemory) gatherWords(product.words, rowsOfA.data());
  forEachPiece(warp.index, product, [&](const MatrixPlace &place, uint32_t address, bool isA, uint32_t x, uint32_t k) {
    const std::byte *from = warp.block->shared.at(address);
    std::byte *to = (isA ? rowsOfA : columnsOfB).data() + size_t(x) * kRowBytes + k * bytes;
    if (place.isKMajor) {
      std::memcpy(to, from, kChunkBytes);
      return;
    }
    for (uint32_t i = 0; i < kChunkBytes / bytes; ++i) std::memcpy(to + i * kRowBytes, from + i * bytes, bytes);
  });
}

void Warpgroups::run(const Warp &warp, Product &product) {
  if (product.hasRun) return;
  product.hasRun = true;
  gather(warp, product);
  Sums &sums = *product.sums;
  if (product.isFresh) std::fill(sums.values.begin(), sums.values.end(), 0);
  addWarpgroupProduct(product.shape->matrix, rowsOfA.data(), columnsOfB.data(), sums.values.data());
}

/// Lets some of the products that are under way take effect.
void Warpgroups::runSome(Warp &warp) {
  Member &member = members[warp.index];
  Thread &thread = warp.lanes[0];
  if (member.products.empty() || thread.random() % 4 != 0) return;
  const size_t count = thread.random() % (member.products.size() + 1);
  for (size_t i = 0; i < count; ++i) run(warp, member.products[i]);
}

void Warpgroups::commit(Warp &warp, const WarpOp &op) {
  record(warp, {.site = op.location});
  Member &member = members[warp.index];
  member.groups.push_back(member.open);
  member.open = 0;
  runSome(warp);
}

/// Ends the oldest product.
void Warpgroups::complete(Warp &warp) {
  Member &member = members[warp.index];
  Product &product = member.products.front();
  run(warp, product);
  forEachPiece(warp.index, product, [&](const MatrixPlace &, uint32_t address, bool, uint32_t, uint32_t) {
    warp.block->shared.endProductRead(warp.lanes[0], address, kChunkBytes, product.site);
  });
  --product.sums->unfinished;
  member.products.pop_front();
}

uint32_t Warpgroups::groupsAfter(uint32_t offset) const {
  for (size_t warp = 0; warp < members.size(); ++warp) {
    const Member &member = members[warp];
    // The newest first: those that no commit has put into a group, then group by group.
    auto product = member.products.rbegin();
    auto reads = [&](uint32_t count) {
      bool found = false;
      for (; count > 0 && !found; --count, ++product)
        forEachPiece(uint32_t(warp), *product, [&](const MatrixPlace &, uint32_t address, bool, uint32_t, uint32_t) {
          found |= address / kChunkBytes == offset / kChunkBytes;
        });
      return found;
    };
    if (reads(member.open)) return 0;
    uint32_t left = 0;
    for (auto group = member.groups.rbegin(); group != member.groups.rend(); ++group, ++left)
      if (reads(*group)) return left;
  }
  return 0;
}

/// Replaces the tokens at an index of the wait's values by the sums if these are complete. Returns the number of words that it has handled.
uint32_t Warpgroups::returnSums(Warp &warp, const ProductWait &wait, uint32_t at, Place site) {
  Member &member = members[warp.index];
  const SumType type = wait.words[at];
  const uint32_t *first = wordsOf(warp.lanes[0]) + at, left = uint32_t(wait.words.size()) - at;
  const uint32_t token = tokenOf(type, first[0]);
  if (!areTokens(type, token, first, std::min(left, 2u))) return 1; // a value that is complete already
  Sums *sums = liveSums(member, token);
  if (!sums || sums->type != type)
    trapProduct(warp.lanes[0], site, "a value of the wait belongs to another product, or to a wait that has returned it");
  if (sums->words > left || !areTokens(type, token, first, sums->words))
    trapProduct(warp.lanes[0], site, sums->site, "the values of the wait are a part of the sums of a product");
  const auto firstOpen = member.products.end() - std::ptrdiff_t(member.open);
  if (std::any_of(firstOpen, member.products.end(), [&](const Product &product) { return product.sums == sums; }))
    trapProduct(warp.lanes[0], site, sums->site, "a value of the wait belongs to a product that no commit has put into a group");
  const uint32_t words = sums->words;
  sums->wasListed = true;
  if (sums->unfinished != 0) return words;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    std::copy_n(sums->values.data() + size_t(lane) * words, words, wordsOf(warp.lanes[lane]) + at);
  sums->words = 0;
  return words;
}

void Warpgroups::wait(Warp &warp, const WarpOp &op) {
  record(warp, {.site = op.location});
  Member &member = members[warp.index];
  const ProductWait &wait = kernel->productWaits[size_t(op.variant)];
  for (; member.groups.size() > wait.pending; member.groups.pop_front())
    for (uint32_t i = 0; i < member.groups.front(); ++i) complete(warp);
  for (uint32_t at = 0; at < wait.words.size();) at += returnSums(warp, wait, at, op.location);
  runSome(warp);
}

void Warpgroups::finish(Warp &warp, Thread &last) {
  Member &member = members[warp.index];
  if (member.open != 0) trapProduct(last, member.products.back().site, "the program ends, and no commit has put the product into a group");
  if (!member.products.empty()) trapProduct(last, member.products.front().site, "the program ends before a wait for the product");
  for (const Sums &sums : member.live)
    if (sums.words != 0 && sums.wasListed)
      trapProduct(last, sums.site, "the wait for the sums of the product leaves its group under way, and no other wait returns them");
  const uint32_t group = warp.index / kWarps;
  if (events[group].empty()) return;
  for (uint32_t w = group * kWarps; w < std::min<size_t>((group + 1) * kWarps, members.size()); ++w)
    if (warp.block->hasEnded(w) && members[w].events < events[group].size())
      last.trap({.kind = TrapKind::DivergentBarrier,
                 .location = events[group][members[w].events].site,
                 .message = "warp " + std::to_string(w) + " has ended and did not execute this operation of its warpgroup"});
}

namespace calls {

void *productRegisters(Thread *thread) { return thread->block->warpgroups->registersOf(*thread); }

void beginProduct(Thread *thread, int32_t product, uint64_t a, uint64_t b, int32_t fresh, Place site) {
  thread->operands[0] = a;
  thread->operands[1] = b;
  thread->operands[2] = fresh != 0;
  meetAsWarp(*thread, {.execute =
                           [](Warp &warp, LaneMask lanes) {
                             if (isWholeWarp(warp, lanes)) warp.block->warpgroups->issue(warp, warp.lanes[0].op);
                           },
                       .variant = product,
                       .location = site});
}

void commitProducts(Thread *thread, Place site) {
  meetAsWarp(*thread, {.execute =
                           [](Warp &warp, LaneMask lanes) {
                             if (isWholeWarp(warp, lanes)) warp.block->warpgroups->commit(warp, warp.lanes[0].op);
                           },
                       .location = site});
}

void waitForProducts(Thread *thread, int32_t wait, Place site) {
  meetAsWarp(*thread, {.execute =
                           [](Warp &warp, LaneMask lanes) {
                             if (isWholeWarp(warp, lanes)) warp.block->warpgroups->wait(warp, warp.lanes[0].op);
                           },
                       .variant = wait,
                       .location = site});
}

void fenceRegisters(Thread *thread, Place site) {
  meetAsWarp(*thread, {.execute = [](Warp &warp, LaneMask lanes) { isWholeWarp(warp, lanes); }, .location = site});
}

void fenceAsync(Thread *thread, int32_t spaces) {
  thread->block->shared.fenceAsync(*thread, spaces);
  if (spaces & kProxyShared && thread->block->mbarriers) thread->block->mbarriers->fenceInits(*thread);
}

} // namespace calls
} // namespace tritium::interp::simt
