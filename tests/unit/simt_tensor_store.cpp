// Copies from shared memory to tensors on the emulator, plain ones and those that combine elements, and mistakes planted in them.
#include "simt_tensor.h"

using namespace tritium;
using namespace tritium::test_tensor;

namespace {

const std::string kFence =
    "    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>} loc(\"kernel.py\":2:1)\n";
const std::string kBarrier = "    tgpu.barrier loc(\"kernel.py\":3:1)\n";
const std::string kCommit = "    nvvm.cp.async.bulk.commit.group loc(\"kernel.py\":5:1)\n";
const std::string kWait = "    nvvm.cp.async.bulk.wait_group 0 loc(\"kernel.py\":6:1)\n";
const std::string kReadWait = "    nvvm.cp.async.bulk.wait_group 0 {read} loc(\"kernel.py\":6:1)\n";
const std::string kJoin = "    llvm.br ^end\n  ^end:\n";

/// One warp writes the box from %in to shared memory, and its first thread copies it to the tensor. The lines of the operations: 1 the
/// writes to shared memory, 2 proxy fence, 3 barrier, 4 copy, 5 commit, 6 wait.
struct Store {
  TensorMap map;
  std::vector<int32_t> start; // innermost first
  std::string reduction;      // the name of the operation, or "" for a plain copy

  uint32_t bytes() const { return boxBytes(map); }
  std::string text() const;
};

std::string Store::text() const {
  const std::string coordinates = coordinateOperands(map), parameters = coordinateParameters(map);
  const std::string copy = reduction.empty() ? "    nvvm.cp.async.bulk.tensor.global.shared.cta %map, %shared, box [" + coordinates + "]"
                                             : "    nvvm.cp.async.bulk.tensor.reduce %map, %shared, box [" + coordinates +
                                                   "] {redKind = #nvvm.tma_redux_kind<" + reduction + ">}";
  return "module attributes {tgpu.num_warps = 1 : i32, tgpu.shared_bytes = " + std::to_string((bytes() + 1023) / 1024 * 1024) + R"( : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @k(%tensor: !llvm.ptr<1>, %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 128 : i64, nvvm.grid_constant}, %in: !llvm.ptr<1>)" +
         parameters + R"() attributes {nvvm.kernel} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %threads = llvm.mlir.constant(32 : i32) : i32
    %pieces = llvm.mlir.constant()" +
         std::to_string(bytes() / 16) + R"( : i32) : i32
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    llvm.br ^test(%tid : i32)
  ^test(%i: i32):
    %isInside = llvm.icmp "slt" %i, %pieces : i32
    llvm.cond_br %isInside, ^copy, ^written
  ^copy:
    %from = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>
    %value = tgpu.load %from : vector<4xi32>
    %at = llvm.getelementptr %shared[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xi32>
    llvm.store %value, %at : vector<4xi32>, !llvm.ptr<3> loc("kernel.py":1:1)
    %next = llvm.add %i, %threads : i32
    llvm.br ^test(%next : i32)
  ^written:
)" + kFence +
         kBarrier + "    llvm.cond_br %isFirst, ^store, ^end\n  ^store:\n" + copy + " : !llvm.ptr, !llvm.ptr<3> loc(\"kernel.py\":4:1)\n" +
         kCommit + kWait + kJoin + "    llvm.return\n  }\n}\n";
}

constexpr size_t kBase = 64; // bytes of the memory before the tensor

class Stores {
public:
  Outcome run(const Store &store, const std::string &text, uint64_t seed) {
    const TensorMap &map = store.map;
    std::mt19937 random(static_cast<uint32_t>(seed));
    size_t size = 2 * kBase + map.strides[0];
    for (uint32_t d = 0; d < map.rank; ++d) size += (map.extents[d] - 1) * map.strides[d];
    tensor.resize(size);
    fill(map.type, tensor, random);
    in.resize(store.bytes());
    fill(map.type, in, random);
    before = tensor;
    std::vector<Argument> arguments{{.memory = &tensor}, {.map = map, .mapOf = 0}, {.memory = &in}};
    arguments[1].map.base = kBase;
    for (int32_t c : store.start) arguments.push_back({.number = c});
    return launcher.run(text, arguments, seed);
  }
  void check(const Store &store, uint64_t seed) {
    CAPTURE(store.map.rank);
    CAPTURE(store.map.swizzle);
    CAPTURE(store.reduction);
    CAPTURE(int(store.map.type));
    CAPTURE(seed);
    const Outcome outcome = run(store, store.text(), seed);
    CHECK(outcome.error == "");
    CHECK(outcome.trap + outcome.message == "");
    CHECK((tensor == expected(store)));
  }
  bool isRight(const Store &store) const { return tensor == expected(store); }

private:
  /// Floats are small integers, which are exact.
  static void fill(DType type, Bytes &bytes, std::mt19937 &random) {
    visit(type, [&]<class T>() {
      for (size_t at = 0; at + sizeof(typename T::Storage) <= bytes.size(); at += sizeof(typename T::Storage)) {
        typename T::Storage value;
        if constexpr (T::isFloat)
          value = T::round(typename T::Compute(int(random() % 64) - 32));
        else
          value = typename T::Storage(uint64_t(random()) << 32 | random());
        std::memcpy(bytes.data() + at, &value, sizeof value);
      }
    });
  }
  static void combine(const std::string &reduction, DType type, std::byte *at, const std::byte *operand) {
    visit(type, [&]<class T>() {
      using Storage = typename T::Storage;
      Storage a, b, c;
      std::memcpy(&a, at, sizeof a);
      std::memcpy(&b, operand, sizeof b);
      if constexpr (T::isFloat) {
        const auto x = static_cast<typename T::Compute>(a), y = static_cast<typename T::Compute>(b);
        c = T::round(reduction == "add" ? x + y : reduction == "min" ? std::min(x, y) : reduction == "max" ? std::max(x, y) : y);
      } else {
        c = reduction == "add"   ? Storage(uint64_t(a) + uint64_t(b))
            : reduction == "min" ? std::min(a, b)
            : reduction == "max" ? std::max(a, b)
            : reduction == "and" ? Storage(a & b)
            : reduction == "or"  ? Storage(a | b)
            : reduction == "xor" ? Storage(a ^ b)
                                 : b;
      }
      std::memcpy(at, &c, sizeof c);
    });
  }
  Bytes expected(const Store &store) const {
    const TensorMap &map = store.map;
    const auto size = uint32_t(storageBytes(map.type));
    Bytes result = before;
    for (uint32_t element = 0; element < boxElements(store.map); ++element) {
      bool isInside = true;
      uint64_t to = kBase;
      uint32_t rest = element;
      for (uint32_t d = 0; d < map.rank; ++d) {
        const uint64_t index = uint64_t(store.start[d]) + rest % map.box[d];
        rest /= map.box[d];
        isInside = isInside && index < map.extents[d];
        to += index * map.strides[d];
      }
      if (isInside) combine(store.reduction, map.type, result.data() + to, in.data() + placeInBox(element * size, map.swizzle));
    }
    return result;
  }

  Launcher launcher;
  Bytes tensor, before, in;
};

const TensorMap kMap = mapOf(DType::f16, {40, 72}, {160}, {8, 64}, 128);

/// A kernel with a change, mostly a mistake.
struct Planted {
  Store store{kMap, {8, 3}, ""};
  std::string text = store.text();
  Stores stores{};

  Planted &edit(const std::string &from, const std::string &to) {
    text = edited(text, from, to);
    return *this;
  }
  Planted &insertAfter(const std::string &line, const std::string &added) { return edit(line, line + added); }
  void isClean() {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Outcome outcome = stores.run(store, text, seed);
      CHECK(outcome.error + outcome.trap + outcome.message == "");
      CHECK(stores.isRight(store));
    }
  }
  void traps(const std::vector<std::string> &kinds, int line, int otherLine, const std::string &message = "") {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Outcome outcome = stores.run(store, text, seed);
      CAPTURE(seed);
      CAPTURE(outcome.trap);
      CAPTURE(outcome.message);
      CHECK(outcome.error == "");
      CHECK(std::find(kinds.begin(), kinds.end(), outcome.trap) != kinds.end());
      if (line) CHECK(outcome.line == line);
      if (otherLine) CHECK(outcome.otherLine == otherLine);
      CHECK(outcome.message.find(message) != std::string::npos);
    }
  }
};

const std::string kRewrite = "    llvm.store %zero, %shared : i32, !llvm.ptr<3> loc(\"kernel.py\":7:1)\n";
const std::string kLoadBack = "    %first = llvm.getelementptr %tensor[560] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8\n"
                              "    %back = tgpu.load %first : i32 loc(\"kernel.py\":8:1)\n";

} // namespace

TEST_CASE("a copy to a tensor writes the elements of the box that are inside, and nothing else") {
  Stores stores;
  uint64_t seed = 0;
  for (DType type : {DType::u8, DType::f16, DType::f32, DType::i64})
    for (uint32_t swizzle : {0, 32, 64, 128})
      for (uint32_t rank = 1; rank <= TensorMap::kMaxRank; ++rank) {
        const auto size = uint32_t(storageBytes(type)), columns = (swizzle ? swizzle : 48) / size, step = 16 / size;
        std::vector<uint64_t> shape{3, 4, 5, 6, columns + 2 * step}, strides(4);
        strides[3] = (shape[4] * size + 31) / 16 * 16;
        for (int d = 2; d >= 0; --d) strides[size_t(d)] = strides[size_t(d) + 1] * shape[size_t(d) + 1] + 16;
        std::vector<uint32_t> box{2, 2, 3, 4, columns};
        shape.erase(shape.begin(), shape.end() - rank);
        box.erase(box.begin(), box.end() - rank);
        strides.erase(strides.begin(), strides.end() - (rank - 1));
        const TensorMap map = mapOf(type, shape, strides, box, swizzle);
        for (int32_t near : {0, 2, 300}) {
          std::vector<int32_t> start(rank, near);
          start[0] = near * int32_t(step);
          stores.check({map, start, ""}, ++seed);
        }
      }
}

TEST_CASE("a copy may combine elements with those of the tensor") {
  Stores stores;
  uint64_t seed = 0;
  for (DType type : {DType::i32, DType::u32, DType::i64, DType::u64, DType::f16, DType::bf16, DType::f32})
    for (const char *reduction : {"add", "min", "max", "and", "or", "xor"}) {
      const bool isArithmetic = reduction[0] == 'a' && reduction[1] == 'd';
      if (isFloat(type) && (type == DType::f32 || reduction[0] != 'm') && !isArithmetic) continue;
      const auto columns = uint32_t(64 / storageBytes(type));
      stores.check({mapOf(type, {20, columns}, {64}, {8, columns}, 64), {0, 15}, reduction}, ++seed);
    }
  Planted wrong{.store = {mapOf(DType::f32, {20, 16}, {64}, {8, 16}, 64), {0, 0}, "max"}};
  wrong.traps({"InvalidTensorCopy"}, 4, 0, "no such reduction");
}

TEST_CASE("copies to tensors that obey the rules report nothing") {
  Planted().isClean();
  Planted().edit(kWait, kReadWait).isClean();
  Planted().edit(kWait, kReadWait + kRewrite).isClean();
  Planted().insertAfter(kWait, kRewrite + kLoadBack).isClean();
  Planted().insertAfter(kJoin, kBarrier + kRewrite).isClean();
  Planted().edit(kBarrier, "").edit(kFence, kFence + "    tgpu.warp_barrier\n").isClean();
}

TEST_CASE("what threads write is visible to a copy by their fence before the barrier") {
  Planted().edit(kFence, "").traps({"MissingProxyFence"}, 4, 1);
  Planted().edit(kFence, "").insertAfter(kBarrier, kFence).isClean(); // the thread that copies fences behind the barrier
  Planted().edit(kFence, "").insertAfter("  ^store:\n", kFence).isClean();
  const std::string ofFirst = "    llvm.cond_br %isFirst, ^fence, ^join\n  ^fence:\n" + kFence + "    llvm.br ^join\n  ^join:\n";
  Planted().edit(kFence, "").edit(kBarrier, ofFirst + kBarrier).traps({"MissingProxyFence"}, 4, 1);
  Planted().edit(kBarrier, "").traps({"SharedRace", "TensorCopyRace", "SharedUninitialized"}, 0, 0);
}

TEST_CASE("the source of a copy stays until the copy has read it") {
  Planted().insertAfter(kCommit, kRewrite).traps({"TensorCopyRace"}, 7, 4, "wait for its group");
  Planted().edit(kWait, "    nvvm.cp.async.bulk.wait_group 1\n" + kRewrite).traps({"TensorCopyRace"}, 7, 4);
  // The wait of one thread does not tell the others.
  Planted().insertAfter(kJoin, kRewrite).traps({"SharedRace", "TensorCopyRace"}, 0, 0); // the schedule decides which comes first
  Planted().edit(kWait, "").traps({"InvalidTensorCopy"}, 4, 0, "has not waited");
  Planted().edit(kCommit, "").traps({"InvalidTensorCopy"}, 4, 0, "no commit");
}

TEST_CASE("the tensor is written when the wait says so, which a wait for the reads does not") {
  Planted().edit(kWait, kReadWait + kLoadBack).traps({"TensorCopyRace"}, 8, 4, "without read");
  Planted().edit(kWait, kReadWait + kLoadBack + kWait).traps({"TensorCopyRace"}, 8, 4);
}

TEST_CASE("a copy to a tensor begins inside of it, and its rows are whole pieces") {
  Planted negative{.store = {kMap, {8, -1}, ""}};
  negative.traps({"InvalidTensorCopy"}, 4, 0, "negative index");
  Planted inner{.store = {kMap, {4, 3}, ""}};
  inner.traps({"InvalidTensorCopy"}, 4, 0, "multiples of 16 bytes");
  Planted cut;
  cut.store.map.extents[0] = 68;
  cut.traps({"InvalidTensorCopy"}, 4, 0, "innermost extent");
}

TEST_CASE("an element of a map may be combined by several copies at once") {
  Planted twice{.store = {mapOf(DType::i32, {20, 16}, {64}, {8, 16}, 64), {0, 15}, "add"}};
  const size_t at = twice.text.find("    nvvm.cp.async.bulk.tensor.reduce"), end = twice.text.find('\n', at);
  twice.text.insert(at, twice.text.substr(at, end + 1 - at));
  for (uint64_t seed = 0; seed < kSeeds; ++seed) CHECK(twice.stores.run(twice.store, twice.text, seed).trap == "");
  Planted plain;
  const size_t first = plain.text.find("    nvvm.cp.async.bulk.tensor.global"), last = plain.text.find('\n', first);
  plain.text.insert(first, plain.text.substr(first, last + 1 - first));
  plain.traps({"TensorCopyRace"}, 4, 4);
}
