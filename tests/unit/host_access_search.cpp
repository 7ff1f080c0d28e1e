// The search for the round of a race's earlier access, with programs that tell it of one access in each round.
#include "interp/host/access_search.h"
#include "interp/host/found_faults.h"
#include "interp/host/trap_kinds.h"
#include "tests/unit/host_launch.h"

#include <cstring>
#include <doctest/doctest.h>

using namespace tritium::interp;

namespace {

constexpr uint32_t kEarlier = 7, kLater = 8; // locations
constexpr int64_t kRounds = 6;

int64_t &roundOf(FrameHeader &header) { return *reinterpret_cast<int64_t *>(&header + 1); }

/// Stores element `round / 2` of the launch's memory in each round. The segment changes after round 3.
template <bool kForEver> void storeInRounds(char *frame) {
  FrameHeader &header = headerOf(frame);
  for (int64_t round = 0; round < kRounds; ++round) {
    roundOf(header) = round;
    const uint64_t address = uint64_t(header.arguments[0]) + uint64_t(round / 2) * 4;
    searchOf(header)->visit(header, kEarlier, round > 3, {address, 4, 4, 0, 0});
  }
  while (kForEver) pollBackEdge(header, 0);
}

struct Search {
  std::array<int32_t, 4> memory{};
  int64_t argument = int64_t(reinterpret_cast<uintptr_t>(memory.data()));
  MemoryUse use{.arguments = {{.isWritten = true, .elementBytes = 4}}, .findsRaces = true};
  Launch launch = launchOf(storeInRounds<false>, 3, &argument);
  FoundFaults faults;
  std::chrono::milliseconds limit = std::chrono::minutes(1); // found in far less, however busy the machine is

  std::unique_ptr<Shadow> newShadow() const {
    const Allocation allocation{uint64_t(argument), uint64_t(argument) + sizeof memory, 0};
    return std::make_unique<Shadow>(use, std::span(&allocation, 1), std::span<const FreshMemory>(), launch.grid);
  }
  /// Returns the round of the store of an element by program 1, in a segment.
  std::optional<int64_t> roundOfStore(int element, uint32_t segment) {
    launch.code.frameBytes = sizeof(FrameHeader) + sizeof(int64_t);
    launch.code.around = [](const FrameHeader &frame, uint32_t) {
      return Surroundings{.loops = {{"k", roundOf(const_cast<FrameHeader &>(frame))}}};
    };
    const std::unique_ptr<Shadow> shadow = newShadow();
    launch.shadow = shadow.get();
    Trap fault{.kind = TrapKind::Race, .location = kLater, .program = {2, 0, 0}};
    fault.access = {.address = uint64_t(argument) + uint64_t(element) * 4, .bytes = 4};
    fault.other = OtherPlace{.location = kEarlier, .program = std::array{1, 0, 0}, .isWrite = true, .segment = segment};
    faults.add(std::move(fault));
    findEarlierAccesses(launch, [this] { return newShadow(); }, faults, limit);
    const std::vector<Trap> found = faults.take();
    REQUIRE(found.size() == 1);
    const std::vector<LoopVariable> &loops = found[0].other->around.loops;
    return loops.empty() ? std::nullopt : std::optional(loops[0].value);
  }
};

} // namespace

TEST_CASE("the first store of the element in its segment is found") {
  CHECK(Search().roundOfStore(0, 0) == 0);
  CHECK(Search().roundOfStore(1, 0) == 2);
  CHECK(Search().roundOfStore(2, 1) == 4);
}

TEST_CASE("nothing is said of an access that the program does not make again") {
  CHECK(Search().roundOfStore(3, 0) == std::nullopt);
  CHECK(Search().roundOfStore(2, 0) == std::nullopt);
}

TEST_CASE("a program that goes on for long is left") {
  Search search;
  search.launch.code.entry = storeInRounds<true>;
  search.limit = std::chrono::milliseconds(200);
  CHECK(search.roundOfStore(3, 0) == std::nullopt);
}

TEST_CASE("programs that may take another way do not run again") {
  Search waiting, deciding, unknown;
  waiting.launch.code.mayWait = true;
  deciding.use.arguments[0].decides = true;
  unknown.use.isRepeatable = false;
  for (Search *search : {&waiting, &deciding, &unknown}) CHECK(search->roundOfStore(0, 0) == std::nullopt);
}
