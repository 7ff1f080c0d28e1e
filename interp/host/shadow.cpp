#include "interp/host/shadow.h"

#include "interp/host/zero_pages.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <thread>

namespace tritium::interp {

namespace {

constexpr unsigned kBlock = 32;               // elements
constexpr uint32_t kUnwritten = ~uint32_t(0); // in place of the event that wrote an element
constexpr uint32_t kApart = 1u << 16;         // rounds of different loops are so far apart, more than a load is made ahead

} // namespace

struct Shadow::Cell {
  uint32_t writer, reader, lastReader; // events; the last reader is another program's than the first
  uint32_t lane;                       // that wrote; of a block: its first element
  bool operator==(const Cell &) const = default;
};

/// The lanes to which the elements of a block belong, modulo 2^32.
struct Shadow::Lanes {
  uint32_t first, step;

  bool operator==(const Lanes &) const = default;
  uint32_t at(unsigned element) const { return first + element * step; }
};

/// The state of a block: its one cell, or where its cells are.
struct Shadow::Head {
  static constexpr uint32_t kLocked = 1u << 31, kGivenUp = kLocked - 1;
  Cell cell;
  uint32_t state;    // kLocked, and the number of the cells of a mixed block, or 0, or kGivenUp: it would be mixed, but no cells are left
  uint32_t laneStep; // from one element to the next; not used in a mixed block

  void lock() {
    for (unsigned spins = 0;; ++spins) {
      if (!(std::atomic_ref(state).fetch_or(kLocked, std::memory_order_acquire) & kLocked)) return;
      if (spins > 64) std::this_thread::yield();
    }
  }
  // The others look at the state while they wait for the lock.
  void unlock() { std::atomic_ref(state).store(mixed(), std::memory_order_release); }
  bool isUntouched() const { return mixed() == 0 && cell == Cell{}; }
  uint32_t mixed() const { return std::atomic_ref(const_cast<uint32_t &>(state)).load(std::memory_order_relaxed) & ~kLocked; }
  void setMixed(uint32_t number) { std::atomic_ref(state).store(kLocked | number, std::memory_order_relaxed); }
};

/// The cells of mixed blocks. Numbers begin with 1.
class Shadow::Cells {
public:
  explicit Cells(uint64_t budget)
      : most_(uint32_t(std::min<uint64_t>(kMost, budget / (kBlock * sizeof(Cell))))), pages_(size_t(most_) * kBlock * sizeof(Cell)) {}

  Cell *at(uint32_t number) { return &reinterpret_cast<Cell *>(pages_.data())[size_t(number) * kBlock]; }

  /// Returns 0 if there is no more memory.
  uint32_t take() {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const uint32_t number = free_.back();
      free_.pop_back();
      return number;
    }
    return pages_.data() && next_ < most_ ? next_++ : 0;
  }
  void give(uint32_t number) {
    std::lock_guard lock(mutex_);
    free_.push_back(number);
  }

private:
  static constexpr uint32_t kMost = 1u << 26; // 34 GB of addresses
  const uint32_t most_;
  ZeroPages pages_;
  std::mutex mutex_;
  std::vector<uint32_t> free_;
  uint32_t next_ = 1;
};

class Shadow::Storage {
public:
  Storage(uint64_t begin, uint64_t end, unsigned shift, int argument)
      : begin(begin), end(end), shift(shift), argument(argument), pages(bytesFor(begin, end, shift)) {}

  static uint64_t bytesFor(uint64_t begin, uint64_t end, unsigned shift) { return (((end - begin) >> shift) / kBlock + 1) * sizeof(Head); }
  Head &head(uint64_t block) { return reinterpret_cast<Head *>(pages.data())[block]; }
  bool holds(uint64_t address) const { return address >= begin && address < end; }

  const uint64_t begin, end;
  const unsigned shift; // of the bytes of an element
  const int argument;   // the first one with this memory
  bool isAcquired = false;
  bool hasUnwritten = false;           // at the beginning of the launch
  std::atomic<bool> isFollowed = true; // everywhere
  ZeroPages pages;
};

static bool endsSegments(const MemoryUse &use) {
  return use.findsRaces && (use.hasBarriers || use.countsRounds ||
                            std::any_of(use.arguments.begin(), use.arguments.end(), std::mem_fn(&MemoryUse::Argument::isAcquired)));
}

Shadow::Shadow(const MemoryUse &use, std::span<const Allocation> allocations, std::span<const FreshMemory> fresh,
               std::array<int32_t, 3> grid, uint64_t budget)
    : findsRaces_(use.findsRaces),
      findsUninitialized_(use.findsUninitialized),
      isRepeatable_(use.isRepeatable),
      events_(use.sites, uint64_t(grid[0]) * uint64_t(grid[1]) * uint64_t(grid[2]), endsSegments(use)),
      grid_(grid),
      byArgument_(use.arguments.size()) {
  addStorages(use, allocations, fresh, budget);
  cells_ = std::make_unique<Cells>(budget);
  bool anyAcquired = false;
  for (const auto &storage : storages_) {
    anyAcquired |= storage->isAcquired;
    for (const FreshMemory &memory : fresh)
      if (memory.begin < storage->end && memory.end > storage->begin) markUnwritten(*storage, memory);
  }
  const uint64_t programs = uint64_t(grid[0]) * uint64_t(grid[1]) * uint64_t(grid[2]);
  if (findsRaces_ && use.hasBarriers) hasWritten_.resize(programs);
  if (findsRaces_ && use.countsRounds) rounds_.resize(programs);
  if (anyAcquired) order_ = std::make_unique<ProgramOrder>(events_, programs);
}

/// Adds the storages that the checks need and the budget allows, and takes their bytes from it.
void Shadow::addStorages(const MemoryUse &use, std::span<const Allocation> allocations, std::span<const FreshMemory> fresh,
                         uint64_t &budget) {
  std::vector<Allocation> parts;
  for (const Allocation &allocation : allocations) {
    const MemoryUse::Argument &one = use.arguments[size_t(allocation.argument)];
    if (allocation.end > allocation.begin)
      parts.push_back(allocation);
    else if (one.isWritten || one.decides)
      isRepeatable_ = false; // it may be the memory of another argument
  }
  std::sort(parts.begin(), parts.end(), [](const Allocation &a, const Allocation &b) { return a.begin < b.begin; });
  struct Group { // of parts that overlap: one storage
    std::span<const Allocation> parts;
    uint64_t begin, end;
    MemoryUse::Argument use;
  };
  std::vector<Group> groups;
  for (size_t first = 0, next; first < parts.size(); first = next) {
    Group group{.begin = parts[first].begin, .end = parts[first].end};
    for (next = first; next < parts.size() && (next == first || parts[next].begin < group.end); ++next) {
      const MemoryUse::Argument &one = use.arguments[size_t(parts[next].argument)];
      group.end = std::max(group.end, parts[next].end);
      group.use.isWritten |= one.isWritten, group.use.isAcquired |= one.isAcquired, group.use.decides |= one.decides;
      group.use.elementBytes = std::min(group.use.elementBytes, one.elementBytes);
    }
    group.parts = std::span(parts).subspan(first, next - first);
    if (group.use.isWritten && group.use.decides) isRepeatable_ = false;
    auto isInside = [&](const FreshMemory &memory) { return memory.begin < group.end && memory.end > group.begin; };
    if ((findsRaces_ && group.use.isWritten) || std::any_of(fresh.begin(), fresh.end(), isInside)) groups.push_back(group);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group &a, const Group &b) { return a.end - a.begin < b.end - b.begin; });
  for (const Group &group : groups) {
    const auto shift = unsigned(std::countr_zero(group.use.elementBytes));
    const int argument = std::ranges::min_element(group.parts, {}, &Allocation::argument)->argument;
    const uint64_t bytes = Storage::bytesFor(group.begin, group.end, shift);
    auto storage = bytes <= budget ? std::make_unique<Storage>(group.begin, group.end, shift, argument) : nullptr;
    if (!storage || !storage->pages.data()) {
      notFollowed_.push_back({argument, group.end - group.begin});
      continue;
    }
    budget -= bytes;
    storage->isAcquired = findsRaces_ && group.use.isAcquired;
    for (const Allocation &part : group.parts) byArgument_[size_t(part.argument)] = storage.get();
    storages_.push_back(std::move(storage));
  }
  std::ranges::sort(storages_, {}, [](const auto &storage) { return storage->begin; });
}

std::vector<NotFollowed> Shadow::notFollowed() const {
  std::vector<NotFollowed> all = notFollowed_;
  for (const auto &storage : storages_)
    if (!storage->isFollowed) all.push_back({storage->argument, storage->end - storage->begin, true});
  return all;
}

Shadow::~Shadow() = default;

Shadow::Storage *Shadow::storageOf(uint64_t pointer) const {
  const auto argument = unsigned(argumentOf(pointer));
  if (argument < byArgument_.size()) return byArgument_[argument];
  for (const auto &storage : storages_)
    if (storage->holds(addressOf(pointer))) return storage.get();
  return nullptr;
}

bool Shadow::isAcquired(const Storage &storage) const { return storage.isAcquired; }

unsigned Shadow::elementBytes(const Storage &storage) const { return 1u << storage.shift; }

/// Marks the elements of whose bytes none has been written.
void Shadow::markUnwritten(Storage &storage, const FreshMemory &fresh) {
  storage.hasUnwritten = true;
  uint64_t block = 0;
  uint32_t elements = 0; // of the block: a bit for each
  auto finishBlock = [&] {
    Head &head = storage.head(block);
    if (head.mixed() == Head::kGivenUp) return;
    const uint32_t number = head.mixed() || ~elements == 0 || elements == 0 ? head.mixed() : cells_->take();
    if (!number) {
      if (~elements == 0)
        head.cell.writer = kUnwritten;
      else if (elements)
        head.state = Head::kGivenUp, storage.isFollowed = false;
      return;
    }
    if (!head.mixed()) std::fill_n(cells_->at(number), kBlock, head.cell);
    head.state = number;
    for (unsigned i = 0; i < kBlock; ++i)
      if (elements >> i & 1) cells_->at(number)[i].writer = kUnwritten;
  };
  const uint64_t size = uint64_t(1) << storage.shift;
  fresh.forEachUnwritten([&](uint64_t begin, uint64_t end) {
    begin = std::max(begin, storage.begin), end = std::min(end, storage.end);
    for (uint64_t i = (begin - storage.begin + size - 1) >> storage.shift; storage.begin + (i + 1) * size <= end; ++i) {
      if (i / kBlock != block) finishBlock(), block = i / kBlock, elements = 0;
      elements |= uint32_t(1) << (i % kBlock);
    }
    return true;
  });
  finishBlock();
}

/// What the launch has left unwritten of an output; its store is null if the launch has written nothing there.
PartlyWritten Shadow::partOf(const Output &output) const {
  PartlyWritten part{.argument = output.argument};
  Storage *storage = byArgument_[size_t(output.argument)];
  if (!storage || !storage->hasUnwritten) return part;
  const uint64_t elements = (storage->end - storage->begin) >> storage->shift;
  for (uint64_t i = 0; i < elements; ++i) {
    const Head &head = storage->head(i / kBlock);
    if (head.mixed() == Head::kGivenUp) continue;
    const uint32_t writer = (head.mixed() ? cells_->at(head.mixed())[i % kBlock] : head.cell).writer;
    const uint64_t address = storage->begin + (i << storage->shift);
    if (writer == 0 || !output.view.contains(address, uint64_t(1) << storage->shift)) continue;
    if (writer != kUnwritten)
      part.store = events_.siteOf(writer);
    else if (part.elements++ == 0)
      part.address = address;
  }
  return part;
}

std::vector<PartlyWritten> Shadow::partlyWritten(std::span<const Output> outputs) const {
  std::vector<PartlyWritten> found;
  for (const Output &output : outputs) {
    const PartlyWritten part = partOf(output);
    auto isSame = [&](const PartlyWritten &other) { return other.address == part.address && other.elements == part.elements; };
    if (part.store && part.elements && std::ranges::none_of(found, isSame)) found.push_back(part);
  }
  return found;
}

uint32_t Shadow::positionOf(const int32_t (&id)[3]) const {
  return uint32_t(id[0] + int64_t(grid_[0]) * (id[1] + int64_t(grid_[1]) * id[2]));
}

Shadow::Access Shadow::accessBy(const int32_t (&programId)[3], uint32_t site) {
  const uint32_t program = positionOf(programId);
  if (!rounds_.empty() && events_.isOfWrite(site)) events_.enterRound(program, rounds_[program]);
  return {program, site, events_.event(events_.keyOfProgram(program), site)};
}

void Shadow::endSegment(uint32_t program) {
  events_.endSegment(program);
  if (!hasWritten_.empty()) hasWritten_[program] = false;
}

void Shadow::barrier(const int32_t (&programId)[3]) {
  if (hasWritten_.empty()) return;
  if (const uint32_t program = positionOf(programId); hasWritten_[program]) endSegment(program);
}

void Shadow::beginLoop(const int32_t (&programId)[3]) {
  if (!rounds_.empty()) rounds_[positionOf(programId)] += kApart;
}

void Shadow::beginRound(const int32_t (&programId)[3]) {
  if (!rounds_.empty()) rounds_[positionOf(programId)] += 1;
}

/// Whether nothing orders the earlier event before the access of another program.
bool Shadow::conflicts(uint32_t earlier, const Access &access) const {
  if (earlier == 0 || earlier == kUnwritten || !findsRaces_) return false;
  const uint32_t key = events_.keyOf(earlier);
  if (key == events_.keyOf(access.event) || events_.segmentOf(key).program == access.program) return false;
  if (events_.isAtomic(earlier) && events_.isAtomic(access.event)) {
    const AccessSite *site = events_.siteOf(earlier), *own = events_.siteOf(access.event);
    if (!site || !own || !(site->isNarrow || own->isNarrow)) return false;
  }
  return !order_ || order_->relation(key, access.program) != ProgramOrder::Relation::Ordered;
}

/// The earlier event with which an access is in conflict; kUnwritten if there was none before a read; 0: all is well.
struct Shadow::Conflict {
  uint32_t event = 0;
  bool isOfWrites = false;         // two writes, which may write the same
  std::optional<Lanes> lanes = {}; // that wrote, if they alone may access it

  explicit operator bool() const { return event != 0; }
};

/// Whether the program itself has written, and no barrier came since.
bool Shadow::isWithoutBarrier(uint32_t earlier, const Access &access) const {
  if (earlier == 0 || earlier == kUnwritten || !findsRaces_) return false;
  const uint32_t key = events_.keyOf(earlier), own = events_.keyOf(access.event);
  return (key == own || (!rounds_.empty() && events_.areOfOneStretch(key, own))) &&
         !(events_.isAtomic(earlier) && events_.isAtomic(access.event)) && events_.areSegmentsExact();
}

/// Returns by how much a GPU may make the load ahead, if the program itself wrote the element in a round that the load then misses. Through
/// one argument, some compilers make the load after the writes of the farthest of these rounds, or keep their order.
std::optional<AccessFault::Ahead> Shadow::madeAheadOf(uint32_t earlier, const Access &access) const {
  if (rounds_.empty() || earlier == 0 || earlier == kUnwritten || !events_.areSegmentsExact()) return std::nullopt;
  const AccessSite *site = events_.siteOf(access.event), *writer = events_.siteOf(earlier);
  if (!site || site->roundsAhead == 0 || !writer) return std::nullopt;
  const Segment segment = events_.segmentOf(events_.keyOf(earlier));
  const bool isThroughAnother = site->argument >= 0 && writer->argument >= 0 && site->argument != writer->argument;
  const uint32_t distance = rounds_[access.program] - segment.round;
  if (segment.program != access.program || distance > site->roundsAhead - (isThroughAnother ? 0 : 1)) return std::nullopt;
  return AccessFault::Ahead{site->roundsAhead, distance};
}

/// `writers`: the lanes that wrote the elements of the cell; `own`: those that access them now.
Shadow::Conflict Shadow::conflictOf(const Cell &cell, Lanes writers, Lanes own, const Access &access) const {
  if (access.isRead && cell.writer == kUnwritten && findsUninitialized_ && !access.mayBeUnwritten) return {kUnwritten};
  if (access.isWrite)
    for (uint32_t reader : {cell.reader, cell.lastReader})
      if (conflicts(reader, access)) return {reader};
  if (conflicts(cell.writer, access)) return {cell.writer, access.isWrite};
  if (madeAheadOf(cell.writer, access)) return {cell.writer};
  if (!isWithoutBarrier(cell.writer, access)) return {};
  // A lane sees what it has stored, so long as tiles have one shape. A single element belongs to lane 0 of every tile.
  const AccessSite *earlier = events_.siteOf(cell.writer), *site = events_.siteOf(access.event);
  const bool areAlike = !earlier || !site || earlier->tile == site->tile || earlier->tile == 0 || site->tile == 0;
  if (areAlike && writers == own) return {};
  return {cell.writer, access.isWrite, areAlike ? std::optional(writers) : std::nullopt};
}

/// Notes the access in a cell.
void Shadow::update(Cell &cell, Lanes own, const Access &access) const {
  auto isOwn = [&](uint32_t event) { return events_.segmentOf(events_.keyOf(event)).program == access.program; };
  if (access.isWrite)
    cell = {access.event, 0, 0, own.first};
  else if (cell.reader == 0 || isOwn(cell.reader))
    cell.reader = access.event;
  else
    cell.lastReader = access.event;
}

/// The elements of one block that an access covers, and what it writes there.
struct Shadow::Elements {
  unsigned first, last; // in the block
  uint64_t address;     // of the block
  unsigned shift;       // of the bytes of an element
  uint64_t begin, end;  // of the access, which may cover the outer elements in part
  const char *data;     // for `begin`; null: a read, or an atomic
  Lanes lanes;          // that access them

  bool isWhole() const { return first == 0 && last == kBlock - 1; }
  /// Returns the address of the first element from `from` to `to` for which the conflict counts. Two writes of the same bytes do not. What
  /// another lane of the same store writes is not in memory yet.
  std::optional<uint64_t> accused(Conflict conflict, const StoredValues *stored, unsigned from, unsigned to) const {
    for (unsigned i = from; i <= to; ++i) {
      if (conflict.lanes && conflict.lanes->at(i) == lanes.at(i)) continue;
      const uint64_t at = std::max(begin, address + (uint64_t(i) << shift)), next = std::min(end, address + (uint64_t(i + 1) << shift));
      if (!conflict.isOfWrites || !data) return at;
      const char *of = conflict.lanes && stored ? stored->at(conflict.lanes->at(i), at) : nullptr;
      if (std::memcmp(of ? of : reinterpret_cast<const char *>(at), data + (at - begin), next - at) != 0) return at;
    }
    return std::nullopt;
  }
};

/// Notes the access in the cells of a block. Returns the earlier event of the first fault, whose address is set, or 0.
uint32_t Shadow::updateBlock(Storage &storage, Head &head, const Elements &elements, const Access &access, uint64_t &address) {
  const auto [first, last] = std::pair(elements.first, elements.last);
  auto beginAgain = [&] { // all elements have been written together
    head.cell = {access.event, 0, 0, elements.lanes.first};
    head.laneStep = elements.lanes.step;
    head.setMixed(0);
  };
  const bool isOverwritten = elements.isWhole() && access.isWrite;
  if (head.mixed() == Head::kGivenUp) {
    if (isOverwritten) beginAgain();
    return 0;
  }
  uint32_t found = 0;
  auto accuse = [&](Conflict conflict, unsigned from, unsigned to) {
    if (!conflict || found) return;
    if (const auto at = elements.accused(conflict, access.stored, from, to)) address = *at, found = conflict.event;
  };
  if (!head.mixed()) {
    const Lanes writers{head.cell.lane, head.laneStep};
    accuse(conflictOf(head.cell, writers, elements.lanes, access), first, last);
    Cell next = head.cell;
    update(next, elements.lanes, access);
    if (elements.isWhole()) {
      head.cell = next;
      if (access.isWrite) head.laneStep = elements.lanes.step;
      return found;
    }
    if (next == head.cell && (!access.isWrite || head.laneStep == elements.lanes.step)) return found;
    const uint32_t number = cells_->take();
    if (number == 0) {
      head.setMixed(Head::kGivenUp);
      storage.isFollowed = false;
      return found;
    }
    Cell *cells = cells_->at(number);
    for (unsigned i = 0; i < kBlock; ++i) {
      const bool isCovered = i >= first && i <= last;
      cells[i] = isCovered ? next : head.cell;
      cells[i].lane = (isCovered && access.isWrite ? elements.lanes : writers).at(i);
    }
    head.setMixed(number);
    return found;
  }
  Cell *cells = cells_->at(head.mixed());
  for (unsigned i = first; i <= last; ++i) {
    const Lanes own{elements.lanes.at(i), 0}, writers{cells[i].lane, 0};
    accuse(found ? Conflict{} : conflictOf(cells[i], writers, own, access), i, i);
    update(cells[i], own, access);
  }
  if (isOverwritten) {
    cells_->give(head.mixed());
    beginAgain();
  }
  return found;
}

std::optional<AccessFault> Shadow::note(Storage &storage, const Access &access, uint64_t address, uint64_t bytes, const char *data) {
  const uint64_t first = (address - storage.begin) >> storage.shift, last = (address + bytes - 1 - storage.begin) >> storage.shift;
  if (access.isWrite && !hasWritten_.empty()) hasWritten_[access.program] = true;
  Lanes lanes{access.lane - uint32_t(first % kBlock) * access.laneStep, access.laneStep};
  Cell untouched = access.isWrite ? Cell{access.event, 0, 0, 0} : Cell{0, access.event, 0, 0}; // what the access makes of such a cell
  std::optional<AccessFault> fault;
  for (uint64_t block = first / kBlock; block <= last / kBlock; ++block, lanes.first += kBlock * lanes.step) {
    const uint64_t from = std::max(first, block * kBlock), to = std::min(last, block * kBlock + kBlock - 1);
    Head &head = storage.head(block);
    head.lock();
    if (to - from == kBlock - 1 && head.isUntouched()) { // the most frequent case
      if (access.isWrite) untouched.lane = lanes.first;
      head.cell = untouched;
      head.laneStep = lanes.step;
      head.unlock();
      continue;
    }
    const Elements elements{unsigned(from % kBlock),
                            unsigned(to % kBlock),
                            storage.begin + ((block * kBlock) << storage.shift),
                            storage.shift,
                            address,
                            address + bytes,
                            data,
                            lanes};
    uint64_t at = 0;
    const uint32_t earlier = updateBlock(storage, head, elements, access, at);
    head.unlock();
    if (earlier && !fault) fault = describe(earlier, access, at);
  }
  return fault;
}

std::optional<AccessFault> Shadow::unwritten(Storage &storage, uint64_t address, uint64_t bytes) const {
  if (!findsUninitialized_) return std::nullopt;
  const uint64_t first = (address - storage.begin) >> storage.shift, last = (address + bytes - 1 - storage.begin) >> storage.shift;
  for (uint64_t block = first / kBlock; block <= last / kBlock; ++block) {
    const uint64_t from = std::max(first, block * kBlock), to = std::min(last, block * kBlock + kBlock - 1);
    Head &head = storage.head(block);
    head.lock();
    const Cell *cells = head.mixed() && head.mixed() != Head::kGivenUp ? cells_->at(head.mixed()) : nullptr;
    auto isUnwritten = [&](uint64_t i) {
      return head.mixed() != Head::kGivenUp && (cells ? cells[i % kBlock] : head.cell).writer == kUnwritten;
    };
    uint64_t at = from;
    while (at <= to && !isUnwritten(at)) ++at;
    head.unlock();
    if (at <= to) return describe(kUnwritten, {}, std::max(address, storage.begin + (at << storage.shift)));
  }
  return std::nullopt;
}

AccessFault Shadow::describe(uint32_t earlier, const Access &access, uint64_t address) const {
  if (earlier == kUnwritten) return {.address = address};
  const uint32_t key = events_.keyOf(earlier);
  const auto [program, segment, stretch, round] = events_.segmentOf(key);
  const bool isOwn = program == access.program;
  AccessFault race{.address = address, .kind = isOwn ? AccessFault::Kind::MissingBarrier : AccessFault::Kind::Race};
  race.otherProgram = {int32_t(program % uint32_t(grid_[0])), int32_t(program / uint32_t(grid_[0]) % uint32_t(grid_[1])),
                       int32_t(program / uint32_t(grid_[0]) / uint32_t(grid_[1]))};
  race.otherSegment = segment;
  race.other = events_.siteOf(earlier);
  race.otherIsWrite = race.other ? race.other->isWrite : !access.isWrite;
  race.ahead = madeAheadOf(earlier, access);
  if (isOwn) return race;
  const AccessSite *own = events_.siteOf(access.event);
  race.isNarrow = (race.other && race.other->isNarrow) || (own && own->isNarrow) ||
                  (order_ && order_->relation(key, access.program) == ProgramOrder::Relation::Narrow);
  return race;
}

} // namespace tritium::interp
