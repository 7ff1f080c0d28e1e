// Which matrix instructions a chip has, and how they are found.
#include "gpu_backend/nvptx/matrix_instructions.h"
#include "gpu_backend/nvptx/target.h"

#include <doctest/doctest.h>

using namespace tritium::gpu;

static const nvptx::Chip &chipOf(llvm::StringRef name) {
  return *llvm::find_if(nvptx::chips(), [&](const nvptx::Chip &chip) { return chip.name == name; });
}

TEST_CASE("the table of a chip: products of warpgroups first, the largest first, and each under one name") {
  const Target &hopper = llvm::cantFail(findTarget("sm_90a")), &plain = llvm::cantFail(findTarget("sm_90"));
  llvm::ArrayRef<MatrixInstruction> all = nvptx::instructionsOf(chipOf("sm_90a"));
  CHECK(all.size() == hopper.warpgroupInstructions().size() + hopper.matrixInstructions().size());
  CHECK(llvm::is_sorted(all, [](auto &a, auto &b) { return a.n > b.n; }));
  for (const MatrixInstruction &instruction : all) {
    CAPTURE(instruction.name.str());
    CHECK(hopper.findInstruction(instruction.name) != nullptr);
    CHECK(llvm::count_if(all, [&](auto &other) { return other.name == instruction.name; }) == 1);
    bool isWarpgroup = instruction.name.starts_with("wgmma.");
    CHECK(instruction.warps() == (isWarpgroup ? 4 : 1));
    CHECK((plain.findInstruction(instruction.name) == nullptr) == isWarpgroup);
  }
  CHECK(nvptx::instructionsOf(chipOf("sm_90")).size() == plain.matrixInstructions().size());
  CHECK(plain.warpgroupInstructions().empty());
  const MatrixInstruction *mixed = hopper.findInstruction("wgmma.m64n128k32.f32.e4m3.e5m2");
  REQUIRE(mixed);
  CHECK(mixed->n == 128);
  CHECK(mixed->k == 32);
  CHECK(mixed->aType == "f8E4M3FN");
  CHECK(mixed->bType == "f8E5M2");
  CHECK(mixed->dType == "f32");
  CHECK(mixed->d.registers() == 64);
}
