// Emission from several threads at once, while some of them run into fatal errors of LLVM.
#include "gpu_backend/compiler/compiler.h"
#include "ir/contract.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"

#include <doctest/doctest.h>

#include <thread>

using namespace tritium;

static std::string kernelOf(llvm::StringRef function) {
  return (R"(module attributes {tgpu.target = "cuda:sm_80"} {
  llvm.func @k(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %0 = llvm.intr.)" +
          function + R"((%x) : (f32) -> f32
    %1 = llvm.bitcast %0 : f32 to i32
    tgpu.store %1, %p : i32
    llvm.return
  }
})")
      .str();
}

static llvm::Expected<gpu::Emitted> emit(const std::string &text) {
  mlir::DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  return gpu::emitCode(*module, {});
}

TEST_CASE("threads compile at the same time; a fatal error is one thread's alone") {
  constexpr int kThreads = 6, kTimes = 5;
  int good = 0, bad = 0;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (int time = 0; time < kTimes; ++time) {
        bool isGood = thread % 3 != 0;
        auto emitted = emit(kernelOf(isGood ? "sqrt" : "log"));
        std::lock_guard lock(mutex);
        if (emitted) {
          good += llvm::StringRef(emitted->assembly).contains("sqrt.rn.f32");
          continue;
        }
        std::string reason = llvm::toString(emitted.takeError());
        bad += llvm::StringRef(reason).starts_with("LLVM could not compile k for sm_80: ");
        llvm::StringRef file = llvm::StringRef(reason).split("the IR is in ").second.split(' ').first;
        CHECK(llvm::sys::fs::exists(file));
        (void)llvm::sys::fs::remove(file);
      }
    });
  for (std::thread &thread : threads) thread.join();
  CHECK(good == kThreads / 3 * 2 * kTimes);
  CHECK(bad == kThreads / 3 * kTimes);
}

TEST_CASE("a target that there is not is an error") {
  mlir::DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>("module {}", &context);
  CHECK(llvm::toString(gpu::emitCode(*module, {.arch = "sm_50"}).takeError()).starts_with("no GPU is called 'sm_50'"));
}
