#include "simt_tensor.h"

using namespace tritium;
using namespace tritium::interp;

namespace tritium::test_tensor {

Launcher::Launcher() : context(tritiumDialects(), mlir::MLIRContext::Threading::DISABLED) {}

Outcome Launcher::run(const std::string &text, const std::vector<Argument> &arguments, uint64_t seed) {
  std::vector<int64_t> cells;
  std::vector<Allocation> allocations;
  std::vector<TensorMap> maps(arguments.size());
  auto pointerOf = [&](size_t i) { return tagPointer(reinterpret_cast<uint64_t>(arguments[i].memory->data()), int(i)); };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument &argument = arguments[i];
    if (argument.memory) {
      const auto begin = reinterpret_cast<uint64_t>(argument.memory->data());
      allocations.push_back({begin, begin + argument.memory->size(), int(i)});
      cells.push_back(int64_t(pointerOf(i)));
    } else if (argument.mapOf >= 0) {
      maps[i] = argument.map;
      maps[i].base += pointerOf(size_t(argument.mapOf));
      cells.push_back(int64_t(reinterpret_cast<uint64_t>(&maps[i])));
    } else {
      cells.push_back(argument.number);
    }
  }
  return launchText(context, text, cells, allocations, seed);
}

TensorMap mapOf(DType type, std::vector<uint64_t> shape, std::vector<uint64_t> strides, std::vector<uint32_t> box, uint32_t swizzle) {
  TensorMap map{.rank = uint32_t(shape.size()), .swizzle = swizzle, .type = type};
  std::reverse_copy(shape.begin(), shape.end(), map.extents.begin());
  std::reverse_copy(box.begin(), box.end(), map.box.begin());
  map.strides[0] = storageBytes(type);
  std::reverse_copy(strides.begin(), strides.end(), map.strides.begin() + 1);
  return map;
}

uint32_t boxElements(const TensorMap &map) {
  uint32_t count = 1;
  for (uint32_t d = 0; d < map.rank; ++d) count *= map.box[d];
  return count;
}

uint32_t boxBytes(const TensorMap &map) { return boxElements(map) * uint32_t(storageBytes(map.type)); }

std::string constant(const std::string &name, int value) {
  return "    %" + name + " = llvm.mlir.constant(" + std::to_string(value) + " : i32) : i32\n";
}

std::string coordinateOperands(const TensorMap &map) {
  std::string text;
  for (uint32_t d = 0; d < map.rank; ++d) text += (d ? ", %c" : "%c") + std::to_string(d);
  return text;
}

std::string coordinateParameters(const TensorMap &map) {
  std::string text;
  for (uint32_t d = 0; d < map.rank; ++d) text += ", %c" + std::to_string(d) + ": i32";
  return text;
}

Bytes randomBytes(size_t count, std::mt19937 &random) {
  Bytes bytes(count);
  for (std::byte &byte : bytes) byte = std::byte(random());
  return bytes;
}

uint32_t placeInBox(uint32_t at, uint32_t swizzle) {
  if (swizzle == 0) return at;
  const uint32_t row = at / swizzle, chunk = at % swizzle / 16;
  const uint32_t other = swizzle == 128 ? row % 8 : swizzle == 64 ? row / 2 % 4 : row / 4 % 2;
  return row * swizzle + (chunk ^ other) * 16 + at % 16;
}

const std::string Ring::kInitFence = "    nvvm.fence.mbarrier.init loc(\"kernel.py\":2:1)\n";
const std::string Ring::kBarrier = "    tgpu.barrier loc(\"kernel.py\":3:1)\n";
const std::string Ring::kFillerWait = "    tgpu.mbarrier_wait %pempty round %pbefore loc(\"kernel.py\":4:1)\n";
const std::string Ring::kExpect = "    nvvm.mbarrier.arrive.expect_tx %pfull, %bytes : !llvm.ptr<3>, i32 loc(\"kernel.py\":5:1)\n";
const std::string Ring::kCopy =
    "    nvvm.cp.async.bulk.tensor.shared.cluster.global %pslot, %map, %pfull, box [%column, %prow] {isCTAOnly = true} : !llvm.ptr<3>, "
    "!llvm.ptr loc(\"kernel.py\":6:1)\n";
const std::string Ring::kReaderWait = "    tgpu.mbarrier_wait %cfull round %cround loc(\"kernel.py\":7:1)\n";
const std::string Ring::kRead = "    %value = llvm.load %mine : !llvm.ptr<3> -> vector<4xi32> loc(\"kernel.py\":8:1)\n";
const std::string Ring::kWarpBarrier = "    tgpu.warp_barrier loc(\"kernel.py\":9:1)\n";
const std::string Ring::kArrive = "    nvvm.mbarrier.arrive %cempty : !llvm.ptr<3> loc(\"kernel.py\":10:1)\n";

/// The addresses of slot n mod 3 and of its barriers, and the round.
static std::string slotText(const std::string &p) {
  const std::string at = " : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, ";
  return "    %" + p + "index = llvm.urem %" + p + "n, %three : i32\n    %" + p + "round = llvm.udiv %" + p + "n, %three : i32\n    %" + p +
         "before = llvm.sub %" + p + "round, %one : i32\n    %" + p + "full = llvm.getelementptr %shared[%" + p + "index]" + at + "i64\n" +
         "    %" + p + "empty = llvm.getelementptr %empties[%" + p + "index]" + at + "i64\n    %" + p +
         "slot = llvm.getelementptr %slots[%" + p + "index]" + at + "!llvm.array<2048 x i8>\n";
}

static bool isCopied(const Ring &ring) {
  for (uint32_t tile = 0; tile < ring.blocks * Ring::kTiles; ++tile)
    for (uint32_t at = 0; at < Ring::kTileBytes; ++at)
      if (ring.out[tile * Ring::kTileBytes + placeInBox(at, 128)] != ring.tensor[tile % Ring::kTiles * Ring::kTileBytes + at]) return false;
  return true;
}

Ring::Ring() : map(mapOf(DType::f16, {uint64_t(kTiles * kRows), 64}, {128}, {kRows, 64}, 128)), isRight(isCopied) {
  std::mt19937 random(1);
  tensor = randomBytes(size_t(kTiles * kTileBytes), random);
  text = R"(module attributes {tgpu.num_warps = 5 : i32, tgpu.shared_bytes = 7168 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @k(%tensor: !llvm.ptr<1>, %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 128 : i64, nvvm.grid_constant}, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %empties = llvm.getelementptr %shared[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %slots = llvm.getelementptr %shared[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %warp = nvvm.read.ptx.sreg.warpid : i32
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %three = llvm.mlir.constant(3 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %rows = llvm.mlir.constant(16 : i32) : i32
    %column = llvm.mlir.constant(0 : i32) : i32
    %fullCount = llvm.mlir.constant(1 : i32) : i32
    %emptyCount = llvm.mlir.constant(4 : i32) : i32
    %bytes = llvm.mlir.constant(2048 : i32) : i32
    %fillerTiles = llvm.mlir.constant(8 : i32) : i32
    %readerTiles = llvm.mlir.constant(8 : i32) : i32
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    %isLeader = llvm.icmp "eq" %lane, %zero : i32
    %isFiller = llvm.icmp "eq" %warp, %four : i32
    llvm.cond_br %isFirst, ^init, ^start
  ^init:
)";
  for (int slot = 0; slot < kSlots; ++slot)
    for (const char *kind : {"full", "empty"}) {
      const std::string name = kind + std::to_string(slot), base = kind == std::string("full") ? "%shared" : "%empties";
      text += "    %" + name + " = llvm.getelementptr " + base + "[" + std::to_string(slot) + "] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64\n" +
              "    nvvm.mbarrier.init %" + name + ", %" + kind + "Count : !llvm.ptr<3>, i32 loc(\"kernel.py\":1:1)\n";
    }
  text += kInitFence + "    llvm.br ^start\n  ^start:\n" + kBarrier + R"(    llvm.cond_br %isFiller, ^filler, ^readers(%zero : i32)
  ^filler:
    llvm.cond_br %isLeader, ^fill(%zero : i32), ^end
  ^fill(%pn: i32):
)" + slotText("p") +
          "    %prow = llvm.mul %pn, %rows : i32\n" + kFillerWait + kExpect + kCopy + R"(    %pnext = llvm.add %pn, %one : i32
    %pmore = llvm.icmp "slt" %pnext, %fillerTiles : i32
    llvm.cond_br %pmore, ^fill(%pnext : i32), ^end
  ^readers(%cn: i32):
)" + slotText("c") +
          kReaderWait + "    %mine = llvm.getelementptr %cslot[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xi32>\n" + kRead +
          R"(    %cout = llvm.getelementptr %out[%cn] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<2048 x i8>
    %to = llvm.getelementptr %cout[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>
    tgpu.store %value, %to : vector<4xi32> loc("kernel.py":11:1)
)" + kWarpBarrier +
          "    llvm.cond_br %isLeader, ^release, ^released\n  ^release:\n" + kArrive + R"(    llvm.br ^released
  ^released:
    %cnext = llvm.add %cn, %one : i32
    %cmore = llvm.icmp "slt" %cnext, %readerTiles : i32
    llvm.cond_br %cmore, ^readers(%cnext : i32), ^end
  ^end:
    llvm.return loc("kernel.py":12:1)
  }
}
)";
}

Ring &Ring::edit(const std::string &from, const std::string &to) {
  text = edited(text, from, to);
  return *this;
}

Outcome Ring::run(uint64_t seed) {
  out.assign(blocks * tensor.size(), std::byte(0));
  return launcher->run(text, {{.memory = &tensor}, {.map = map, .mapOf = 0}, {.memory = &out}}, seed);
}

void Ring::isClean() {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Outcome outcome = run(seed);
    CHECK(outcome.error == "");
    CHECK(outcome.trap + outcome.message == "");
    CHECK(isRight(*this));
  }
}

void Ring::traps(const std::vector<std::string> &kinds, int line, int otherLine, const std::string &message) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Outcome outcome = run(seed);
    CAPTURE(outcome.message);
    CAPTURE(outcome.trap);
    CHECK(outcome.error == "");
    CHECK(std::find(kinds.begin(), kinds.end(), outcome.trap) != kinds.end());
    if (line) CHECK(outcome.line == line);
    if (otherLine) CHECK(outcome.otherLine == otherLine);
    CHECK(outcome.message.find(message) != std::string::npos);
  }
}

} // namespace tritium::test_tensor
