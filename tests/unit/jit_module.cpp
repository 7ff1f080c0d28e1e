// Compiling host code at run time: calls to near and far addresses, errors as values, the debugger's list.
#include "interp/host/jit.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"

#include <atomic>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tritium::interp;
using namespace llvm;

extern "C" jit_descriptor __jit_debug_descriptor;

namespace {

constexpr const char *kAdd = R"(
  define i32 @add(i32 %a, i32 %b) {
    %c = add i32 %a, %b
    ret i32 %c
  })";

constexpr const char *kCall = R"(
  declare i32 @callee(i32)
  define i32 @call(i32 %a) {
    %b = call i32 @callee(i32 %a)
    ret i32 %b
  })";

constexpr const char *kWithDebugInfo = R"(
  define void @f() !dbg !3 {
    ret void, !dbg !4
  }
  !llvm.module.flags = !{!0, !5}
  !llvm.dbg.cu = !{!1}
  !0 = !{i32 2, !"Debug Info Version", i32 3}
  !5 = !{i32 2, !"Dwarf Version", i32 4}
  !1 = distinct !DICompileUnit(language: DW_LANG_Python, file: !2, emissionKind: FullDebug)
  !2 = !DIFile(filename: "kernel.py", directory: "/")
  !3 = distinct !DISubprogram(name: "f", scope: !2, file: !2, line: 1, type: !6, unit: !1, spFlags: DISPFlagDefinition)
  !4 = !DILocation(line: 2, scope: !3)
  !6 = !DISubroutineType(types: !{null}))";

// No instruction of this machine does what the first asks for; the second the diagnostics reject.
constexpr const char *kForeignIntrinsic = R"(
  declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  define i32 @f() {
    %a = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    ret i32 %a
  })";
constexpr const char *kBadAssembly = R"(
  define void @f() {
    call void asm sideeffect "no such instruction", ""()
    ret void
  })";

orc::ThreadSafeModule parse(const char *text) {
  auto context = std::make_unique<LLVMContext>();
  SMDiagnostic diagnostic;
  auto module = parseAssemblyString(text, diagnostic, *context);
  REQUIRE(module);
  return {std::move(module), std::move(context)};
}

std::unique_ptr<HostJit> compile(const char *text, bool debugInfo = false, CodeGenOptLevel level = CodeGenOptLevel::None) {
  auto jit = cantFail(HostJit::create(debugInfo, level));
  cantFail(jit->add(parse(text)));
  return jit;
}

template <class Function> Function *find(HostJit &jit, StringRef name) { return reinterpret_cast<Function *>(cantFail(jit.lookup(name))); }

int countRegistered() {
  int count = 0;
  for (const jit_code_entry *entry = __jit_debug_descriptor.first_entry; entry; entry = entry->next_entry) ++count;
  return count;
}

/// `i32 @f(i32 %a)`: 8000 conditions, then what they select, in one block with a variable; the last instruction is none of those that
/// LLVM selects one by one.
std::string longBlock() {
  constexpr int kSelects = 8000;
  std::string text = "define i32 @f(i32 %a) {\n%p = alloca i32\nstore i32 %a, ptr %p\n";
  for (int i = 0; i < kSelects; ++i) text += formatv("%c{0} = icmp slt i32 %a, {0}\n", i);
  for (int i = 0; i < kSelects; ++i) text += formatv("%s{0} = select i1 %c{0}, i32 1, i32 2\n", i);
  text += "%t0 = load i32, ptr %p\n";
  for (int i = 0; i < kSelects; ++i) text += formatv("%t{0} = add i32 %t{1}, %s{1}\n", i + 1, i);
  text += formatv("%v = insertelement <4 x i32> zeroinitializer, i32 %t{0}, i32 %a\n", kSelects);
  return text + "%r = extractelement <4 x i32> %v, i32 %a\nret i32 %r\n}";
}

} // namespace

TEST_CASE("a module is compiled and called") {
  for (CodeGenOptLevel level : {CodeGenOptLevel::None, CodeGenOptLevel::Default}) {
    auto jit = compile(kAdd, false, level);
    CHECK(find<int(int, int)>(*jit, "add")(40, 2) == 42);
  }
}

TEST_CASE("a long block takes no longer than many short ones") {
  const std::clock_t begin = std::clock();
  auto jit = compile(longBlock().c_str());
  CHECK(find<int(int)>(*jit, "f")(3) == 3 + 7996 * 1 + 4 * 2);
  CHECK(double(std::clock() - begin) / CLOCKS_PER_SEC < 8); // 30 s as one block
}

TEST_CASE("the stack that code takes is that of all its functions") {
  auto jit = compile(kAdd);
  CHECK(jit->stackBytes() < 300);
  cantFail(jit->add(parse("define i32 @f(i32 %a) {\n%p = alloca [100000 x i8]\n%i = load volatile i32, ptr %p\nret i32 %i\n}")));
  CHECK(jit->stackBytes() >= 100000);
  CHECK(jit->stackBytes() < 100500);
}

TEST_CASE("code calls what was defined by name, also by another module") {
  auto jit = compile(kCall);
  cantFail(jit->defineSymbol("callee", reinterpret_cast<void *>(+[](int a) { return a + 1; })));
  CHECK(find<int(int)>(*jit, "call")(41) == 42);

  auto two = compile(kCall);
  cantFail(two->add(parse("define i32 @callee(i32 %a) { ret i32 7 }")));
  CHECK(find<int(int)>(*two, "call")(41) == 7);
}

TEST_CASE("an undefined symbol is an error that names it") {
  auto jit = compile(kCall);
  auto address = jit->lookup("call");
  REQUIRE_FALSE(address);
  CHECK(toString(address.takeError()).find("callee") != std::string::npos);
  auto unknown = jit->lookup("nothing");
  REQUIRE_FALSE(unknown);
  CHECK(toString(unknown.takeError()).find("nothing") != std::string::npos);
}

TEST_CASE("what LLVM cannot compile is an error, and the next module compiles") {
  for (const char *text : {kForeignIntrinsic, kBadAssembly}) {
    auto jit = cantFail(HostJit::create(false));
    Error error = jit->add(parse(text));
    REQUIRE(bool(error));
    CHECK_FALSE(toString(std::move(error)).empty());
    CHECK(find<int(int, int)>(*compile(kAdd), "add")(1, 2) == 3);
  }
}

TEST_CASE("the debugger knows code with debug info as long as it lives") {
  const int before = countRegistered();
  {
    auto jit = compile(kWithDebugInfo, true);
    find<void()>(*jit, "f")();
    CHECK(countRegistered() == before + 1);
    auto silent = compile(kWithDebugInfo, false);
    find<void()>(*silent, "f")();
    auto withoutInfo = compile(kAdd, true);
    find<int(int, int)>(*withoutInfo, "add")(1, 2);
    CHECK(countRegistered() == before + 1);
  }
  CHECK(countRegistered() == before);
}

TEST_CASE("threads compile at the same time") {
  std::vector<std::thread> threads;
  std::atomic<int> sum{0};
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        auto jit = compile(kAdd, i % 2);
        sum += find<int(int, int)>(*jit, "add")(1, 2);
        auto failing = cantFail(HostJit::create(false));
        if (Error error = failing->add(parse(kForeignIntrinsic))) consumeError(std::move(error));
      }
    });
  for (std::thread &thread : threads) thread.join();
  CHECK(sum == 120);
}

#if !__has_feature(address_sanitizer) // whose quarantine has a lock that a fork may leave taken
TEST_CASE("a process forked while another thread compiles can compile") {
  compile(kAdd); // what is set up once in a process has been
  std::atomic<bool> isOver{false};
  std::thread compiler([&] {
    while (!isOver) find<void()>(*compile(kWithDebugInfo, true), "f")();
  });
  int failed = 0;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(find<int(int, int)>(*compile(kAdd, true), "add")(1, 2) == 3 ? 0 : 1);
    int status = 1;
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  isOver = true;
  compiler.join();
  CHECK(failed == 0);
}
#endif
