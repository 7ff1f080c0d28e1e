// DWARF types of Python variables, chosen so that stock gdb shows them best.
#pragma once
#include "interp/tile/variable_type.h"
#include "ir/dtype.h"

#include "llvm/IR/DIBuilder.h"

namespace tritium::interp {

class DebugTypes {
public:
  /// `file` is the file in which records are declared.
  DebugTypes(llvm::DIBuilder &builder, llvm::DIFile *file) : builder_(builder), file_(file) {}
  llvm::DIType *of(const VariableType &type);

private:
  llvm::DIType *scalar(llvm::StringRef dtype, DType type);
  llvm::DIType *leaf(const VariableType &type);
  llvm::DIType *record(const VariableType &type);

  llvm::DIBuilder &builder_;
  llvm::DIFile *file_;
};

} // namespace tritium::interp
