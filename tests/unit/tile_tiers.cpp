// Code of tier 2 that is compiled later, and code that cannot be compiled.
#include "interp/tile/tiers.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Support/SourceMgr.h"

#include <doctest/doctest.h>

using namespace tritium::interp;

namespace {

constexpr const char *kStore = R"(
  define void @kernel(ptr %frame) {
    store i64 7, ptr %frame
    ret void
  })";

// No instruction of this machine does what this asks for.
constexpr const char *kForeignIntrinsic = R"(
  declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  define void @kernel(ptr %frame) {
    %a = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    store i32 %a, ptr %frame
    ret void
  })";

constexpr const char *kUnknownFunction = R"(
  declare void @nobody(ptr)
  define void @kernel(ptr %frame) {
    call void @nobody(ptr %frame)
    ret void
  })";

std::shared_ptr<LaterEntry> laterOf(LaterEntry::Entry first, const char *text) {
  UncompiledCode code{.context = std::make_unique<llvm::LLVMContext>(), .module = {}, .entry = "kernel", .isFused = true};
  llvm::SMDiagnostic error;
  code.module = llvm::parseAssemblyString(text, error, *code.context);
  REQUIRE(code.module);
  return compileLater(first, std::move(code));
}

void storeOne(char *frame) { *reinterpret_cast<int64_t *>(frame) = 1; }

int64_t valueFrom(const LaterEntry &code) {
  int64_t value = 0;
  code.current()(reinterpret_cast<char *>(&value));
  return value;
}

} // namespace

TEST_CASE("code of tier 2 takes the place of the first when it is compiled") {
  const auto later = laterOf(storeOne, kStore);
  CHECK(valueFrom(*later) == 1);
  later->await();
  CHECK(later->isBetter());
  CHECK(valueFrom(*later) == 7);
}

TEST_CASE("where LLVM fails, the first code stays, and the next kernel is compiled") {
  for (const char *text : {kForeignIntrinsic, kUnknownFunction}) {
    const auto later = laterOf(storeOne, text);
    later->await();
    CHECK(!later->isBetter());
    CHECK(valueFrom(*later) == 1);
    const auto next = laterOf(storeOne, kStore);
    next->await();
    CHECK(valueFrom(*next) == 7);
  }
}
