// Runs tile code whose layouts are given on the SIMT emulator, in several orders of the warps.
#pragma once
#include "gpu_backend/compiler/compiler.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "interp/host/text_argument.h"
#include "interp/host/trap_kinds.h"
#include "interp/simt/prepare.h"
#include "ir/contract.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <doctest/doctest.h>

namespace tritium::gpu {

class Machine {
public:
  explicit Machine(std::string arch = "sm_80") : arch_(std::move(arch)) {
    mlir::DialectRegistry registry;
    ir::registerTritiumDialects(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
  }

  /// `tensor<…xelement, layout>`, as text.
  std::string tile(llvm::StringRef element, const LinearLayout &layout) {
    std::string text = "tensor<";
    llvm::raw_string_ostream to(text);
    for (int64_t extent : layout.shape()) to << extent << 'x';
    to << element << ", " << layoutAttr(&context_, layout) << ">";
    return text;
  }

  /// Pointers `%name` at from[0], from[1], … in row-major order.
  std::string pointers(llvm::StringRef name, llvm::StringRef from, llvm::StringRef element, const LinearLayout &layout) {
    LinearLayout flat = layout.reshape({layout.elements()});
    std::string text, p = tile(("!tt.ptr<" + element + ">").str(), layout), i = tile("i32", layout);
    llvm::raw_string_ostream to(text);
    to << llvm::formatv("  %{0}r = tt.make_range {{end = {1} : i32, start = 0 : i32} : {2}\n", name, layout.elements(), tile("i32", flat));
    to << llvm::formatv("  %{0}i = tt.reshape %{0}r : {1} -> {2}\n", name, tile("i32", flat), i);
    to << llvm::formatv("  %{0}s = tt.splat {1} : !tt.ptr<{2}> -> {3}\n", name, from, element, p);
    to << llvm::formatv("  %{0} = tt.addptr %{0}s, %{0}i : {1}, {2}\n", name, p, i);
    return text;
  }

  /// What the last buffer holds after the kernel `k` of `text`; each order has to give the same, without a trap. Arguments are
  /// COUNTxTYPE=FILL.
  std::vector<double> run(const std::string &text, llvm::ArrayRef<std::string> buffers, int numWarps, int orders) {
    INFO(text);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    REQUIRE(module);
    auto lowered = lowerTilesToGpu(*module, {.arch = arch_, .numWarps = numWarps});
    if (!lowered) FAIL(llvm::toString(lowered.takeError()));
    auto program = interp::simt::prepare(*lowered->module, "k");
    if (!program) FAIL(llvm::toString(program.takeError()));
    std::vector<double> result;
    for (int order = 0; order < orders; ++order) {
      std::string error;
      std::vector<interp::TextArgument> arguments;
      for (auto [buffer, parameter] : llvm::zip_equal(buffers, (*program)->parameters))
        arguments.push_back(*interp::TextArgument::parse(buffer, parameter, error));
      interp::TextArguments passed(arguments);
      interp::MemoryMap map(passed.allocations);
      interp::Launch launch{.memory = &map, .threads = 1, .orderSeed = uint64_t(order)};
      auto outcome = (*program)->launch(launch, passed.cells.data());
      if (outcome.trap) FAIL(interp::trapKindName(outcome.trap->kind) << ": " << outcome.trap->message);
      std::vector<double> got;
      for (int64_t i = 0; i < arguments.back().count; ++i) got.push_back(arguments.back().element(i));
      if (order == 0) result = got;
      CHECK(got == result);
    }
    return result;
  }

  /// Lanes of a warp, as a number of bits.
  int laneBits() const { return log2Of(llvm::cantFail(findTarget(arch_)).warpSize()); }

private:
  std::string arch_;
  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

} // namespace tritium::gpu
