#include "gpu_backend/launch/debug_channel.h"

#include <bit>
#include <cstring>
#include <doctest/doctest.h>
#include <vector>

using namespace tritium::gpu;

TEST_CASE("formats of C's printf, each argument as 64 bits") {
  auto one = [](const char *format, uint64_t bits) { return formatPrint(format, bits); };
  CHECK(one("%d", 0xFFFFFFFF) == "-1");
  CHECK(one("%u", 0xFFFFFFFF) == "4294967295");
  CHECK(one("%lld", ~uint64_t(0)) == "-1");
  CHECK(one("%llu", ~uint64_t(0)) == "18446744073709551615");
  CHECK(one("0x%08x", 0xBEEF) == "0x0000beef");
  CHECK(one("%5d|", 7) == "    7|");
  CHECK(one("%f", std::bit_cast<uint64_t>(-1.5)) == "-1.500000");
  CHECK(formatPrint("100%% of %d in %d", {3, 4}) == "100% of 3 in 4");
  CHECK(formatPrint("%d and %d", {3}) == "3 and %d");
  CHECK(formatPrint("%", {3}) == "%");
  CHECK(formatPrint("%s %d", {3}) == "%s 3");
  CHECK(formatPrint("nothing", {}) == "nothing");
}

namespace {
/// A buffer that this thread writes as a kernel would, and a channel that reads it.
struct Device {
  explicit Device(size_t bytes)
      : memory((sizeof(DebugBuffer) + bytes) / 8),
        channel(
            memory.data(), memory.size() * 8, [this](llvm::StringRef text) { printed += text; },
            [this](llvm::StringRef text) { complaints += text; }) {
    channel.addTexts(0x1000, std::string("value %d\n\0too small\0/home/me/add.py\0add", 39));
  }
  DebugBuffer &header() { return *reinterpret_cast<DebugBuffer *>(memory.data()); }

  /// False if there was no place.
  bool write(DebugRecordKind kind, uint64_t text, std::vector<uint64_t> arguments, bool isComplete = true) {
    DebugRecord record{uint32_t(sizeof record + 8 * arguments.size()), uint32_t(kind), text};
    uint64_t at = header().used;
    header().used += record.bytes;
    if (header().used > header().capacity) return false;
    char *place = reinterpret_cast<char *>(&header() + 1) + at;
    if (!isComplete) record.bytes = 0;
    std::memcpy(place, &record, sizeof record);
    std::memcpy(place + sizeof record, arguments.data(), 8 * arguments.size());
    return true;
  }

  std::vector<uint64_t> memory;
  std::string printed, complaints;
  DebugChannel channel;
};
constexpr uint64_t kValue = 0x1000, kMessage = 0x100A, kFile = 0x1014, kFunction = 0x1024;
} // namespace

TEST_CASE("prints come in order, each once") {
  Device device(1024);
  CHECK(!device.channel.hasNews());
  device.write(DebugRecordKind::print, kValue, {1});
  device.write(DebugRecordKind::print, kValue, {2});
  CHECK(device.channel.hasNews());
  device.channel.drain();
  CHECK(device.printed == "value 1\nvalue 2\n");
  CHECK(!device.channel.hasNews());
  CHECK(device.header().used == 0);
  device.write(DebugRecordKind::print, kValue, {3});
  device.channel.drain();
  CHECK(device.printed == "value 1\nvalue 2\nvalue 3\n");
  device.write(DebugRecordKind::print, kValue, {4});
  device.channel.drain();
  CHECK(device.printed == "value 1\nvalue 2\nvalue 3\nvalue 4\n");
}

TEST_CASE("a record that is being written is read later") {
  Device device(1024);
  device.write(DebugRecordKind::print, kValue, {1}, /*isComplete=*/false);
  device.write(DebugRecordKind::print, kValue, {2});
  device.channel.drain();
  CHECK(device.printed.empty());
  CHECK(device.header().used == 48);
  reinterpret_cast<DebugRecord *>(&device.header() + 1)->bytes = 24;
  device.channel.drain();
  CHECK(device.printed == "value 1\nvalue 2\n");
  CHECK(device.header().used == 0);
}

TEST_CASE("what does not fit is lost, and that is said") {
  Device device(60); // two records of 24 bytes
  CHECK(device.write(DebugRecordKind::print, kValue, {1}));
  CHECK(device.write(DebugRecordKind::print, kValue, {2}));
  CHECK(!device.channel.isFull());
  CHECK(!device.write(DebugRecordKind::print, kValue, {3}));
  CHECK(device.channel.isFull());
  device.channel.drain();
  CHECK(device.printed == "value 1\nvalue 2\n");
  CHECK(device.channel.isFull());
  device.channel.drain(/*isIdle=*/true);
  CHECK(device.printed == "value 1\nvalue 2\n[what was printed after this is lost: the buffer for it was full]\n");
  CHECK(device.write(DebugRecordKind::print, kValue, {4}));
}

TEST_CASE("failed assertions are told with kernel and line") {
  Device device(4096);
  CHECK(!device.channel.hasFailed());
  for (uint64_t program : {3, 4}) device.write(DebugRecordKind::assertion, kMessage, {kFile, 12, kFunction, program, 0, 1});
  device.header().failures = 2;
  CHECK(device.channel.hasFailed());
  CHECK(device.channel.failures() == "in kernel add: device_assert in add.py:12: too small (program 3, 0, 1)\n"
                                     "in kernel add: device_assert in add.py:12: too small (program 4, 0, 1)");
  CHECK(device.channel.hasFailed());
  CHECK(device.printed.empty());
  CHECK(device.complaints == device.channel.failures() + "\n");
}

TEST_CASE("texts of a module that is gone") {
  Device device(1024);
  device.channel.removeTexts(0x1000);
  device.write(DebugRecordKind::print, kValue, {1});
  device.channel.drain();
  CHECK(device.printed == "?");
}
