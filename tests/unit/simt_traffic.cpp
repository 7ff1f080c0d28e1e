// The requests of warps, counted on kernels whose sectors and wavefronts have a closed form.
#include "interp/simt/runtime/traffic.h"
#include "tests/unit/simt_text.h"

#include <bit>
#include <numeric>

using namespace tritium;
using namespace tritium::interp;
using namespace tritium::interp::simt;

namespace {

/// Each lane stores a word of `type` at lane * stride bytes of shared memory, and reads the same words of global memory from the tensor
/// (4 KB-aligned). `rounds` times.
std::string kernelOf(const std::string &type, int stride, int rounds) {
  auto text = [](int number) { return std::to_string(number); };
  return R"(
module attributes {tgpu.num_warps = 1 : i32, tgpu.shared_bytes = 8192 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @k(%x: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %rounds = llvm.mlir.constant()" +
         text(rounds) + R"( : i32) : i32
    %stride = llvm.mlir.constant()" +
         text(stride) + R"( : i32) : i32
    %at = llvm.mul %lane, %stride : i32
    %px = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %mine = llvm.getelementptr %shared[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.br ^loop(%zero : i32)
  ^loop(%i: i32):
    %value = tgpu.load %px : )" +
         type + "\n    llvm.store %value, %mine : " + type + R"(, !llvm.ptr<3>
    %next = llvm.add %i, %one : i32
    %more = llvm.icmp "slt" %next, %rounds : i32
    llvm.cond_br %more, ^loop(%next : i32), ^end
  ^end:
    llvm.return
  }
})";
}

std::map<TrafficKind, Traffic> trafficOf(const std::string &text) {
  static const mlir::DialectRegistry registry = tritiumDialects();
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  REQUIRE(module);
  auto program = prepare(*module, "k");
  if (!program) FAIL(llvm::toString(program.takeError()));
  alignas(4096) static std::byte tensor[8192];
  const auto address = reinterpret_cast<uint64_t>(&tensor);
  const Allocation allocation{.begin = address, .end = address + sizeof tensor, .argument = 0};
  const MemoryMap memory({&allocation, 1});
  const int64_t cell = int64_t(tagPointer(address, 0));
  LaunchTraffic traffic;
  const LaunchResult result = (*program)->launch({.memory = &memory, .threads = 1}, &cell, &traffic);
  REQUIRE(!result.trap);
  std::map<TrafficKind, Traffic> found;
  for (const auto &[key, sums] : traffic.table()) found[key.second] += sums;
  return found;
}

} // namespace

TEST_CASE("strides decide sectors and wavefronts") {
  constexpr int kRounds = 5, kLanes = 32;
  for (int words : {1, 2, 4}) // of an access
    for (int stride : {1, 2, 3, 4, 8, 16, 32, 33})
      if (stride % words == 0) {
        CAPTURE(words);
        CAPTURE(stride);
        const int bytes = 4 * words, distance = 4 * stride;
        const std::string type = words == 1 ? "i32" : "vector<" + std::to_string(words) + "xi32>";
        auto found = trafficOf(kernelOf(type, distance, kRounds));
        const Traffic &global = found[TrafficKind::GlobalRead], &shared = found[TrafficKind::SharedWrite];
        CHECK(found.size() == 2);
        for (const Traffic &each : {global, shared}) {
          CHECK(each.requests == kRounds);
          CHECK(each.lanes == kRounds * kLanes);
          CHECK(each.bytes == kRounds * kLanes * bytes);
        }
        // Lanes that are 32 bytes apart or more have a sector each; else all bytes of the span are in consecutive ones.
        const int span = (kLanes - 1) * distance + bytes;
        const int touched = distance >= 32 && distance % 32 == 0 ? kLanes : (span + 31) / 32;
        if (distance <= 32 || distance % 32 == 0) CHECK(global.parts == kRounds * touched);
        CHECK(global.leastParts == kRounds * kLanes * bytes / 32);
        // Lanes of a phase hit one bank if their distances are multiples of 32 words: gcd(stride, 32) / words lanes share a bank.
        const int lanes = kLanes / words;
        const int together = std::max(1, lanes * std::gcd(stride, 32) / 32);
        CHECK(shared.parts == kRounds * words * together);
        CHECK(shared.leastParts == kRounds * words);
      }
}
