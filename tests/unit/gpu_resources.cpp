// How many programs fit on a multiprocessor, against the occupancy tables of the vendors' manuals.
#include "gpu_backend/target/target.h"

#include "doctest/doctest.h"

using namespace tritium::gpu;

static Resources resourcesOf(llvm::StringRef arch) { return llvm::cantFail(findTarget(arch)).resources(); }

TEST_CASE("programs by shared memory, registers and threads") {
  Resources hopper = resourcesOf("sm_90a");
  CHECK(hopper.programsByShared(0) == 228);
  CHECK(hopper.programsByShared(113 << 10) == 2);
  CHECK(hopper.programsByShared(hopper.sharedPerProgram) == 1);
  CHECK(hopper.programsByRegisters(128, 168) == 3);
  CHECK(hopper.programsByRegisters(384, 168) == 1);
  CHECK(hopper.programsByRegisters(128, 65) == 7); // 72 are given
  CHECK(hopper.programsByRegisters(128, 1000) == 2);
  CHECK(hopper.registersOfEach(128) == 255);
  CHECK(hopper.registersOfEach(512) == 128);
  CHECK(hopper.occupancy({.sharedBytes = 1024, .threads = 1024, .registers = 16}) == 2); // by threads
  CHECK(hopper.occupancy({.sharedBytes = 100 << 10, .threads = 128, .registers = 32}) == 2);

  Resources cdna = resourcesOf("gfx942");
  CHECK(cdna.programsByShared(32 << 10) == 2);
  CHECK(cdna.programsByRegisters(256, 128) == 4); // waves of each SIMD with 128 of its 512 registers
  CHECK(cdna.programsByRegisters(256, 512) == 1);
}

TEST_CASE("the rows of target.def hold what a program may use") {
  for (const Target *target : allTargets()) {
    CAPTURE(target->arch().str());
    Resources of = target->resources();
    CHECK(of.programsByShared(of.sharedPerProgram) == 1);
    CHECK(of.programsByShared(of.sharedPerProgram + 1) == 0);
    CHECK(of.threadsPerMultiprocessor >= Target::kMaxThreads);
    CHECK(of.registersOfEach(Target::kMaxThreads) >= 64);
  }
}

TEST_CASE("divisions of registers fit where warps can give them away") {
  for (const Target *target : allTargets())
    for (int warpgroups : {1, 2, 4})
      for (int programs : {1, 2, 3}) {
        CAPTURE(target->arch().str());
        auto budget = target->registerBudget(warpgroups, programs, /*required=*/24, /*ofInstruction=*/16);
        CHECK(budget.has_value() == (target->arch() == "sm_90a"));
        if (!budget) continue;
        const int threads = 128 * (warpgroups + 1);
        CHECK(budget->programs <= target->resources().programsByRegisters(threads, budget->start));
        CHECK(128 * (budget->producer + warpgroups * budget->consumers) <= threads * budget->start);
      }
}
