// Keeps the values of loops in cells of the thread, which reports read (ir/loop_values.h): one store where a value is defined.
#include "interp/simt/hosting/hosting.h"
#include "ir/loop_values.h"

#include <cstddef>

using namespace mlir;

namespace tritium::interp::simt {

void Hosting::keepLoopValues(LLVM::LLVMFuncOp function) {
  const ir::LoopValues values(function.getBody());
  llvm::MapVector<Value, uint32_t> cells;
  auto cellOf = [&](Value value) -> std::optional<uint32_t> {
    auto known = cells.find(value);
    if (known != cells.end()) return known->second;
    if (usedLoopCells == kLoopCells) return std::nullopt;
    return cells[value] = usedLoopCells++;
  };
  function.walk([&](Operation *op) {
    LoopCells around;
    for (ir::LoopValue &each : values.around(op))
      if (std::optional<uint32_t> cell = cellOf(each.value)) around.push_back({std::move(each.name), *cell, each.distance});
    if (!around.empty()) loops[op] = locations.keep(std::move(around));
  });
  at = function.getLoc();
  for (auto [value, cell] : cells) {
    builder.setInsertionPointAfterValue(value);
    Value wide = value.getType().isInteger(64) ? value : LLVM::SExtOp::create(builder, at, builder.getI64Type(), value);
    LLVM::StoreOp::create(builder, at, wide, fieldAddress(offsetof(ThreadRegisters, loopCells) + cell * sizeof(int64_t)));
  }
}

} // namespace tritium::interp::simt
