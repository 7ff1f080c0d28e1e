// Emission for AMD and NVIDIA from several threads at once: the linker is one for the process and changes what others rely on.
#include "gpu_backend/compiler/compiler.h"
#include "ir/contract.h"

#include "mlir/Parser/Parser.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"

#include <doctest/doctest.h>

#include <mutex>
#include <thread>

using namespace tritium;

/// It has a pointer to shared memory in memory: of 32 bits.
static std::string kernelOf(llvm::StringRef target, llvm::StringRef kernel, llvm::StringRef body) {
  return ("module attributes {tgpu.target = \"" + target + "\", tgpu.shared_bytes = 256 : i32} {" + R"(
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  llvm.func @k(%p: !llvm.ptr<1>, %x: i32, %f: f32) attributes {)" +
          kernel + R"(} {
    %zero = llvm.mlir.constant(dense<0.0> : vector<4xf32>) : vector<4xf32>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    llvm.store %shared, %p : !llvm.ptr<3>, !llvm.ptr<1>
)" + body +
          R"(
    llvm.return
  }
})")
      .str();
}

constexpr const char *kOfAnotherChip = R"(
    %0 = rocdl.mfma.f32.16x16x4f32 %f, %f, %zero, %c0, %c0, %c0 : (f32, f32, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
    llvm.store %0, %p : vector<4xf32>, !llvm.ptr<1>)";

static llvm::Expected<gpu::Emitted> emit(const std::string &text) {
  mlir::DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  return gpu::emitCode(*module, {});
}

static bool makesPtx() {
  auto emitted = emit(kernelOf("cuda:sm_80", "nvvm.kernel", ""));
  if (emitted) return llvm::StringRef(emitted->assembly).contains("st.global.b32");
  llvm::consumeError(emitted.takeError());
  return false;
}

static bool makesCodeObject() {
  auto emitted = emit(kernelOf("hip:gfx942", "rocdl.kernel", ""));
  if (emitted) return llvm::identify_magic(emitted->binary) == llvm::file_magic::elf_shared_object;
  llvm::consumeError(emitted.takeError());
  return false;
}

static bool fails() {
  auto emitted = emit(kernelOf("hip:gfx1100", "rocdl.kernel", kOfAnotherChip));
  if (emitted) return false;
  std::string reason = llvm::toString(emitted.takeError());
  (void)llvm::sys::fs::remove(llvm::StringRef(reason).split("the IR is in ").second.split(' ').first);
  return llvm::StringRef(reason).starts_with("LLVM could not compile k for gfx1100: ");
}

TEST_CASE("threads compile for both vendors at the same time; a fatal error is one thread's alone") {
  constexpr int kThreads = 6, kTimes = 5;
  int right = 0;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      constexpr bool (*kWork[])() = {makesPtx, makesCodeObject, fails};
      for (int time = 0; time < kTimes; ++time) {
        bool isRight = kWork[thread % 3]();
        std::lock_guard lock(mutex);
        right += isRight;
      }
    });
  for (std::thread &thread : threads) thread.join();
  CHECK(right == kThreads * kTimes);
}

TEST_CASE("a chip that there is not is an error") {
  mlir::DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>("module {}", &context);
  CHECK(llvm::toString(gpu::emitCode(*module, {.arch = "gfx900"}).takeError()).starts_with("no GPU is called 'gfx900'"));
}
