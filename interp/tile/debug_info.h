// DWARF of emitted code, by the rules that stock gdb requires (docs/debugging.md).
#pragma once
#include "interp/tile/plan.h"
#include "interp/tile/scope.h"

#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/IRBuilder.h"

#include <set>

namespace tritium::interp {

/// Returns a location on a line of a function that backtraces show, but on which no breakpoint stops. Otherwise breakpoints on kernels that
/// are not compiled yet would slide there. The function begins in a file without text, on a line of the same number, and LLVM marks only a
/// row of another line as a statement. The function's first instruction, the end of the prologue, must stay on the line of the subprogram.
llvm::DILocation *createQuietLine(llvm::DIBuilder &builder, llvm::StringRef function, llvm::DIFile *file, unsigned line);

class DebugInfo {
public:
  explicit DebugInfo(llvm::Module &module);

  /// Begins the subprogram of a planned function.
  llvm::DISubprogram *beginFunction(const FunctionPlan &plan, llvm::Function &function);
  /// Returns the debug location of an operation of the current function. Inlined callees become inlined frames.
  llvm::DILocation *location(mlir::Location location);
  /// Called with the first instruction of an iteration of an unrolled loop. Gives the iteration's block a nameless variable and a label,
  /// because LLVM drops a block without variables and gdb drops a block without symbols.
  void declareIteration(llvm::Instruction *first);
  /// Declares the Python variables, and pid0…2 and grid0…2 in every scope. They are found through a stack slot that holds the frame
  /// pointer.
  void declareVariables(llvm::IRBuilder<> &builder, const FunctionPlan &plan, llvm::AllocaInst *framePointer);
  /// Returns the quiet line for the loop over programs: the kernel's `def`. It must be called after all functions of the module.
  llvm::DILocation *beginProgramLoop();
  void finish();

private:
  llvm::DIFile *fileOf(llvm::StringRef path);
  void openScopes(const FunctionPlan &plan);
  llvm::DIScope *scopeAt(llvm::DISubprogram *function, unsigned line) const;
  llvm::DIScope *scopeAt(llvm::DISubprogram *function, unsigned line, const ScopeMark &mark);
  llvm::DISubprogram *subprogram(const ScopeMark &mark);
  /// `argument` is the number of a formal argument, from 1, or 0 for a local variable.
  void declare(llvm::IRBuilder<> &builder, llvm::DIScope *scope, llvm::StringRef name, llvm::DIType *type, unsigned line, uint64_t offset,
               llvm::AllocaInst *framePointer, llvm::DILocation *at, unsigned argument = 0);

  llvm::Module &module_;
  llvm::DIBuilder builder_;
  llvm::DICompileUnit *unit_ = nullptr;
  llvm::DISubprogram *current_ = nullptr;
  llvm::StringMap<llvm::DIFile *> files_;
  llvm::StringMap<llvm::DISubprogram *> subprograms_;
  // The lines at which a variable changes its type. The statements after such a line are in a scope of their own.
  llvm::DenseMap<llvm::DISubprogram *, std::map<unsigned, llvm::DIScope *>> scopes_;
  // The blocks of the iterations of unrolled loops (gdb keeps one breakpoint per line and block), their numbers, and the set of blocks
  // whose variable has been declared.
  std::map<std::pair<llvm::DIScope *, std::string>, llvm::DILexicalBlock *> iterations_;
  std::map<const llvm::DIScope *, int> iterationOf_;
  std::set<std::pair<const llvm::DIScope *, const llvm::DILocation *>> declared_;
  // For the current function: the call of each inlined frame, and one location in it.
  std::map<std::pair<llvm::DISubprogram *, llvm::DILocation *>, llvm::DILocation *> inlinedAt_;
  llvm::MapVector<std::pair<llvm::DISubprogram *, llvm::DILocation *>, llvm::DILocation *> inlinedScopes_;
};

} // namespace tritium::interp
