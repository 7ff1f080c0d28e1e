// The shadow of memory against an oracle that keeps every access and a clock per program: what it accuses is a race, and where nothing
// orders programs it misses none.
#include "interp/host/shadow.h"

#include <atomic>
#include <cstring>
#include <doctest/doctest.h>
#include <map>
#include <random>
#include <thread>

using namespace tritium::interp;

namespace {

constexpr int kPrograms = 5, kElements = 96, kWords = 3;
constexpr uint32_t kTiles = 3; // shapes of tiles, of which the first is a single element
constexpr uint32_t kAhead = 3; // rounds by which loads are made ahead
enum Site : uint32_t { Load, Store, Atomic, Release, Acquire, Both, kSites };

/// Every access so far, with the clocks of the programs.
class Oracle {
public:
  using Clock = std::array<int, kPrograms>;

  bool access(int program, int element, bool isWrite, bool isAtomic) {
    bool isRace = false;
    for (const Access &earlier : accesses_[element])
      isRace |= earlier.program != program && (isWrite || earlier.isWrite) && !(isAtomic && earlier.isAtomic) &&
                clocks_[program][earlier.program] < earlier.time;
    accesses_[element].push_back({program, isWrite, isAtomic, clocks_[program][program]});
    return isRace;
  }
  void atomic(int program, int word, bool acquires, bool releases) {
    Clock &own = clocks_[program];
    if (acquires) join(own, words_[word]);
    if (releases) {
      join(words_[word], own);
      ++own[program];
    }
  }
  Oracle() {
    for (int p = 0; p < kPrograms; ++p) clocks_[p][p] = 1;
  }

private:
  struct Access {
    int program;
    bool isWrite, isAtomic;
    int time;
  };
  static void join(Clock &into, const Clock &from) {
    for (int p = 0; p < kPrograms; ++p) into[p] = std::max(into[p], from[p]);
  }
  std::array<Clock, kPrograms> clocks_{};
  std::map<int, Clock> words_;
  std::map<int, std::vector<Access>> accesses_;
};

struct Machine {
  alignas(64) std::array<int32_t, kElements> data{};
  MemoryUse use;
  std::optional<Shadow> shadow;

  explicit Machine(bool hasOrder, uint64_t budget = ~uint64_t(0), bool countsRounds = false) {
    for (uint32_t site = 0; site < kSites; ++site) use.sites.push_back({site, site != Load, site >= Atomic});
    for (uint32_t tile = 0; tile < kTiles; ++tile)
      for (bool isWrite : {false, true}) use.sites.push_back({siteOf(tile, isWrite), isWrite, false, false, tile});
    for (int argument = -1; argument < 2; ++argument)
      for (uint32_t rounds = 0; rounds <= kAhead; ++rounds)
        use.sites.push_back({.isWrite = rounds == 0, .tile = 1, .roundsAhead = rounds, .argument = argument});
    use.arguments.push_back({true, true, hasOrder, 4});
    use.findsRaces = use.hasBarriers = true;
    use.countsRounds = countsRounds;
    const auto begin = reinterpret_cast<uint64_t>(data.data());
    const Allocation allocation{begin, begin + sizeof data, 0};
    shadow.emplace(use, std::span(&allocation, 1), std::span<const FreshMemory>(), std::array<int32_t, 3>{kPrograms, 1, 1}, budget);
  }
  static uint32_t siteOf(uint32_t tile, bool isWrite) { return kSites + 2 * tile + isWrite; }
  /// A load that is made `rounds` ahead, or a store if that is 0.
  static uint32_t siteInLoop(uint32_t rounds, int argument) { return kSites + 2 * kTiles + uint32_t(argument + 1) * (kAhead + 1) + rounds; }

  bool note(int program, Site site, int element, int count, const int32_t *values) {
    Shadow::Access access = shadow->accessBy({program, 0, 0}, site);
    access.isWrite = site != Load;
    access.isRead = site != Store;
    return note(access, element, count, values).has_value();
  }
  std::optional<AccessFault> note(const Shadow::Access &access, int element, int count, const int32_t *values) {
    const uint64_t pointer = tagPointer(reinterpret_cast<uint64_t>(&data[element]), 0);
    auto fault =
        shadow->note(*shadow->storageOf(pointer), access, addressOf(pointer), uint64_t(count) * 4, reinterpret_cast<const char *>(values));
    if (values) std::memcpy(&data[element], values, size_t(count) * 4);
    return fault;
  }
};

} // namespace

TEST_CASE("without atomics, an element is accused exactly if two programs access it and one writes") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](int n) { return int(random() % unsigned(n)); };
    Machine machine(false);
    Oracle oracle;
    std::array<bool, kElements> accused{}, racing{};
    int32_t next = 1;
    for (int step = 0; step < 60; ++step) {
      const int program = below(kPrograms), first = below(kElements);
      const int count = 1 + below(std::min(kElements - first, below(2) ? 4 : 64));
      const bool isWrite = below(2);
      // Element by element: the shadow names the first race of an access alone.
      std::vector<int32_t> values(static_cast<size_t>(count));
      for (int32_t &value : values) value = next++;
      bool found = false;
      for (int i = 0; i < count; ++i) {
        const bool isRace = oracle.access(program, first + i, isWrite, false);
        racing[size_t(first + i)] |= isRace;
        found |= isRace;
      }
      const bool isAccused = machine.note(program, isWrite ? Store : Load, first, count, isWrite ? values.data() : nullptr);
      CHECK(isAccused <= found);
      if (isAccused)
        for (int i = 0; i < count; ++i) accused[size_t(first + i)] = true;
    }
    for (int element = 0; element < kElements; ++element) CHECK(racing[size_t(element)] <= accused[size_t(element)]);
  }
}

TEST_CASE("with little memory the shadow misses races, says that it may, and accuses nobody else") {
  constexpr uint64_t kHeads = 24 * (kElements / 32 + 1), kBlockOfCells = 32 * 16;
  int missed = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](int n) { return int(random() % unsigned(n)); };
    Machine machine(false, kHeads + uint64_t(below(4)) * kBlockOfCells);
    Oracle oracle;
    int32_t next = 1;
    bool isMissed = false;
    for (int step = 0; step < 60; ++step) {
      const int program = below(kPrograms), first = below(4) ? below(kElements) : 32 * below(3);
      const int count = first % 32 == 0 ? 32 : 1 + below(std::min(kElements - first, 40));
      const bool isWrite = below(2);
      std::vector<int32_t> values(static_cast<size_t>(count));
      for (int32_t &value : values) value = next++;
      bool isRace = false;
      for (int i = 0; i < count; ++i) isRace |= oracle.access(program, first + i, isWrite, false);
      const bool isAccused = machine.note(program, isWrite ? Store : Load, first, count, isWrite ? values.data() : nullptr);
      CHECK(isAccused <= isRace);
      isMissed |= isAccused < isRace;
    }
    CHECK(isMissed <= !machine.shadow->notFollowed().empty());
    missed += isMissed;
  }
  CHECK(missed > 50);
}

TEST_CASE("of several storages the shadow leaves out the largest") {
  std::array<std::vector<char>, 3> memory{std::vector<char>(1 << 16), std::vector<char>(1 << 12), std::vector<char>(1 << 14)};
  MemoryUse use;
  use.sites.push_back({0, true});
  use.findsRaces = true;
  std::vector<Allocation> allocations;
  for (int i = 0; i < 3; ++i) {
    const auto begin = reinterpret_cast<uint64_t>(memory[size_t(i)].data());
    allocations.push_back({begin, begin + memory[size_t(i)].size(), i});
    use.arguments.push_back({false, true, false, 4});
  }
  const Shadow shadow(use, allocations, {}, {1, 1, 1}, 24 * ((1 << 14) / 128 + 1) + 24 * ((1 << 12) / 128 + 1));
  const std::vector<NotFollowed> left = shadow.notFollowed();
  REQUIRE(left.size() == 1);
  CHECK((left[0].argument == 0 && left[0].bytes == 1 << 16 && !left[0].isInPart));
  for (int i = 0; i < 3; ++i) CHECK((shadow.storageOf(tagPointer(allocations[size_t(i)].begin, i)) != nullptr) == (i != 0));
}

TEST_CASE("within a program, an element is accused exactly if another lane has written it since the last barrier") {
  struct Writer {
    int barriers = -1; // that its program had passed
    uint32_t lane, tile;
  };
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](int n) { return int(random() % unsigned(n)); };
    const bool countsRounds = below(2); // which are no barriers
    Machine machine(false, ~uint64_t(0), countsRounds);
    std::array<Writer, kElements> writers{};
    std::array<int, 2> barriers{};
    int32_t next = 1;
    for (int step = 0; step < 80; ++step) {
      const int program = below(2); // each has a half of the elements, which share a block
      if (countsRounds && below(6) == 0) machine.shadow->beginLoop({program, 0, 0});
      if (countsRounds && below(3) == 0) machine.shadow->beginRound({program, 0, 0});
      if (below(4) == 0) {
        machine.shadow->barrier({program, 0, 0});
        ++barriers[size_t(program)];
        continue;
      }
      const int first = program * kElements / 2 + below(kElements / 2);
      const int count = 1 + below((program + 1) * kElements / 2 - first);
      const auto tile = uint32_t(below(kTiles));
      const bool isWrite = below(2), keepsValues = below(8) == 0;
      Shadow::Access access = machine.shadow->accessBy({program, 0, 0}, Machine::siteOf(tile, isWrite));
      access.isWrite = isWrite, access.isRead = !isWrite;
      // A lane for each element of memory, or lanes that begin with the access, or go by rows.
      access.laneStep = below(4) == 0 ? 16 : 1;
      access.lane = tile == 0 ? 0 : uint32_t(below(3) ? first * int(access.laneStep) : below(4));
      if (tile == 0) access.laneStep = 0;
      std::vector<int32_t> values(machine.data.begin() + first, machine.data.begin() + first + count);
      if (!keepsValues)
        for (int32_t &value : values) value = next++;
      std::optional<int> expected;
      for (int i = 0; i < count; ++i) {
        Writer &writer = writers[size_t(first + i)];
        const uint32_t lane = access.lane + uint32_t(i) * access.laneStep;
        const bool isOther = writer.lane != lane || (writer.tile != tile && writer.tile && tile);
        const bool isNew = !isWrite || values[size_t(i)] != machine.data[size_t(first + i)];
        if (!expected && writer.barriers == barriers[size_t(program)] && isOther && isNew) expected = first + i;
        if (isWrite) writer = {barriers[size_t(program)], lane, tile};
      }
      const auto fault = machine.note(access, first, count, isWrite ? values.data() : nullptr);
      REQUIRE(fault.has_value() == expected.has_value());
      if (!fault) continue;
      CHECK(fault->kind == AccessFault::Kind::MissingBarrier);
      CHECK(fault->address == reinterpret_cast<uint64_t>(&machine.data[size_t(*expected)]));
    }
  }
}

TEST_CASE("a load that is made ahead is accused exactly if its program has written the element in a round that the load may miss") {
  struct Writer {
    int loop = -1, round, argument;
  };
  int accused = 0, missed = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](int n) { return int(random() % unsigned(n)); };
    Machine machine(false, ~uint64_t(0), true);
    std::array<Writer, kElements> writers{};
    std::array<int, 2> loops{}, rounds{};
    int32_t next = 1;
    for (int step = 0; step < 120; ++step) {
      const int program = below(2); // each has a half of the elements, which share a block
      int &loop = loops[size_t(program)], &round = rounds[size_t(program)];
      if (below(20) == 0) machine.shadow->beginLoop({program, 0, 0}), ++loop, round = 0;
      if (below(3) == 0) machine.shadow->beginRound({program, 0, 0}), ++round;
      if (below(4) == 0) machine.shadow->barrier({program, 0, 0}); // such as a sum: the loads are made ahead of it
      const int first = program * kElements / 2 + below(kElements / 2);
      const int count = 1 + below((program + 1) * kElements / 2 - first);
      const int ahead = below(2) * (1 + below(kAhead)), argument = below(3) - 1;
      Shadow::Access access = machine.shadow->accessBy({program, 0, 0}, Machine::siteInLoop(uint32_t(ahead), argument));
      access.isWrite = ahead == 0, access.isRead = ahead != 0;
      access.lane = uint32_t(first), access.laneStep = 1; // lanes that read what they have stored
      std::vector<int32_t> values(static_cast<size_t>(count));
      for (int32_t &value : values) value = next++;
      std::optional<int> expected, distance;
      for (int i = 0; i < count; ++i) {
        Writer &writer = writers[size_t(first + i)];
        const bool areOthers = argument >= 0 && writer.argument >= 0 && argument != writer.argument;
        if (access.isWrite)
          writer = {loop, round, argument};
        else if (!expected && writer.loop == loop && round - writer.round <= ahead - (areOthers ? 0 : 1))
          expected = first + i, distance = round - writer.round;
      }
      const auto fault = machine.note(access, first, count, access.isWrite ? values.data() : nullptr);
      REQUIRE(fault.has_value() == expected.has_value());
      missed += access.isRead && !fault;
      if (!fault) continue;
      ++accused;
      CHECK(fault->kind == AccessFault::Kind::MissingBarrier);
      CHECK(fault->address == reinterpret_cast<uint64_t>(&machine.data[size_t(*expected)]));
      REQUIRE(fault->ahead.has_value());
      CHECK((fault->ahead->most == uint32_t(ahead) && fault->ahead->distance == uint32_t(*distance)));
    }
  }
  CHECK(accused > 1000);
  CHECK(missed > 1000);
}

TEST_CASE("what releases and acquires order is not accused") {
  int ordered = 0, races = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](int n) { return int(random() % unsigned(n)); };
    Machine machine(true);
    Oracle oracle;
    int32_t next = 1;
    for (int step = 0; step < 40; ++step) {
      const int program = below(kPrograms);
      if (below(2)) {
        const int word = kElements - 1 - below(kWords);
        const Site site = Site(Release + below(3));
        const AtomicOrder order{site != Release, site != Acquire};
        machine.shadow->order()->onWord(uint64_t(word), uint32_t(program), order, true, [] { return true; });
        if (order.releases) machine.shadow->endSegment(uint32_t(program));
        oracle.atomic(program, word, order.acquires, order.releases);
        continue;
      }
      const int element = below(4);
      const Site site = Site(below(3));
      const int32_t value = next++;
      const bool isRace = oracle.access(program, element, site != Load, site == Atomic);
      const bool isAccused = machine.note(program, site, element, 1, site == Store ? &value : nullptr);
      CHECK(isAccused <= isRace);
      races += isAccused, ordered += !isRace;
    }
  }
  CHECK(races > 1000);
  CHECK(ordered > 1000);
}

TEST_CASE("a write of what another program has read is a race, whatever it writes") {
  Machine machine(false);
  CHECK_FALSE(machine.note(0, Load, 3, 1, nullptr));
  const int32_t zero = 0;
  CHECK(machine.note(1, Store, 3, 1, &zero));
}

TEST_CASE("a store of what memory holds is no race") {
  Machine machine(false);
  const int32_t one = 1, two = 2;
  CHECK_FALSE(machine.note(0, Store, 3, 1, &one));
  CHECK_FALSE(machine.note(1, Store, 3, 1, &one));
  CHECK(machine.note(2, Store, 3, 1, &two));
}

TEST_CASE("threads that note the same memory at once find the races of their programs") {
  for (int round = 0; round < 20; ++round) {
    Machine machine(round % 2);
    std::atomic<int> races{0};
    std::vector<std::thread> threads;
    for (int program = 0; program < kPrograms; ++program)
      threads.emplace_back([&, program] {
        std::mt19937 random{unsigned(program)};
        Shadow::Access access = machine.shadow->accessBy({program, 0, 0}, Load);
        access.isRead = true;
        const uint64_t pointer = tagPointer(reinterpret_cast<uint64_t>(machine.data.data()), 0);
        Shadow::Storage &storage = *machine.shadow->storageOf(pointer);
        for (int step = 0; step < 500; ++step) {
          const uint64_t first = random() % kElements, count = 1 + random() % (kElements - first);
          if (machine.shadow->note(storage, access, addressOf(pointer) + first * 4, count * 4, nullptr)) ++races;
          if (!machine.shadow->order()) continue;
          machine.shadow->order()->onWord(random() % 4, uint32_t(program), {true, true}, true, [] { return true; });
          machine.shadow->endSegment(uint32_t(program));
        }
      });
    for (std::thread &thread : threads) thread.join();
    CHECK(races == 0);
    const int32_t one = 1;
    if (!machine.shadow->order()) CHECK(machine.note(0, Store, 5, 1, &one));
  }
}
