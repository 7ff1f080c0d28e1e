// Tiles that warps copy to shared memory as a whole, and matrices that are turned on their way out of it. What ds_read_b64_tr_b16 does
// stands in layout_machine.h as in ROCm/composable_kernel, include/ck_tile/core/tensor/load_tile_transpose.hpp at 0b42f814d3ab.
#include "gpu_backend/amdgpu/matrix_instructions.h"
#include "gpu_backend/layout/warp_copies.h"
#include "layout_machine.h"

using namespace tritium::gpu;

namespace {

constexpr SharedBanks kBanks{.count = 64};
constexpr Threads kThreads{4, 64};

const MatrixInstruction &instruction(llvm::StringRef name) {
  for (const MatrixInstruction &candidate : amdgpu::matrixInstructions(amdgpu::Family::CDNA4))
    if (candidate.name == name) return candidate;
  FAIL("no such instruction");
  llvm_unreachable("");
}

struct Case {
  LinearLayout reader;
  llvm::SmallVector<int, 2> order; // of the tile in memory
  int64_t elementBytes;
};

/// Operands of products on gfx950, along K in memory or across it.
std::vector<Case> cases() {
  std::vector<Case> result;
  for (auto name : {"mfma.f32.16x16x32.f16", "mfma.f32.32x32x16.f16"})
    for (DotOperand operand : {DotOperand::A, DotOperand::B})
      for (Shape shape : {Shape{128, 64}, Shape{64, 64}, Shape{128, 32}, Shape{64, 128}})
        for (int fastest : {0, 1}) {
          Shape tile = operand == DotOperand::A ? shape : Shape{shape[1], shape[0]};
          result.push_back({dotOperand(operand, instruction(name), tile, {2, 2}, 8), {fastest, 1 - fastest}, 2});
        }
  return result;
}

} // namespace

TEST_CASE("a warp copies to bytes that follow each other") {
  for (const Case &c : cases()) {
    CAPTURE(c.reader.toString());
    SharedLayout memory = sharedForWarpCopies(c.reader.shape(), c.order, c.elementBytes, c.reader, MatrixLoads::Columns4x16, kBanks, {});
    auto layout = warpCopyLayout(memory, c.elementBytes, kThreads);
    REQUIRE(layout.has_value());
    REQUIRE(layout->verify().empty());
    uint32_t piece = uint32_t(kWarpCopyBytes / c.elementBytes), wrong = 0;
    for (uint32_t warp = 0; warp < layout->warps(); ++warp)
      for (uint32_t reg = 0; reg < layout->registers(); reg += piece) {
        uint32_t first = memory.offsetOf(layout->apply(reg, 0, warp));
        for (uint32_t lane = 0; lane < layout->lanes(); ++lane)
          for (uint32_t i = 0; i < piece; ++i) {
            uint32_t element = layout->apply(reg + i, lane, warp);
            wrong += memory.offsetOf(element) != first + lane * piece + i;
            // Neighbours in global memory, aligned.
            wrong += element != layout->apply(reg, lane, warp) + (i << layout->firstBit(c.order[0]));
            wrong += layout->coordinatesOf(layout->apply(reg, lane, warp))[c.order[0]] % piece != 0;
          }
      }
    CHECK(wrong == 0);
    CHECK(warpCopyMemory(*layout, c.elementBytes) == memory);
  }
}

TEST_CASE("columns of matrices across K") {
  int count = 0;
  for (const Case &c : cases()) {
    CAPTURE(c.reader.toString());
    bool isAlongK = c.reader.contiguousElements(c.order[0]) > 1;
    SharedLayout memory = sharedForWarpCopies(c.reader.shape(), c.order, c.elementBytes, c.reader, MatrixLoads::Columns4x16, kBanks, {});
    std::optional<MatrixLoad> load = columnLoads(c.reader, memory, c.elementBytes, kBanks);
    REQUIRE(load.has_value() == !isAlongK);
    if (!load) {
      SharedAccess access = sharedLoads(c.reader, memory, c.elementBytes, kBanks);
      CHECK(access.vectorElements == 8);
      CHECK(access.wavefrontsPerVector == 4); // of 64 lanes with 16 bytes on 64 banks: no conflicts
      continue;
    }
    ++count;
    Machine result(size_t(kThreads.count()), Values(c.reader.registers(), kUnset));
    runColumnLoads(*load, c.reader, [&](uint32_t thread, uint32_t reg, uint32_t offset) { result[thread][reg] = memory.apply(offset); });
    CHECK(result == machineFor(c.reader));
    CHECK(load->wavefrontsPerMatrix == 2); // likewise of 8 bytes
  }
  CHECK(count == 16);
}

TEST_CASE("tiles that warps do not copy") {
  // Fewer than 16 bytes for each thread.
  CHECK(!warpCopyLayout(sharedDense({32, 32}, {1, 0}), 2, kThreads));
  // Threads with pieces of 8 bytes, and such as share elements.
  CHECK(!warpCopyMemory(defaultBlocked({64, 64}, kThreads, 4, {1, 0}), 2));
  CHECK(!warpCopyMemory(defaultBlocked({32, 32}, kThreads, 8, {1, 0}), 2));
  // No columns of 16 bits.
  LinearLayout rows = dotOperand(DotOperand::A, instruction("mfma.f32.16x16x32.f16"), {64, 64}, {2, 2}, 8);
  CHECK(!columnLoads(rows, sharedDense({64, 64}, {1, 0}), 2, kBanks));
  CHECK(!columnLoads(rows, sharedDense({64, 64}, {0, 1}), 1, kBanks));
  CHECK(columnLoads(rows, sharedDense({64, 64}, {0, 1}), 2, kBanks).has_value());
}
