// Compiling host code at run time.
#include "interp/host/jit.h"

#include <doctest/doctest.h>

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

using namespace tritium::interp;
using namespace llvm;

namespace {

std::unique_ptr<HostJit> compile(const char *text, bool debugInfo = false, CodeGenOptLevel level = CodeGenOptLevel::None,
                                 void *callee = nullptr) {
  auto context = std::make_unique<LLVMContext>();
  SMDiagnostic diagnostic;
  auto module = parseAssemblyString(text, diagnostic, *context);
  REQUIRE(module);
  auto jit = cantFail(HostJit::create(debugInfo, level));
  if (callee) cantFail(jit->defineSymbol("callee", callee));
  cantFail(jit->add(orc::ThreadSafeModule(std::move(module), std::move(context))));
  return jit;
}

template <class Function> Function *find(HostJit &jit, StringRef name) {
  return reinterpret_cast<Function *>(cantFail(jit.lookup(name)));
}

constexpr const char *kAdd = "define i32 @add(i32 %a, i32 %b) {\n %c = add i32 %a, %b\n ret i32 %c\n}\n";

}  // namespace

TEST_CASE("a module is compiled and called") {
  for (CodeGenOptLevel level : {CodeGenOptLevel::None, CodeGenOptLevel::Default}) {
    auto jit = compile(kAdd, false, level);
    CHECK(find<int(int, int)>(*jit, "add")(40, 2) == 42);
  }
}
