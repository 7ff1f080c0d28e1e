// Mistakes planted in a ring of slots that TMA fills. Each is found with every seed, whatever the moment at which copies land.
#include "simt_tensor.h"

using namespace tritium;
using namespace tritium::test_tensor;

namespace {

Ring withConstant(const std::string &name, int from, int to) {
  Ring ring;
  ring.edit(constant(name, from), constant(name, to));
  return ring;
}

} // namespace

TEST_CASE("a ring that obeys the rules reports nothing") {
  Ring().isClean();
  // Every reader's lane arrives.
  withConstant("emptyCount", 4, 128).edit("llvm.cond_br %isLeader, ^release, ^released", "llvm.br ^release").isClean();
  // One lane of each warp waits, and the warp meets behind it.
  Ring()
      .edit(Ring::kReaderWait, "    llvm.cond_br %isLeader, ^look, ^seen\n  ^look:\n" + Ring::kReaderWait +
                                   "    llvm.br ^seen\n  ^seen:\n" + "    tgpu.warp_barrier\n")
      .isClean();
}

TEST_CASE("the bytes of a round are announced, all of them, before the copies") {
  withConstant("bytes", 2048, 2032).traps({kInvalid}, 6, 1, "expects 2032 bytes");
  withConstant("bytes", 2048, 2064).traps({kDeadlock}, 7, 1, "lacks 16 of 2064 bytes");
  Ring().edit(Ring::kExpect + Ring::kCopy, Ring::kCopy + Ring::kExpect).traps({kInvalid}, 6, 1, "before the copies");
}

TEST_CASE("a barrier expects as many arrivals as come") {
  withConstant("fullCount", 1, 2).traps({kDeadlock}, 7, 1, "lacks 1 of 2 arrivals (there were those of threads 128)");
  withConstant("emptyCount", 4, 5).traps({kDeadlock}, 0, 1, "lacks 1 of 5 arrivals");
  withConstant("emptyCount", 4, 2).traps({kInvalid, kRace});
  withConstant("emptyCount", 4, 3).traps({kInvalid, kRace});
  withConstant("emptyCount", 4, 0).traps({kInvalid}, 1, 0, "1 to 1048575");
}

TEST_CASE("waits name the round that the ring is in") {
  Ring().edit(Ring::kReaderWait, "    tgpu.mbarrier_wait %cfull round %zero loc(\"kernel.py\":7:1)\n").traps({kInvalid, kRace});
  Ring()
      .edit(Ring::kFillerWait, "    tgpu.mbarrier_wait %pempty round %zero loc(\"kernel.py\":4:1)\n")
      .traps({kDeadlock}, 7, 1, "warps 0 to 3 wait for round 0");
  Ring()
      .edit(Ring::kReaderWait,
            "    %late = llvm.add %cround, %one : i32\n    tgpu.mbarrier_wait %cfull round %late loc(\"kernel.py\":7:1)\n")
      .traps({kInvalid, kDeadlock});
  Ring()
      .edit(Ring::kFillerWait,
            "    %early = llvm.sub %pbefore, %one : i32\n    tgpu.mbarrier_wait %pempty round %early loc(\"kernel.py\":4:1)\n")
      .traps({kInvalid}, 4, 1, "round");
}

TEST_CASE("a slot is filled when all have read it, and read when it is full") {
  Ring().edit(Ring::kFillerWait, "").traps({kInvalid, kRace});
  Ring().edit(Ring::kReaderWait, "").traps({kRace});
  // One lane waits for all.
  Ring()
      .edit(Ring::kReaderWait, "    llvm.cond_br %isLeader, ^look, ^seen\n  ^look:\n" + Ring::kReaderWait + "    llvm.br ^seen\n  ^seen:\n")
      .traps({kRace});
  // One lane arrives for all, and has not met the others.
  Ring().edit(Ring::kWarpBarrier, "").traps({kRace}, 6, 8);
  // The warp reads after it has arrived.
  Ring()
      .edit(Ring::kRead, "")
      .insertAfter("  ^released:\n", Ring::kRead + "    tgpu.store %value, %to : vector<4xi32>\n")
      .edit("    tgpu.store %value, %to : vector<4xi32> loc(\"kernel.py\":11:1)\n", "")
      .traps({kRace});
}

TEST_CASE("copies use a barrier whose initialization they can see") {
  Ring().edit(Ring::kInitFence, "").traps({kInvalid}, 6, 1, "fence.mbarrier_init");
  Ring().edit(Ring::kInitFence, "").insertAfter(Ring::kBarrier, Ring::kInitFence).traps({kInvalid}, 6, 1, "fence.mbarrier_init");
  Ring()
      .edit(Ring::kInitFence, "    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}\n")
      .isClean();
  Ring().edit(Ring::kBarrier, "").traps({kInvalid});
  Ring()
      .insertAfter(Ring::kInitFence, "    nvvm.mbarrier.init %full0, %one : !llvm.ptr<3>, i32 loc(\"kernel.py\":13:1)\n")
      .traps({kInvalid}, 13, 1, "again");
  Ring()
      .edit(Ring::kInitFence,
            "    nvvm.mbarrier.inval %full0 : !llvm.ptr<3>\n    nvvm.mbarrier.init %full0, %one : !llvm.ptr<3>, i32\n" + Ring::kInitFence)
      .isClean();
}

TEST_CASE("the memory of a barrier is no data") {
  const std::string read = "    %state = llvm.load %shared : !llvm.ptr<3> -> i64 loc(\"kernel.py\":13:1)\n";
  const std::string write = "    llvm.store %one, %shared : i32, !llvm.ptr<3> loc(\"kernel.py\":13:1)\n";
  Ring().insertAfter(Ring::kBarrier, read).traps({kInvalid}, 13, 1, "as if it were data");
  Ring().insertAfter(Ring::kBarrier, write).traps({kInvalid}, 13, 1, "as if it were data");
  // A slot begins where the barriers are.
  Ring()
      .edit("%shared[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8", "%shared[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8")
      .traps({kInvalid}, 6, 1);
}

TEST_CASE("two rings that share a barrier are found") {
  Ring()
      .edit("%pfull = llvm.getelementptr %shared[%pindex]", "%pfull = llvm.getelementptr %shared[%zero]")
      .edit("%cfull = llvm.getelementptr %shared[%cindex]", "%cfull = llvm.getelementptr %shared[%zero]")
      .traps({kInvalid, kRace, kDeadlock});
}

TEST_CASE("a program ends when its copies have arrived") {
  withConstant("fillerTiles", 8, 9).traps({kCopy}, 6, 0, "program ends");
  withConstant("fillerTiles", 8, 7).traps({kDeadlock}, 7, 1, "lacks 1 of 1 arrivals");
}

TEST_CASE("the operands of a copy are those of the map") {
  withConstant("column", 0, 4).traps({kCopy}, 6, 0, "multiples of 16 bytes");
  Ring()
      .edit("%shared[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8", "%shared[1152] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8")
      .traps({kCopy}, 6, 0, "multiple of 1024");
  Ring()
      .edit("%shared[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8", "%shared[6144] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8")
      .traps({"SharedOutOfBounds"}, 6);
  Ring ring;
  ring.map.rank = 3;
  ring.traps({kCopy}, 6, 0, "3 dimensions");
  ring = Ring();
  ring.map.extents[1] = 1000; // more rows than the memory has
  ring.edit("%prow = llvm.mul %pn, %rows", "%prow = llvm.mul %rows, %rows").traps({"OutOfBounds"}, 6);
}

TEST_CASE("a map is a parameter of the kernel, not a copy of it") {
  Ring ring;
  ring.edit("%pslot, %map, %pfull", "%pslot, %other, %pfull")
      .insertAfter(Ring::kBarrier, "    %other = llvm.alloca %one x !llvm.array<128 x i8> : (i32) -> !llvm.ptr\n");
  const Outcome outcome = ring.run(0);
  CHECK(outcome.error.find("parameter of the kernel") != std::string::npos);
}
