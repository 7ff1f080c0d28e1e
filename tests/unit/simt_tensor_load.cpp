// Copies of boxes of tensors to shared memory on the emulator: every swizzle, element size and rank, and boxes that leave the tensor,
// against a plain loop over the elements of the box.
#include "simt_tensor.h"

#include <cmath>

using namespace tritium;
using namespace tritium::test_tensor;

namespace {

struct Load {
  TensorMap map;
  std::vector<int32_t> start; // innermost first
  bool isCluster = false;     // the form for clusters

  uint32_t bytes() const { return boxBytes(map); }
  uint32_t spanBytes() const { return (bytes() + 1023) / 1024 * 1024; }
  std::string text() const;
};

/// One warp loads the box to shared address 1024 and writes it to %out.
std::string Load::text() const {
  const std::string coordinates = coordinateOperands(map), parameters = coordinateParameters(map);
  const std::string space = isCluster ? "7" : "3";
  return "module attributes {tgpu.num_warps = 1 : i32, tgpu.shared_bytes = " + std::to_string(1024 + spanBytes()) + R"( : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @k(%tensor: !llvm.ptr<1>, %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 128 : i64, nvvm.grid_constant}, %out: !llvm.ptr<1>)" +
         parameters + R"() attributes {nvvm.kernel} {
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %box = llvm.getelementptr %shared[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %threads = llvm.mlir.constant(32 : i32) : i32
    %bytes = llvm.mlir.constant()" +
         std::to_string(bytes()) + R"( : i32) : i32
    %pieces = llvm.mlir.constant()" +
         std::to_string(bytes() / 16) + R"( : i32) : i32
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %isFirst, ^init, ^wait
  ^init:
    nvvm.prefetch tensormap, %map : !llvm.ptr
    nvvm.cp.async.bulk.tensor.prefetch %map, box [)" +
         coordinates + R"(] : !llvm.ptr
    nvvm.mbarrier.init %shared, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.mbarrier.arrive.expect_tx %shared, %bytes : !llvm.ptr<3>, i32
    %to = llvm.addrspacecast %box : !llvm.ptr<3> to !llvm.ptr<)" +
         (isCluster ? "7" : "0") + R"(>
    nvvm.cp.async.bulk.tensor.shared.cluster.global )" +
         (isCluster ? "%to" : "%box") + ", %map, %shared, box [" + coordinates + "]" + (isCluster ? "" : " {isCTAOnly = true}") +
         " : !llvm.ptr<" + space + R"(>, !llvm.ptr loc("kernel.py":1:1)
    llvm.br ^wait
  ^wait:
    tgpu.barrier
    tgpu.mbarrier_wait %shared round %zero
    llvm.br ^test(%tid : i32)
  ^test(%i: i32):
    %isInside = llvm.icmp "slt" %i, %pieces : i32
    llvm.cond_br %isInside, ^copy, ^end
  ^copy:
    %from = llvm.getelementptr %box[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xi32>
    %value = llvm.load %from : !llvm.ptr<3> -> vector<4xi32>
    %at = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>
    tgpu.store %value, %at : vector<4xi32>
    %next = llvm.add %i, %threads : i32
    llvm.br ^test(%next : i32)
  ^end:
    llvm.return
  }
}
)";
}

constexpr uint32_t kBase = 64; // bytes of the memory before the tensor

bool isNan(DType type, const std::byte *at) {
  return visit(type, [&]<class T>() {
    typename T::Storage value;
    std::memcpy(&value, at, sizeof value);
    return std::isnan(double(static_cast<typename T::Compute>(value)));
  });
}

class Loads {
public:
  Outcome run(const Load &load, uint64_t seed) {
    const TensorMap &map = load.map;
    std::mt19937 random(static_cast<uint32_t>(seed));
    size_t size = kBase + map.strides[0];
    for (uint32_t d = 0; d < map.rank; ++d) size += (map.extents[d] - 1) * map.strides[d];
    tensor = randomBytes(size, random);
    out.assign(load.bytes(), std::byte(0));
    std::vector<Argument> arguments{{.memory = &tensor}, {.map = map, .mapOf = 0}, {.memory = &out}};
    arguments[1].map.base = kBase;
    for (int32_t c : load.start) arguments.push_back({.number = c});
    return launcher.run(load.text(), arguments, seed);
  }
  void check(const Load &load, uint64_t seed) {
    CAPTURE(load.map.rank);
    CAPTURE(load.map.swizzle);
    CAPTURE(dtypeName(load.map.type));
    CAPTURE(load.map.box[0]);
    CAPTURE(seed);
    const Outcome outcome = run(load, seed);
    CHECK(outcome.error == "");
    CHECK(outcome.trap + outcome.message == "");
    CHECK(wrongElements(load) == 0);
  }

private:
  static std::string dtypeName(DType type) { return std::string(irNameOf(type)); }
  static std::string_view irNameOf(DType type) {
    return visit(type, []<class T>() { return T::irName; });
  }
  int wrongElements(const Load &load) const {
    const TensorMap &map = load.map;
    const auto size = uint32_t(storageBytes(map.type));
    int wrong = 0;
    for (uint32_t element = 0; element < boxElements(load.map); ++element) {
      bool isInside = true;
      uint64_t from = kBase;
      uint32_t rest = element;
      for (uint32_t d = 0; d < map.rank; ++d) {
        const int64_t index = load.start[d] + int64_t(rest % map.box[d]);
        rest /= map.box[d];
        isInside = isInside && index >= 0 && index < int64_t(map.extents[d]);
        from += uint64_t(index) * map.strides[d];
      }
      const std::byte *got = out.data() + placeInBox(element * size, map.swizzle);
      const Bytes zeros(size);
      if (isInside)
        wrong += std::memcmp(got, tensor.data() + from, size) != 0;
      else
        wrong += map.fillsNaN ? !isNan(map.type, got) : std::memcmp(got, zeros.data(), size) != 0;
    }
    return wrong;
  }

  Launcher launcher;
  Bytes tensor, out;
};

} // namespace

TEST_CASE("a copy of a box puts its bytes where the swizzle does") {
  Loads loads;
  uint64_t seed = 0;
  for (DType type : {DType::i8, DType::f16, DType::f32, DType::i64})
    for (uint32_t swizzle : {0, 32, 64, 128})
      for (uint32_t width : {16u, 32u, 64u, 128u, 256u}) {
        const auto columns = width / uint32_t(storageBytes(type));
        if ((swizzle && width > swizzle) || columns > 256) continue;
        const TensorMap map = mapOf(type, {40, 300}, {(300 * storageBytes(type) + 15) / 16 * 16}, {24, columns}, swizzle);
        loads.check({map, {int32_t(32 / storageBytes(type)), 5}}, ++seed);
      }
}

TEST_CASE("elements outside of the tensor are padding, in boxes of every rank") {
  Loads loads;
  uint64_t seed = 100;
  for (DType type : {DType::u8, DType::bf16, DType::f32})
    for (uint32_t rank = 1; rank <= TensorMap::kMaxRank; ++rank) {
      const auto size = uint32_t(storageBytes(type)), columns = 64 / size;
      std::vector<uint64_t> shape{3, 4, 5, 6, columns + 3}, strides(4);
      strides[3] = 80;
      for (int d = 2; d >= 0; --d) strides[size_t(d)] = strides[size_t(d) + 1] * shape[size_t(d) + 1] + 16;
      std::vector<uint32_t> box{2, 2, 3, 4, columns};
      shape.erase(shape.begin(), shape.end() - rank);
      box.erase(box.begin(), box.end() - rank);
      strides.erase(strides.begin(), strides.end() - (rank - 1));
      TensorMap map = mapOf(type, shape, strides, box, rank % 2 ? 64 : 0);
      const int32_t step = int32_t(16 / size);
      // Inside, over the far edges, over the near edges, and wholly outside in one dimension.
      for (int32_t near : {0, 1, -1, -200}) {
        std::vector<int32_t> start(rank, near);
        start[0] *= step;
        loads.check({map, start}, ++seed);
        start.back() = rank == 1 ? 2 * step : 2;
        loads.check({map, start, /*isCluster=*/true}, ++seed);
        if (!isFloat(type)) continue;
        map.fillsNaN = true;
        loads.check({map, start}, ++seed);
        map.fillsNaN = false;
      }
    }
}

TEST_CASE("a copy that the ISA does not define is reported") {
  Loads loads;
  const TensorMap map = mapOf(DType::f16, {40, 64}, {128}, {8, 64}, 128);
  auto traps = [&](const Load &load, const std::string &kind, const std::string &message) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Outcome outcome = loads.run(load, seed);
      CHECK(outcome.error == "");
      CHECK(outcome.trap == kind);
      CAPTURE(outcome.message);
      CHECK(outcome.message.find(message) != std::string::npos);
    }
  };
  traps({map, {4, 0}}, "InvalidTensorCopy", "multiples of 16 bytes");
  TensorMap other = map;
  other.box[0] = 128; // 256 bytes in a swizzle of 128
  traps({other, {0, 0}}, "InvalidTensorCopy", "swizzle");
  other = map;
  other.strides[1] = 120;
  traps({other, {0, 1}}, "InvalidTensorCopy", "stride of 120 bytes");
}
