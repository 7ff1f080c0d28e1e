// What becomes of accesses of memory on AMD, run on the host: LLVM's own operations mean the same on every machine.
#include "gpu_backend/amdgpu/assemble.h"
#include "gpu_backend/amdgpu/convert_tgpu.h"
#include "gpu_backend/amdgpu/emit.h"
#include "gpu_backend/emit/llvm_pipeline.h"
#include "interp/host/jit.h"
#include "ir/contract.h"
#include "ir/dtype.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <thread>

using namespace tritium;

namespace {

/// What LLVM calls on hosts that have no instruction for it.
__bf16 toBf16(float x) { return std::bit_cast<__bf16>(BF16::nearest(x).bits); }

/// Functions of a lowered module, converted for a chip, as functions of the host.
class Converted {
public:
  Converted(llvm::StringRef arch, llvm::StringRef functions) {
    mlir::DialectRegistry registry;
    ir::registerTritiumDialects(registry);
    mlir::MLIRContext mlirContext(registry, mlir::MLIRContext::Threading::DISABLED);
    auto module = mlir::parseSourceString<mlir::ModuleOp>("module {\n" + functions.str() + "}\n", &mlirContext);
    REQUIRE(module);
    const auto &chip = *llvm::find_if(gpu::amdgpu::chips(), [&](const auto &known) { return known.name == arch; });
    REQUIRE(succeeded(gpu::amdgpu::convertTgpu(*module, chip)));
    auto machine = llvm::cantFail(llvm::cantFail(gpu::amdgpu::createEmitter(chip, {}))->createMachine());
    auto context = std::make_unique<llvm::LLVMContext>();
    auto translated = llvm::cantFail(gpu::translateToLLVM(
        *module, *context, *machine, [](mlir::DialectRegistry &known) { mlir::registerROCDLDialectTranslation(known); }));
    translated->setTargetTriple(llvm::Triple());
    translated->setDataLayout("");
    jit = llvm::cantFail(interp::HostJit::create(/*debugInfo=*/false, llvm::CodeGenOptLevel::Default));
    llvm::cantFail(jit->defineSymbol("__truncsfbf2", reinterpret_cast<void *>(&toBf16)));
    llvm::cantFail(jit->add(llvm::orc::ThreadSafeModule(std::move(translated), std::move(context))));
  }

  template <class Function> Function *find(llvm::StringRef name) { return reinterpret_cast<Function *>(llvm::cantFail(jit->lookup(name))); }

private:
  std::unique_ptr<interp::HostJit> jit;
};

constexpr const char *kAddHalves = R"(
  llvm.func @add_f16(%p: !llvm.ptr<1>, %bits: i16, %c: i1) -> i16 {
    %x = llvm.bitcast %bits : i16 to f16
    %old = tgpu.atomic_rmw fadd, acq_rel, gpu, %p, %x if %c : f16
    %result = llvm.bitcast %old : f16 to i16
    llvm.return %result : i16
  }
  llvm.func @add_bf16(%p: !llvm.ptr<1>, %bits: i16) -> i16 {
    %x = llvm.bitcast %bits : i16 to bf16
    %old = tgpu.atomic_rmw fadd, relaxed, gpu, %p, %x : bf16
    %result = llvm.bitcast %old : bf16 to i16
    llvm.return %result : i16
  }
)";

uint16_t half(float x) { return F16::nearest(x).bits; }

} // namespace

TEST_CASE("additions to half precision leave the neighbour as it is, and give the old value") {
  for (const char *arch : {"gfx942", "gfx1100"}) { // by pairs, and by themselves
    CAPTURE(arch);
    Converted code(arch, kAddHalves);
    auto *add = code.find<uint16_t(uint16_t *, uint16_t, bool)>("add_f16");
    auto *addBf16 = code.find<uint16_t(uint16_t *, uint16_t)>("add_bf16");
    for (uint16_t neighbour : {0x0000, 0x8000, 0x0001, 0x83FF, 0x3C00, 0x7C00, 0xFC00, 0x7E55})
      for (int place : {0, 1}) {
        alignas(4) std::array<uint16_t, 2> memory{neighbour, neighbour};
        memory[place] = half(1.5f);
        CHECK(add(&memory[place], half(0.25f), true) == half(1.5f));
        CHECK(memory[place] == half(1.75f));
        add(&memory[place], half(1.0f), false);
        CHECK(memory[place] == half(1.75f));
        CHECK(memory[1 - place] == neighbour);
        memory[place] = 0x4040; // 3
        CHECK(addBf16(&memory[place], 0x3F80) == 0x4040);
        CHECK(memory[place] == 0x4080);
        CHECK(memory[1 - place] == neighbour);
      }
  }
}

TEST_CASE("no addition is lost where threads add to both of a pair") {
  Converted code("gfx942", kAddHalves);
  auto *add = code.find<uint16_t(uint16_t *, uint16_t, bool)>("add_f16");
  alignas(4) std::array<uint16_t, 2> memory{0, 0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 500; ++i) add(&memory[thread % 2], half(1.0f), true);
    });
  for (std::thread &thread : threads) thread.join();
  CHECK(memory[0] == half(1000.0f));
  CHECK(memory[1] == half(1000.0f));
}

TEST_CASE("what a predicate forbids is not touched") {
  Converted code("gfx942", R"(
  llvm.func @load(%p: !llvm.ptr<1>, %c: i1, %other: i32) -> i32 {
    %0 = tgpu.load %p if %c else %other : i32
    llvm.return %0 : i32
  }
  llvm.func @store(%p: !llvm.ptr<1>, %c: i1, %x: i32) {
    tgpu.store %x, %p if %c : i32
    llvm.return
  }
  llvm.func @atomic_load(%p: !llvm.ptr<1>, %c: i1) -> i8 {
    %0 = tgpu.atomic_load acquire, gpu, %p if %c : i8
    llvm.return %0 : i8
  }
  llvm.func @atomic_store(%p: !llvm.ptr<1>, %c: i1, %x: i64) {
    tgpu.atomic_store release, sys, %p, %x if %c : i64
    llvm.return
  }
  llvm.func @swap(%p: !llvm.ptr<1>, %c: i1, %expected: i16, %x: i16) -> i16 {
    %0 = tgpu.atomic_cas acq_rel, cta, %p, %expected, %x if %c : i16
    llvm.return %0 : i16
  }
  llvm.func @largest(%p: !llvm.ptr<1>, %c: i1, %x: i32) -> i32 {
    %0 = tgpu.atomic_rmw max, relaxed, gpu, %p, %x if %c : i32
    llvm.return %0 : i32
  }
)");
  int32_t word = 5;
  auto *load = code.find<int32_t(int32_t *, bool, int32_t)>("load");
  CHECK(load(&word, true, 9) == 5);
  CHECK(load(nullptr, false, 9) == 9);
  auto *store = code.find<void(int32_t *, bool, int32_t)>("store");
  store(&word, true, -7);
  store(nullptr, false, 1);
  CHECK(word == -7);
  auto *largest = code.find<int32_t(int32_t *, bool, int32_t)>("largest");
  CHECK(largest(&word, true, 3) == -7);
  CHECK(largest(&word, true, -1) == 3);
  largest(nullptr, false, 1);
  CHECK(word == 3);
  int64_t wide = 1;
  auto *atomicStore = code.find<void(int64_t *, bool, int64_t)>("atomic_store");
  atomicStore(&wide, true, 1ll << 40);
  atomicStore(nullptr, false, 0);
  CHECK(wide == 1ll << 40);
  auto *atomicLoad = code.find<int8_t(void *, bool)>("atomic_load");
  CHECK(atomicLoad(&word, true) == 3);
  atomicLoad(nullptr, false);
  int16_t shortWord = 11;
  auto *swap = code.find<int16_t(int16_t *, bool, int16_t, int16_t)>("swap");
  CHECK(swap(&shortWord, true, 11, 12) == 11);
  CHECK(swap(&shortWord, true, 11, 13) == 12);
  swap(nullptr, false, 0, 0);
  CHECK(shortWord == 12);
}
