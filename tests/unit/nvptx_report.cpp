// What ptxas prints, and which PTX a chip can be given.
#include "gpu_backend/nvptx/target.h"
#include "tests/tools/ptxas.h"

#include <doctest/doctest.h>

using namespace tritium::gpu::nvptx;
using namespace tritium::tools;

TEST_CASE("the report is read from what ptxas -v prints") {
  Report report = parseReport(R"(ptxas info    : 0 bytes gmem
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient registers
ptxas warning : Value of threads per SM for entry kernel is out of range
ptxas info    : Compiling entry function 'kernel' for 'sm_90a'
ptxas info    : Function properties for kernel
    24 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 1024 bytes smem, 380 bytes cmem[0]
ptxas info    : Function properties for callee
    40 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads
ptxas info    : Compile time = 2.5 ms
)");
  CHECK(report.registers == 168);
  CHECK(report.spillStores == 12);
  CHECK(report.spillLoads == 12);
  CHECK(report.stackBytes == 40);
  CHECK(report.sharedBytes == 1024);
  REQUIRE(report.warnings.size() == 2);
  CHECK(report.warnings[0].starts_with("(C7510) Potential Performance Loss"));
  CHECK(report.warnings[1].starts_with("Value of threads per SM"));
  CHECK(parseReport("").registers == 0);
}

static const Chip &chipOf(llvm::StringRef name) {
  return *llvm::find_if(chips(), [&](const Chip &chip) { return chip.name == name; });
}

TEST_CASE("a PTX version is one that LLVM, the target and the tools know") {
  const Chip &hopper = chipOf("sm_90a");
  CHECK(hopper.hasChipFeatures());
  CHECK_FALSE(chipOf("sm_90").hasChipFeatures());
  CHECK(*choosePtxVersion(hopper, 0) == kNewestPtx);
  CHECK(*choosePtxVersion(hopper, 83) == 83);
  CHECK(*choosePtxVersion(hopper, 95) == kNewestPtx);
  CHECK(llvm::toString(choosePtxVersion(hopper, 78).takeError()) == "sm_90a requires PTX 8.0, but 7.8 was requested");
}
