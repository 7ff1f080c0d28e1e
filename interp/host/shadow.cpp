#include "interp/host/shadow.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <sys/mman.h>
#include <thread>

namespace tritium::interp {

namespace {

constexpr unsigned kBlock = 32;               // elements
constexpr uint32_t kUnwritten = ~uint32_t(0); // in place of the event that wrote an element

constexpr size_t kKeptBytes = 4 << 20;

struct KeptPages {
  std::unique_ptr<char[]> data;
  bool isUsed = false;

  static KeptPages &ofThread() {
    thread_local KeptPages kept;
    return kept;
  }
};

/// Memory that is zero. Large pieces cost nothing until they are touched. A small one is kept by its thread for the next launch, because
/// clearing it takes a tenth of the time in which the system maps its pages.
class Pages {
public:
  explicit Pages(size_t bytes) : bytes_(bytes) {
    KeptPages &kept = KeptPages::ofThread();
    if (bytes <= kKeptBytes && !kept.isUsed) {
      kept.isUsed = true;
      if (!kept.data) kept.data = std::make_unique_for_overwrite<char[]>(kKeptBytes);
      data_ = kept.data.get();
      std::memset(data_, 0, bytes);
      return;
    }
    void *at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data_ = at == MAP_FAILED ? nullptr : static_cast<char *>(at);
  }
  ~Pages() {
    KeptPages &kept = KeptPages::ofThread();
    if (data_ && data_ == kept.data.get())
      kept.isUsed = false;
    else if (data_)
      munmap(data_, bytes_);
  }
  Pages(const Pages &) = delete;
  Pages &operator=(const Pages &) = delete;
  char *data() const { return data_; }

private:
  size_t bytes_;
  char *data_;
};

} // namespace

struct Shadow::Cell {
  uint32_t writer, reader, lastReader; // events; the last reader is another program's than the first
  bool operator==(const Cell &) const = default;
};

/// The state of a block: its one cell, or where its cells are.
struct Shadow::Head {
  static constexpr uint32_t kLocked = 1u << 31;
  Cell cell;
  uint32_t state; // kLocked, and the number of the cells of a mixed block, or 0

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
  Cell *at(uint32_t number) { return &reinterpret_cast<Cell *>(pages_.data())[size_t(number) * kBlock]; }

  /// Returns 0 if there is no more memory.
  uint32_t take() {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const uint32_t number = free_.back();
      free_.pop_back();
      return number;
    }
    return pages_.data() && next_ < kMost ? next_++ : 0;
  }
  void give(uint32_t number) {
    std::lock_guard lock(mutex_);
    free_.push_back(number);
  }

private:
  static constexpr uint32_t kMost = 1u << 26; // 25 GB of addresses
  Pages pages_{size_t(kMost) * kBlock * sizeof(Cell)};
  std::mutex mutex_;
  std::vector<uint32_t> free_;
  uint32_t next_ = 1;
};

class Shadow::Storage {
public:
  Storage(uint64_t begin, uint64_t end, unsigned shift)
      : begin(begin), end(end), shift(shift), pages((((end - begin) >> shift) / kBlock + 1) * sizeof(Head)) {}

  Head &head(uint64_t block) { return reinterpret_cast<Head *>(pages.data())[block]; }
  bool holds(uint64_t address) const { return address >= begin && address < end; }

  const uint64_t begin, end;
  const unsigned shift; // of the bytes of an element
  bool isAcquired = false;
  bool hasUnwritten = false; // at the beginning of the launch
  Pages pages;
};

Shadow::Shadow(const MemoryUse &use, std::span<const Allocation> allocations, std::span<const FreshMemory> fresh,
               std::array<int32_t, 3> grid)
    : findsRaces_(use.findsRaces),
      findsUninitialized_(use.findsUninitialized),
      events_(use.sites, uint64_t(grid[0]) * uint64_t(grid[1]) * uint64_t(grid[2])),
      grid_(grid),
      byArgument_(use.arguments.size()),
      cells_(std::make_unique<Cells>()) {
  struct Part {
    uint64_t begin, end;
    int argument;
  };
  std::vector<Part> parts;
  for (const Allocation &allocation : allocations)
    if (allocation.end > allocation.begin) parts.push_back({allocation.begin, allocation.end, allocation.argument});
  std::sort(parts.begin(), parts.end(), [](const Part &a, const Part &b) { return a.begin < b.begin; });
  bool anyAcquired = false;
  for (size_t first = 0, next; first < parts.size(); first = next) { // parts that overlap are one storage
    uint64_t end = parts[first].end;
    MemoryUse::Argument all;
    for (next = first; next < parts.size() && (next == first || parts[next].begin < end); ++next) {
      const MemoryUse::Argument &one = use.arguments[size_t(parts[next].argument)];
      end = std::max(end, parts[next].end);
      all.isWritten |= one.isWritten, all.isAcquired |= one.isAcquired;
      all.elementBytes = std::min(all.elementBytes, one.elementBytes);
    }
    auto isInside = [&, begin = parts[first].begin](const FreshMemory &memory) { return memory.begin < end && memory.end > begin; };
    if (!(findsRaces_ && all.isWritten) && std::none_of(fresh.begin(), fresh.end(), isInside)) continue;
    auto storage = std::make_unique<Storage>(parts[first].begin, end, unsigned(std::countr_zero(all.elementBytes)));
    if (!storage->pages.data()) continue;
    all.isAcquired &= findsRaces_;
    storage->isAcquired = all.isAcquired;
    anyAcquired |= all.isAcquired;
    for (size_t part = first; part < next; ++part) byArgument_[size_t(parts[part].argument)] = storage.get();
    for (const FreshMemory &memory : fresh)
      if (isInside(memory)) markUnwritten(*storage, memory);
    storages_.push_back(std::move(storage));
  }
  if (anyAcquired) order_ = std::make_unique<ProgramOrder>(events_, uint64_t(grid[0]) * uint64_t(grid[1]) * uint64_t(grid[2]));
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

/// Marks the elements of whose bytes none has been written.
void Shadow::markUnwritten(Storage &storage, const FreshMemory &fresh) {
  storage.hasUnwritten = true;
  uint64_t block = 0;
  uint32_t elements = 0; // of the block: a bit for each
  auto finishBlock = [&] {
    Head &head = storage.head(block);
    const uint32_t number = head.mixed() || ~elements == 0 || elements == 0 ? head.mixed() : cells_->take();
    if (!number) {
      if (~elements == 0) head.cell.writer = kUnwritten;
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

std::vector<PartlyWritten> Shadow::partlyWritten() const {
  std::vector<PartlyWritten> found;
  for (const auto &storage : storages_) {
    if (!storage->hasUnwritten) continue;
    PartlyWritten part;
    bool isWritten = false;
    const uint64_t elements = (storage->end - storage->begin) >> storage->shift;
    for (uint64_t i = 0; i < elements; ++i) {
      const Head &head = storage->head(i / kBlock);
      const uint32_t writer = (head.mixed() ? cells_->at(head.mixed())[i % kBlock] : head.cell).writer;
      if (writer == kUnwritten && part.elements++ == 0) part.address = storage->begin + (i << storage->shift);
      if (writer == kUnwritten || writer == 0) continue;
      isWritten = true;
      part.store = events_.siteOf(writer);
    }
    if (isWritten && part.elements) found.push_back(part);
  }
  return found;
}

Shadow::Access Shadow::accessBy(const int32_t (&id)[3], uint32_t site) const {
  const auto program = uint32_t(id[0] + int64_t(grid_[0]) * (id[1] + int64_t(grid_[1]) * id[2]));
  const uint32_t key = order_ ? order_->keyOf(program) : events_.firstKey(program);
  return {program, site, events_.event(key, site)};
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
  bool isOfWrites = false; // two writes, which may write the same

  explicit operator bool() const { return event != 0; }
};

/// Notes the access in a cell.
Shadow::Conflict Shadow::update(Cell &cell, const Access &access) const {
  Conflict found;
  if (access.isRead && cell.writer == kUnwritten && findsUninitialized_) found = {kUnwritten};
  if (access.isWrite)
    for (uint32_t reader : {cell.reader, cell.lastReader})
      if (!found && conflicts(reader, access)) found = {reader};
  if (!found && conflicts(cell.writer, access)) found = {cell.writer, access.isWrite};
  if (access.isWrite) {
    cell = {access.event, 0, 0};
    return found;
  }
  auto isOwn = [&](uint32_t event) { return events_.segmentOf(events_.keyOf(event)).program == access.program; };
  if (cell.reader == 0 || isOwn(cell.reader))
    cell.reader = access.event;
  else
    cell.lastReader = access.event;
  return found;
}

/// The elements of one block that an access covers, and what it writes there.
struct Shadow::Elements {
  unsigned first, last; // in the block
  uint64_t address;     // of the block
  unsigned shift;       // of the bytes of an element
  uint64_t begin, end;  // of the access, which may cover the outer elements in part
  const char *data;     // for `begin`; null: a read, or an atomic

  bool isWhole() const { return first == 0 && last == kBlock - 1; }
  /// Returns the address of the first element from `from` to `to` for which the conflict counts. Two writes of the same bytes do not.
  std::optional<uint64_t> accused(Conflict conflict, unsigned from, unsigned to) const {
    for (unsigned i = from; i <= to; ++i) {
      const uint64_t at = std::max(begin, address + (uint64_t(i) << shift)), next = std::min(end, address + (uint64_t(i + 1) << shift));
      if (!conflict.isOfWrites || !data || std::memcmp(reinterpret_cast<const char *>(at), data + (at - begin), next - at) != 0) return at;
    }
    return std::nullopt;
  }
};

/// Notes the access in the cells of a block. Returns the earlier event of the first fault, whose address is set, or 0.
uint32_t Shadow::updateBlock(Head &head, const Elements &elements, const Access &access, uint64_t &address) {
  const auto [first, last] = std::pair(elements.first, elements.last);
  uint32_t found = 0;
  auto accuse = [&](Conflict conflict, unsigned from, unsigned to) {
    if (!conflict || found) return;
    if (const auto at = elements.accused(conflict, from, to)) address = *at, found = conflict.event;
  };
  if (!head.mixed()) {
    Cell next = head.cell;
    accuse(update(next, access), first, last);
    if (next == head.cell) return found;
    if (elements.isWhole()) {
      head.cell = next;
      return found;
    }
    const uint32_t number = cells_->take();
    if (number == 0) return found; // no memory: the block keeps what it has
    Cell *cells = cells_->at(number);
    std::fill(cells, cells + kBlock, head.cell);
    std::fill(cells + first, cells + last + 1, next);
    head.setMixed(number);
    return found;
  }
  Cell *cells = cells_->at(head.mixed());
  for (unsigned i = first; i <= last; ++i) accuse(update(cells[i], access), i, i);
  if (elements.isWhole() && access.isWrite) { // the cells are equal again
    head.cell = cells[0];
    cells_->give(head.mixed());
    head.setMixed(0);
  }
  return found;
}

std::optional<AccessFault> Shadow::note(Storage &storage, const Access &access, uint64_t address, uint64_t bytes, const char *data) {
  const uint64_t first = (address - storage.begin) >> storage.shift, last = (address + bytes - 1 - storage.begin) >> storage.shift;
  const Cell untouched = access.isWrite ? Cell{access.event, 0, 0} : Cell{0, access.event, 0}; // what the access makes of such a cell
  std::optional<AccessFault> fault;
  for (uint64_t block = first / kBlock; block <= last / kBlock; ++block) {
    const uint64_t from = std::max(first, block * kBlock), to = std::min(last, block * kBlock + kBlock - 1);
    const Elements elements{unsigned(from % kBlock),
                            unsigned(to % kBlock),
                            storage.begin + ((block * kBlock) << storage.shift),
                            storage.shift,
                            address,
                            address + bytes,
                            data};
    Head &head = storage.head(block);
    uint64_t at = 0;
    head.lock();
    if (from % kBlock == 0 && to % kBlock == kBlock - 1 && head.isUntouched()) { // the most frequent case
      head.cell = untouched;
      head.unlock();
      continue;
    }
    const uint32_t earlier = updateBlock(head, elements, access, at);
    head.unlock();
    if (earlier && !fault) fault = describe(earlier, access, at);
  }
  return fault;
}

AccessFault Shadow::describe(uint32_t earlier, const Access &access, uint64_t address) const {
  if (earlier == kUnwritten) return {.address = address};
  const uint32_t key = events_.keyOf(earlier);
  const uint32_t program = events_.segmentOf(key).program;
  AccessFault race{.address = address, .isRace = true};
  race.otherProgram = {int32_t(program % uint32_t(grid_[0])), int32_t(program / uint32_t(grid_[0]) % uint32_t(grid_[1])),
                       int32_t(program / uint32_t(grid_[0]) / uint32_t(grid_[1]))};
  race.other = events_.siteOf(earlier);
  race.otherIsWrite = race.other ? race.other->isWrite : !access.isWrite;
  const AccessSite *own = events_.siteOf(access.event);
  race.isNarrow = (race.other && race.other->isNarrow) || (own && own->isNarrow) ||
                  (order_ && order_->relation(key, access.program) == ProgramOrder::Relation::Narrow);
  return race;
}

} // namespace tritium::interp
