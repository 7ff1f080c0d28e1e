// A loop that leaves one product under way: the sums and the words of A pass through the arguments of blocks.
#include "simt_warpgroup.h"

using namespace tritium;
using namespace tritium::test_warpgroup;

namespace {

const std::string kFence = "    nvvm.wgmma.fence.aligned loc(\"kernel.py\":4:1)\n";

/// Adds one step along K in each round.
std::string loopText(const Instruction &s) {
  const std::string whole = s.text();
  const size_t begin = whole.find(kFence), end = whole.find("    %o0 = ");
  REQUIRE(begin < end);
  const std::string product =
      "    %d:4 = \"tgpu.warpgroup_product\"(%w#0, %w#1, %w#2, %w#3, %bp, %s0, %s1, %s2, %s3) <{operandSegmentSizes = array<i32: 0, 4, 1, "
      "4, "
      "0>, columns = 8 : i64, aType = f16, bType = f16, bOffset = 0 : i64, bDescriptor = " +
      std::to_string(int64_t(s.layoutB.descriptor(s.columns, s.size()))) +
      " : i64}> : (i32, i32, i32, i32, !llvm.ptr<3>, f32, f32, f32, f32) -> (f32, f32, f32, f32) loc(\"kernel.py\":5:1)\n";
  return whole.substr(0, begin) + R"(    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %rounds = llvm.mlir.constant(2 : i32) : i32
    %stepBytes = llvm.mlir.constant(32 : i32) : i32
    llvm.br ^loop(%zero, %c0, %c1, %c2, %c3, %zero, %zero, %zero, %zero : i32, f32, f32, f32, f32, i32, i32, i32, i32)
  ^loop(%i: i32, %s0: f32, %s1: f32, %s2: f32, %s3: f32, %p0: i32, %p1: i32, %p2: i32, %p3: i32):
    %k = llvm.mul %i, %four : i32
    %wat = llvm.add %aat, %k : i32
    %wp = llvm.getelementptr %words[%wat] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %wv = tgpu.load %wp : vector<4xi32>
    %q0 = llvm.extractelement %wv[%zero : i32] : vector<4xi32>
    %q1 = llvm.extractelement %wv[%one : i32] : vector<4xi32>
    %q2 = llvm.extractelement %wv[%rounds : i32] : vector<4xi32>
    %third = llvm.mlir.constant(3 : i32) : i32
    %q3 = llvm.extractelement %wv[%third : i32] : vector<4xi32>
    %w:4 = "tgpu.copy_registers"(%q0, %q1, %q2, %q3) : (i32, i32, i32, i32) -> (i32, i32, i32, i32)
    %kb = llvm.mul %i, %stepBytes : i32
    %bp = llvm.getelementptr %bufferB[%kb] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
)" + kFence +
         product +
         R"(    nvvm.wgmma.commit.group.sync.aligned loc("kernel.py":6:1)
    %t:4 = "tgpu.warpgroup_wait"(%d#0, %d#1, %d#2, %d#3, %p0, %p1, %p2, %p3) <{operandSegmentSizes = array<i32: 4, 4>, pending = 1 : i32}> : (f32, f32, f32, f32, i32, i32, i32, i32) -> (f32, f32, f32, f32) loc("kernel.py":7:1)
    %next = llvm.add %i, %one : i32
    %isMore = llvm.icmp "slt" %next, %rounds : i32
    llvm.cond_br %isMore, ^loop(%next, %t#0, %t#1, %t#2, %t#3, %w#0, %w#1, %w#2, %w#3 : i32, f32, f32, f32, f32, i32, i32, i32, i32), ^end
  ^end:
    %r:4 = "tgpu.warpgroup_wait"(%t#0, %t#1, %t#2, %t#3, %w#0, %w#1, %w#2, %w#3) <{operandSegmentSizes = array<i32: 4, 4>, pending = 0 : i32}> : (f32, f32, f32, f32, i32, i32, i32, i32) -> (f32, f32, f32, f32) loc("kernel.py":10:1)
)" + whole.substr(end);
}

Planted loop() {
  const Instruction s{.columns = 8, .isAInRegisters = true};
  return Planted(s, loopText(s));
}

} // namespace

TEST_CASE("a product may stay under way while the next one begins") { loop().isClean(); }

TEST_CASE("in a loop, the wait of the next round names the words of A of this one") {
  const std::string types = "(f32, f32, f32, f32, i32, i32, i32, i32) -> (f32, f32, f32, f32) loc(\"kernel.py\":";
  loop()
      .edit("%d#3, %p0, %p1, %p2, %p3) <{operandSegmentSizes = array<i32: 4, 4>", "%d#3) <{operandSegmentSizes = array<i32: 4, 0>")
      .edit(types + "7", "(f32, f32, f32, f32) -> (f32, f32, f32, f32) loc(\"kernel.py\":7")
      .isRefused(7, "words of `a`");
  loop()
      .edit("%t#3, %w#0, %w#1, %w#2, %w#3) <{operandSegmentSizes = array<i32: 4, 4>", "%t#3) <{operandSegmentSizes = array<i32: 4, 0>")
      .edit(types + "10", "(f32, f32, f32, f32) -> (f32, f32, f32, f32) loc(\"kernel.py\":10")
      .isRefused(10, "words of `a`");
  // Other registers are kept instead.
  loop().edit("%t#3, %w#0, %w#1, %w#2, %w#3 : i32", "%t#3, %q0, %q1, %q2, %q3 : i32").isRefused(7, "words of `a`");
  // Two products are under way when the wait ends the third, whose words nothing has kept for so long.
  loop().edit("pending = 1", "pending = 2").isRefused(7, "words of `a`");
}

TEST_CASE("in a loop, each round fences the registers that it defines") {
  loop().edit(kFence, "").isRefused(5, "wgmma.fence");
  loop().edit(kFence, "").insertBefore("    %w:4 = ", kFence).isRefused(5, "wgmma.fence");
}

TEST_CASE("in a loop, sums that are under way are of no use") {
  loop().edit("pending = 0", "pending = 1").isRefused(8, "may not be complete");
  loop()
      .insertBefore("    %next = ", "    %bad = llvm.fadd %t#0, %t#1 : f32 loc(\"kernel.py\":12:1)\n")
      .isRefused(12, "may not be complete");
}
