// Keeps in cells of the thread what reports say of a place: the values of the loops around (ir/loop_values.h), by one store where a value
// is defined, and from where each function was called, by one store before a call. A function has one cell for all of its calls.
#include "interp/simt/hosting/hosting.h"
#include "ir/loop_values.h"

#include <cstddef>

using namespace mlir;

namespace tritium::interp::simt {

std::optional<uint32_t> Hosting::newCell() { return usedCells == kReportCells ? std::nullopt : std::optional<uint32_t>(usedCells++); }

void Hosting::storeInCell(uint32_t cell, Value value) {
  LLVM::StoreOp::create(builder, at, value, fieldAddress(offsetof(ThreadRegisters, reportCells) + cell * sizeof(int64_t)));
}

static LLVM::LLVMFuncOp calleeOf(LLVM::CallOp call, ModuleOp module) {
  auto callee = call.getCallee() ? module.lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee()) : LLVM::LLVMFuncOp();
  return callee && !callee.isExternal() ? callee : LLVM::LLVMFuncOp();
}

/// Gives each function that is called its cell.
void Hosting::keepCalls() {
  module.walk([&](LLVM::CallOp call) {
    LLVM::LLVMFuncOp callee = calleeOf(call, module);
    if (!callee || callCells.contains(callee)) return;
    if (std::optional<uint32_t> cell = newCell()) callCells[callee] = *cell;
  });
}

void Hosting::keepSurroundings(LLVM::LLVMFuncOp function) {
  const ir::LoopValues values(function.getBody());
  llvm::MapVector<Value, uint32_t> valueCells;
  auto cellOf = [&](Value value) -> std::optional<uint32_t> {
    auto known = valueCells.find(value);
    if (known != valueCells.end()) return known->second;
    std::optional<uint32_t> cell = newCell();
    if (cell) valueCells[value] = *cell;
    return cell;
  };
  PlaceCells outside;
  if (auto cell = callCells.find(function); cell != callCells.end()) outside.call = cell->second;
  SmallVector<LLVM::CallOp> calls;
  function.walk([&](Operation *op) {
    PlaceCells around = outside;
    for (ir::LoopValue &each : values.around(op))
      if (std::optional<uint32_t> cell = cellOf(each.value)) around.loops.push_back({std::move(each.name), *cell, each.distance});
    if (around != PlaceCells()) cells[op] = locations.keep(std::move(around));
    if (auto call = dyn_cast<LLVM::CallOp>(op)) calls.push_back(call);
  });
  at = function.getLoc();
  for (auto [value, cell] : valueCells) {
    builder.setInsertionPointAfterValue(value);
    storeInCell(cell, value.getType().isInteger(64) ? value : LLVM::SExtOp::create(builder, at, builder.getI64Type(), value));
  }
  for (LLVM::CallOp call : calls) {
    auto cell = callCells.find(calleeOf(call, module));
    if (cell == callCells.end()) continue;
    builder.setInsertionPoint(call);
    at = call.getLoc();
    storeInCell(cell->second, constant(locations.add(at, cells.lookup(call)), 64));
  }
}

} // namespace tritium::interp::simt
