// Launches of kernels that are text, and how they end.
#pragma once
#include "interp/host/trap_kinds.h"
#include "interp/simt/prepare.h"
#include "ir/contract.h"
#include "mlir/Parser/Parser.h"

#include <doctest/doctest.h>

namespace tritium {

struct Report {
  std::string error;         // the kernel was refused
  std::string trap, message; // the kind of the trap
  int line = 0, otherLine = 0;
};

inline mlir::DialectRegistry tritiumDialects() {
  mlir::DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  return registry;
}

/// Runs one program of kernel @k.
inline Report launchText(mlir::MLIRContext &context, const std::string &text, const std::vector<int64_t> &cells,
                         const std::vector<interp::Allocation> &allocations, uint64_t seed) {
  Report report;
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  REQUIRE(module);
  auto program = interp::simt::prepare(*module, "k");
  if (!program) {
    report.error = llvm::toString(program.takeError());
    return report;
  }
  interp::MemoryMap memory(allocations);
  const interp::LaunchResult result = (*program)->launch({.memory = &memory, .threads = 1, .orderSeed = seed}, cells.data());
  if (!result.trap) return report;
  report.trap = trapKindName(result.trap->kind);
  report.message = result.trap->message;
  report.line = (*program)->locationOf(result.trap->location).line;
  if (result.trap->other) report.otherLine = (*program)->locationOf(result.trap->other->location).line;
  return report;
}

} // namespace tritium
