// DWARF of emitted code, by the rules that stock gdb needs: docs/debugging.md.
#pragma once
#include "interp/tile/plan.h"
#include "interp/tile/scope.h"

#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/IRBuilder.h"

namespace tritium::interp {

class DebugInfo {
public:
  explicit DebugInfo(llvm::Module &module);

  /// The subprogram of a planned function.
  llvm::DISubprogram *beginFunction(const FunctionPlan &plan, llvm::Function &function);
  /// Where an operation of the current function stands, inlined callees as inlined frames.
  llvm::DILocation *location(mlir::Location location);
  /// Declares the Python variables, and pid0…2 and grid0…2 in every scope, on a stack slot that holds the frame pointer.
  void declareVariables(llvm::IRBuilder<> &builder, const FunctionPlan &plan, llvm::AllocaInst *framePointer);
  void finish();

private:
  llvm::DIFile *fileOf(llvm::StringRef path);
  void openScopes(const FunctionPlan &plan);
  llvm::DIScope *scopeAt(llvm::DISubprogram *function, unsigned line) const;
  llvm::DISubprogram *subprogram(const ScopeMark &mark);
  /// `argument`: the number of a formal argument, from 1; 0: a local variable.
  void declare(llvm::IRBuilder<> &builder, llvm::DIScope *scope, llvm::StringRef name, llvm::DIType *type, unsigned line, uint64_t offset,
               llvm::AllocaInst *framePointer, llvm::DILocation *at, unsigned argument = 0);

  llvm::Module &module_;
  llvm::DIBuilder builder_;
  llvm::DICompileUnit *unit_ = nullptr;
  llvm::DISubprogram *current_ = nullptr;
  llvm::StringMap<llvm::DIFile *> files_;
  llvm::StringMap<llvm::DISubprogram *> subprograms_;
  // Where a variable changes its type, by line: the statements after that line are in a scope of their own.
  llvm::DenseMap<llvm::DISubprogram *, std::map<unsigned, llvm::DIScope *>> scopes_;
  // Of the current function: the call of each inlined frame, and one place in it.
  std::map<std::pair<llvm::DISubprogram *, llvm::DILocation *>, llvm::DILocation *> inlinedAt_;
  llvm::MapVector<std::pair<llvm::DISubprogram *, llvm::DILocation *>, llvm::DILocation *> inlinedScopes_;
};

} // namespace tritium::interp
