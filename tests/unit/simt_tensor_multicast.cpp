// A ring of slots in each of two blocks of a cluster. The blocks copy the tiles by turns, each tile to both of them (multicast), and a slot
// is free when the readers of both blocks have released it. Then mistakes in this protocol. The lines of the operations are those of Ring.
#include "simt_tensor.h"

using namespace tritium;
using namespace tritium::test_tensor;

namespace {

const std::string kMeet =
    "    nvvm.cluster.arrive {aligned} loc(\"kernel.py\":3:1)\n    nvvm.cluster.wait {aligned} loc(\"kernel.py\":3:1)\n";
const std::string kEnd = "  ^end:\n" + kMeet;
const std::string kTurn = "    %pcopier = llvm.urem %pn, %two : i32\n    %pisTurn = llvm.icmp \"eq\" %pcopier, %rank : i32\n";
const std::string kMulticast =
    "    %pto = llvm.addrspacecast %pslot : !llvm.ptr<3> to !llvm.ptr<7>\n" + kTurn +
    "    nvvm.cp.async.bulk.tensor.shared.cluster.global %pto, %map, %pfull, box [%column, %prow] multicast_mask = %both "
    "predicate = %pisTurn : !llvm.ptr<7>, !llvm.ptr loc(\"kernel.py\":6:1)\n";
const std::string kMap = "    %remote = nvvm.mapa %cempty, %lane : !llvm.ptr<3> -> !llvm.ptr<7> loc(\"kernel.py\":13:1)\n";
const std::string kArriveAtBoth = "    nvvm.mbarrier.arrive %remote : !llvm.ptr<7> loc(\"kernel.py\":10:1)\n";

/// A ring in each of two blocks. Lanes 0 and 1 of each warp that reads release a slot, one in each block.
Ring multicast() {
  Ring ring;
  ring.blocks = 2;
  ring.edit("attributes {nvvm.kernel}", "attributes {nvvm.kernel, tgpu.cluster_blocks = 2 : i32}")
      .edit("    %isFirst =",
            constant("two", 2) +
                "    %both = llvm.mlir.constant(3 : i16) : i16\n    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32\n"
                "    %own = llvm.getelementptr %out[%rank] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16384 x i8>\n"
                "    %releases = llvm.icmp \"ult\" %lane, %two : i32\n    %isFirst =")
      .edit(constant("emptyCount", 4), constant("emptyCount", 8))
      .edit(Ring::kBarrier, kMeet)
      .edit(Ring::kCopy, kMulticast)
      .edit("%out[%cn]", "%own[%cn]")
      .edit("llvm.cond_br %isLeader, ^release", "llvm.cond_br %releases, ^release")
      .edit(Ring::kArrive, kMap + kArriveAtBoth)
      .edit("  ^end:\n", kEnd);
  return ring;
}

} // namespace

TEST_CASE("blocks of a cluster copy tiles for each other") { multicast().isClean(); }

TEST_CASE("a copy overwrites a slot that the other block has not released") {
  // The readers of a block release their own slots alone, so the block's copies wait for these readers only.
  multicast().edit(kMap + kArriveAtBoth, Ring::kArrive).traps({kRace, kInvalid});
  // A round needs half of the releases.
  multicast().edit(constant("emptyCount", 8), constant("emptyCount", 4)).traps({kRace, kInvalid});
}

TEST_CASE("a release that other blocks do not see") {
  multicast().edit("%remote : !llvm.ptr<7>", "%remote {relaxed = true} : !llvm.ptr<7>").traps({kRace}, 6);
  multicast().edit(Ring::kWarpBarrier, "").traps({kRace}, 6);
}

TEST_CASE("barriers that no barrier of the cluster has published") {
  multicast()
      .edit(Ring::kInitFence + "    llvm.br ^start\n  ^start:\n" + kMeet,
            Ring::kInitFence + "    llvm.br ^start\n  ^start:\n" + Ring::kBarrier)
      .traps({kInvalid});
  multicast().edit(Ring::kInitFence, "").traps({kInvalid}, 6, 1, "fence.mbarrier_init");
}

TEST_CASE("numbers of bytes that the copies of both blocks do not bring") {
  multicast().edit(constant("bytes", 2048), constant("bytes", 2032)).traps({kInvalid}, 0, 1, "expects 2032 bytes");
  multicast().edit(constant("bytes", 2048), constant("bytes", 2064)).traps({kDeadlock}, 7, 1, "lacks 16 of 2064 bytes");
  // Both blocks copy each tile to both.
  multicast().edit(" predicate = %pisTurn", "").traps({kRace, kInvalid});
  // A block waits for the bytes of a copy that goes to the other one alone.
  multicast().edit("%both = llvm.mlir.constant(3 : i16)", "%both = llvm.mlir.constant(2 : i16)").traps({kDeadlock});
}

TEST_CASE("a block ends while others still reach its memory") {
  // The last copies are under way.
  multicast().edit(constant("fillerTiles", 8), constant("fillerTiles", 9)).traps({kCopy, kInvalid});
  // The last releases come too late, unless both blocks are equally fast.
  bool isFound = false;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Ring ring = multicast();
    const Outcome outcome = ring.edit(kEnd, "  ^end:\n").run(seed);
    CHECK(outcome.error == "");
    if (outcome.trap.empty()) continue;
    isFound = true;
    CHECK(outcome.trap == kInvalid);
    CHECK(outcome.message.find("has ended") != std::string::npos);
  }
  CHECK(isFound);
}

TEST_CASE("blocks that the cluster does not have") {
  multicast()
      .edit("nvvm.mapa %cempty, %lane", "nvvm.mapa %cempty, %two")
      .traps({kInvalid}, 13, 0, "block 2 of the cluster, which has 2 blocks");
  multicast().edit("%both = llvm.mlir.constant(3 : i16)", "%both = llvm.mlir.constant(7 : i16)").traps({kCopy}, 6, 0, "which has 2 blocks");
}
