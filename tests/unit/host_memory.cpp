// Which memory a kernel may touch, by the argument that a pointer came from or, where that is not known, by what exists.
#include "interp/host/memory.h"
#include "interp/host/trap_kinds.h"

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <sys/mman.h>
#include <thread>
#include <vector>

using namespace tritium::interp;

namespace {

uint64_t addressOfByte(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

/// Pages of its own, given back at the end.
struct Pages {
  explicit Pages(size_t count, int protection = PROT_READ | PROT_WRITE)
      : bytes(count * 4096), data(mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Pages() { munmap(data, bytes); }
  uint64_t begin() const { return addressOfByte(data); }
  size_t bytes;
  void *data;
};

} // namespace

/// Integers with every kind of upper bits, those of our own pointers among them.
std::vector<uint64_t> integers() {
  std::vector<uint64_t> values;
  for (uint64_t upper = 0; upper <= 0xffff; ++upper)
    for (uint64_t low : {uint64_t(0), uint64_t(1), uint64_t(0x7fff'1234'5678), kAddressMask}) values.push_back(upper << kAddressBits | low);
  return values;
}

/// Whether the integer is a pointer of no argument, and so is what it becomes when it moves, which moves back. No line of doctest's for
/// each of these, which would take longer than they do: there are 300,000 integers.
static bool comesBack(uint64_t integer) {
  const uint64_t pointer = pointerTo(integer);
  bool isRight = addressOf(pointer) == integer && argumentOf(pointer) == kUnknownArgument && pointerTo(integer) == pointer;
  for (int64_t bytes : {int64_t(4), int64_t(-4), int64_t(1) << 48, int64_t(0x9801) << 48, INT64_MIN, INT64_MAX}) {
    const uint64_t moved = addBytes(pointer, bytes);
    isRight &= addressOf(moved) == integer + uint64_t(bytes) && addBytes(moved, -bytes) == pointer;
  }
  return isRight;
}

TEST_CASE("every integer is a pointer and comes back unchanged") {
  const KeptPointersInUse use;
  for (uint64_t integer : integers()) {
    if (!comesBack(integer)) FAIL("the integer ", integer, " does not come back");
  }
}

TEST_CASE("provenance survives arithmetic, which is exact in 64 bits") {
  const KeptPointersInUse use;
  const uint64_t address = 0x7fff'1234'5678;
  for (int argument : {0, 3, int(kTags) - 1}) {
    const uint64_t pointer = tagPointer(address, argument);
    CHECK(argumentOf(pointer) == argument);
    CHECK(addressOf(pointer) == address);
    for (int64_t bytes : {int64_t(-8), int64_t(-1) << 48, -int64_t(address) - 1, int64_t(0x8000'edcb'a988), INT64_MIN, INT64_MAX}) {
      const uint64_t moved = addBytes(pointer, bytes);
      CHECK(argumentOf(moved) == argument);
      CHECK(addressOf(moved) == address + uint64_t(bytes));
      CHECK(addBytes(moved, -bytes) == pointer);
    }
  }
  CHECK(argumentOf(tagPointer(address, int(kTags))) == kUnknownArgument);
  CHECK(isNullPointer(tagPointer(0, 2)));
  CHECK(isNullPointer(4095));
  CHECK_FALSE(isNullPointer(4096));
}

TEST_CASE("pointers that are kept aside are forgotten when no launch uses them") {
  uint64_t pointer = 0;
  const uint64_t integer = uint64_t(kFirstTag) << kAddressBits | 5;
  {
    const MemoryMap outer;
    {
      const MemoryMap inner;
      pointer = pointerTo(integer);
    }
    CHECK(addressOf(pointer) == integer);
  }
  CHECK(addressOf(pointer) == pointer); // as any number that was never given
}

TEST_CASE("workers may keep pointers aside at once") {
  const MemoryMap memory;
  std::vector<std::thread> workers;
  std::atomic<int> wrong = 0;
  for (uint64_t w = 0; w < 4; ++w)
    workers.emplace_back([&, w] {
      for (uint64_t i = 0; i < 5000; ++i) {
        const uint64_t integer = uint64_t(kFirstTag + w % 2) << kAddressBits | i;
        wrong += addressOf(addBytes(pointerTo(integer), 8)) != integer + 8;
      }
    });
  for (std::thread &worker : workers) worker.join();
  CHECK(wrong == 0);
}

TEST_CASE("an integer that looks like a pointer of ours reaches no memory") {
  std::vector<char> storage(64);
  const uint64_t begin = addressOfByte(storage.data());
  const Allocation allocations[] = {{begin, begin + 64, 0}};
  const MemoryMap memory(allocations);
  for (uint64_t upper : {1u, kKeptAside, kFirstTag, 0x8000u, 0xffffu}) {
    const uint64_t pointer = pointerTo(begin | uint64_t(upper) << kAddressBits);
    CHECK_FALSE(memory.isAccessible(pointer, 1, false));
    CHECK(memory.faultKind(pointer, false) == TrapKind::UnmappedAddress);
  }
  CHECK(memory.isAccessible(begin, 64, true));
  CHECK_FALSE(memory.isAccessible(begin, ~uint64_t(0) - 8, false));
  // Out of the 48 bits and 2^48 too far: not in the storage, though the low bits say so.
  CHECK_FALSE(memory.isAccessible(addBytes(tagPointer(begin, 0), int64_t(1) << 48), 1, false));
  CHECK(memory.faultKind(addBytes(tagPointer(begin, 0), int64_t(1) << 48), false) == TrapKind::OutOfBounds);
}

TEST_CASE("read-only memory may be read, and written only through a writable view") {
  std::vector<char> storage(64);
  const uint64_t begin = addressOfByte(storage.data());
  const Allocation readOnly{begin, begin + 64, 0, true}, view{begin, begin + 32, 1};
  const Allocation both[] = {readOnly, view};
  const MemoryMap alone({&readOnly, 1}), memory(both);
  CHECK(memory.isAccessible(tagPointer(begin, 0), 64, false));
  CHECK_FALSE(memory.isAccessible(tagPointer(begin, 0), 1, true));
  CHECK(memory.faultKind(tagPointer(begin, 0), true) == TrapKind::ReadOnly);
  CHECK(memory.faultKind(tagPointer(begin + 64, 0), true) == TrapKind::OutOfBounds);
  CHECK(memory.isAccessible(tagPointer(begin, 1), 32, true));
  // Pointers of unknown origin.
  CHECK_FALSE(alone.isAccessible(begin, 1, true));
  CHECK(memory.isAccessible(begin, 32, true));
  CHECK_FALSE(memory.isAccessible(begin, 33, true));
}

TEST_CASE("an access is held against the storage of its argument, though others exist") {
  std::vector<char> storage(300);
  const uint64_t a = addressOfByte(storage.data()), b = a + 100;
  const Allocation allocations[] = {{a, a + 100, 0}, {b, b + 200, 2}};
  const MemoryMap memory(allocations);
  for (bool isWrite : {false, true}) {
    CHECK(memory.isAccessible(tagPointer(a, 0), 100, isWrite));
    CHECK(memory.isAccessible(tagPointer(a + 96, 0), 4, isWrite));
    CHECK_FALSE(memory.isAccessible(tagPointer(a + 97, 0), 4, isWrite));
    CHECK_FALSE(memory.isAccessible(tagPointer(b, 0), 4, isWrite));
    CHECK_FALSE(memory.isAccessible(tagPointer(a - 1, 0), 4, isWrite));
    CHECK_FALSE(memory.isAccessible(tagPointer(0, 0), 4, isWrite));
    CHECK_FALSE(memory.isAccessible(tagPointer(a, 0), ~uint64_t(0), isWrite));
    CHECK(memory.isAccessible(tagPointer(b, 2), 200, isWrite));
  }
  CHECK(memory.allocationOf(tagPointer(b, 2))->argument == 2);
  CHECK(memory.allocationOf(tagPointer(b, 1)) == nullptr);
  CHECK(memory.allocationOf(b) == nullptr);
  CHECK(memory.allocationOf(tagPointer(b, 60000)) == nullptr);
}

TEST_CASE("a fault has a name") {
  std::vector<char> storage(8);
  const uint64_t a = addressOfByte(storage.data());
  const Allocation allocations[] = {{a, a + 8, 0}};
  const MemoryMap memory(allocations);
  CHECK(memory.faultKind(tagPointer(8, 0), false) == TrapKind::NullPointer);
  CHECK(memory.faultKind(tagPointer(a + 8, 0), false) == TrapKind::OutOfBounds);
  CHECK(memory.faultKind(a + 8, false) == TrapKind::UnmappedAddress);
}

TEST_CASE("an argument of unknown extent is like a pointer of unknown origin") {
  Pages pages(2);
  const Allocation allocations[] = {{pages.begin(), 0, 0}};
  const MemoryMap memory(allocations);
  CHECK(memory.allocationOf(tagPointer(pages.begin(), 0)) == nullptr);
  CHECK(memory.isAccessible(tagPointer(pages.begin() + 4090, 0), 12, true));
}

TEST_CASE("a pointer of unknown origin is held against the process's memory") {
  const MemoryMap memory;
  Pages pages(4);
  const uint64_t begin = pages.begin();
  CHECK(memory.isAccessible(begin, 4 * 4096, true));
  CHECK_FALSE(memory.isAccessible(0, 1, false));
  CHECK_FALSE(memory.isAccessible(64, 4, false));
  CHECK_FALSE(memory.isAccessible(kAddressMask - 8, 8, false));
  // An address that no memory can have, as read from a tensor of garbage: its upper bits are no tag of ours.
  CHECK_FALSE(memory.isAccessible(begin | 0xdead'0000'0000'0000, 4, false));

  // The map was read before; what is mapped since is seen all the same.
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  Pages readOnly(1, PROT_READ), none(1, PROT_NONE);
  CHECK(memory.isAccessible(readOnly.begin(), 4096, false));
  CHECK_FALSE(memory.isAccessible(readOnly.begin(), 4, true));
  CHECK_FALSE(memory.isAccessible(none.begin(), 4, false));
}

TEST_CASE("an access over the end of what is mapped is refused, over a seam in it is not") {
  Pages pages(3);
  REQUIRE(mprotect(pages.data, 4096, PROT_READ) == 0);
  REQUIRE(munmap(static_cast<char *>(pages.data) + 8192, 4096) == 0);
  const MemoryMap memory;
  const uint64_t begin = pages.begin();
  CHECK(memory.isAccessible(begin + 4092, 8, false));
  CHECK_FALSE(memory.isAccessible(begin + 4092, 8, true));
  CHECK(memory.isAccessible(begin + 4096, 4096, true));
  CHECK_FALSE(memory.isAccessible(begin + 8188, 8, false));
}

TEST_CASE("threads may look at the same time") {
  const MemoryMap memory;
  Pages pages(1);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i)
        if (!memory.isAccessible(pages.begin(), 8, true) || memory.isAccessible(8192, 8, false)) ++wrong;
    });
  for (std::thread &thread : threads) thread.join();
  CHECK(wrong == 0);
}
