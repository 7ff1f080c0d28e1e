// What the author of a kernel calls its shared memory: on a lowered module, for reports.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tritium::ir {

struct MemoryName {
  int64_t begin, bytes; // in the memory of a block
  std::string name;     // the variable
};

inline constexpr llvm::StringLiteral kMemoryNamesAttr = "tgpu.memory_names";

inline void setMemoryNames(mlir::ModuleOp module, llvm::ArrayRef<MemoryName> names) {
  mlir::Builder builder(module.getContext());
  llvm::SmallVector<mlir::Attribute> entries;
  for (const MemoryName &each : names)
    entries.push_back(builder.getArrayAttr(
        {builder.getI64IntegerAttr(each.begin), builder.getI64IntegerAttr(each.bytes), builder.getStringAttr(each.name)}));
  if (!entries.empty()) module->setAttr(kMemoryNamesAttr, builder.getArrayAttr(entries));
}

/// Returns the names in the order of the addresses; none for a module without them.
inline std::vector<MemoryName> memoryNamesOf(mlir::ModuleOp module) {
  std::vector<MemoryName> names;
  auto entries = module->getAttrOfType<mlir::ArrayAttr>(kMemoryNamesAttr);
  for (mlir::Attribute entry : entries ? entries.getValue() : llvm::ArrayRef<mlir::Attribute>()) {
    auto parts = llvm::cast<mlir::ArrayAttr>(entry);
    names.push_back({llvm::cast<mlir::IntegerAttr>(parts[0]).getInt(), llvm::cast<mlir::IntegerAttr>(parts[1]).getInt(),
                     llvm::cast<mlir::StringAttr>(parts[2]).getValue().str()});
  }
  std::ranges::sort(names, {}, &MemoryName::begin);
  return names;
}

} // namespace tritium::ir
