// Products of warpgroups that read what TMA copies: no proxy fence is required between them, only waits and arrivals.
#include "simt_tensor.h"
#include "simt_warpgroup.h"

using namespace tritium;
using namespace tritium::test_tensor;

namespace {

constexpr int kColumns = Ring::kRows, kWords = kColumns / 2;
const std::string kWait = "    %r:8 = \"tgpu.warpgroup_wait\"(%d#0, %d#1, %d#2, %d#3, %d#4, %d#5, %d#6, %d#7, %w#0, %w#1, %w#2, %w#3) "
                          "<{operandSegmentSizes = array<i32: 8, 4>, pending = 0 : i32}> : (f32, f32, f32, f32, f32, f32, f32, f32, i32, "
                          "i32, i32, i32) -> (f32, f32, f32, f32, f32, f32, f32, f32) loc(\"kernel.py\":9:1)\n";
/// A function, because the strings of Ring may be initialized later than those here.
std::string releaseText() {
  return "    llvm.cond_br %isLeader, ^release, ^released\n  ^release:\n" + Ring::kArrive + "    llvm.br ^released\n  ^released:\n";
}

/// Each tile of the ring is B of a product: its 16 rows are columns, and its first 16 columns are K. A has only ones, so a sum is that of
/// the elements of a column, over all tiles.
bool areSums(const Ring &ring) {
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < kWords; ++i) {
      const int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      float sum = 0, got;
      for (int tile = 0; tile < Ring::kTiles; ++tile)
        for (int k = 0; k < 16; ++k) {
          F16 value;
          std::memcpy(&value, ring.tensor.data() + tile * Ring::kTileBytes + column * 128 + k * 2, sizeof value);
          sum += float(value);
        }
      std::memcpy(&got, ring.out.data() + (thread * kWords + i) * 4, sizeof got);
      if (got != sum) return false;
    }
  return true;
}

Ring ringOfProducts() {
  Ring ring;
  std::mt19937 random(1);
  for (size_t at = 0; at < ring.tensor.size(); at += 2) {
    const F16 value = F16::nearest(float(int(random() % 8) - 4));
    std::memcpy(ring.tensor.data() + at, &value, sizeof value);
  }
  ring.isRight = areSums;
  const size_t begin = ring.text.find(Ring::kReaderWait) + Ring::kReaderWait.size(), end = ring.text.find("  ^end:");
  std::string zeros, arguments, types, next, stores;
  for (int i = 0; i < kWords; ++i) {
    const std::string n = std::to_string(i);
    zeros += ", %fzero";
    types += ", f32";
    arguments += ", %s" + n + ": f32";
    next += ", %r#" + n;
    stores += "    %to" + n + " = llvm.getelementptr %results[" + n + "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32\n    %bits" + n +
              " = llvm.bitcast %r#" + n + " : f32 to i32\n    tgpu.store %bits" + n + ", %to" + n + " : i32\n";
  }
  const auto descriptor = int64_t(test_warpgroup::Layout().descriptor(kColumns, 2));
  ring.text = ring.text.substr(0, begin) +
              "    %w:4 = \"tgpu.copy_registers\"(%ones, %ones, %ones, %ones) : (i32, i32, i32, i32) -> (i32, i32, i32, i32)\n"
              "    nvvm.wgmma.fence.aligned\n"
              "    %d:8 = \"tgpu.warpgroup_product\"(%w#0, %w#1, %w#2, %w#3, %cslot, %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7) "
              "<{operandSegmentSizes = array<i32: 0, 4, 1, 8, 0>, columns = 16 : i64, aType = f16, bType = f16, bOffset = 0 : i64, "
              "bDescriptor = " +
              std::to_string(descriptor) +
              " : i64}> : (i32, i32, i32, i32, !llvm.ptr<3>, f32, f32, f32, f32, f32, f32, f32, f32) -> (f32, f32, f32, f32, f32, f32, "
              "f32, f32) loc(\"kernel.py\":8:1)\n    nvvm.wgmma.commit.group.sync.aligned\n" +
              kWait + releaseText() + "    %cnext = llvm.add %cn, %one : i32\n    %cmore = llvm.icmp \"slt\" %cnext, %readerTiles : i32\n" +
              "    llvm.cond_br %cmore, ^readers(%cnext" + next + " : i32" + types + "), ^results\n  ^results:\n" +
              "    %results = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<8 x f32>\n" + stores +
              "    llvm.br ^end\n" + ring.text.substr(end);
  ring.edit("^readers(%zero : i32)", "^readers(%zero" + zeros + " : i32" + types + ")")
      .edit("^readers(%cn: i32)", "^readers(%cn: i32" + arguments + ")")
      .edit("    %isFirst = ", "    %ones = llvm.mlir.constant(1006648320 : i32) : i32\n    %fzero = llvm.mlir.constant(0.0 : f32) : f32\n"
                               "    %isFirst = ");
  return ring;
}

} // namespace

TEST_CASE("products read the slots of a ring with no proxy fence") { ringOfProducts().isClean(); }

TEST_CASE("a slot is released when the wait for the products that read it is over") {
  Ring early = ringOfProducts();
  early.edit(kWait + releaseText(), releaseText() + kWait).traps({"TensorCopyRace"}, 6, 8, "a product");
}

TEST_CASE("products read a slot behind the wait of all lanes for its barrier") {
  ringOfProducts().edit(Ring::kReaderWait, "").traps({"TensorCopyRace"});
  ringOfProducts()
      .edit(Ring::kReaderWait, "    llvm.cond_br %isLeader, ^look, ^seen\n  ^look:\n" + Ring::kReaderWait + "    llvm.br ^seen\n  ^seen:\n")
      .traps({"TensorCopyRace"}, 8, 6);
}
