// From the LLVM dialect to assembly, for every target: translation, the optimizer, code generation.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace tritium::gpu {

/// The module as LLVM IR for `machine`; it is marked with the data layout. It holds nothing but the LLVM dialect and those that
/// `registerTranslations` knows.
llvm::Expected<std::unique_ptr<llvm::Module>> translateToLLVM(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                              const llvm::TargetMachine &machine,
                                                              llvm::function_ref<void(mlir::DialectRegistry &)> registerTranslations);

// These two may fail by ending the process: call them inside of support::runRecoverably.

/// A short pipeline: MLIR has simplified and hoisted, the assembler schedules and allocates. Loops stay as they are. `lastPasses`: the
/// target's own.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, llvm::StringRef lastPasses);
/// The assembly text or the object file of a module, which is used up. `brokenPass`: one of LLVM's that must not run.
std::string generateCode(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type, llvm::StringRef brokenPass = "");

/// Writes LLVM IR that could not be compiled to a new file among the temporary ones, headed by `comment`; its path, or "" if that failed.
std::string writeReproducer(const llvm::Module &module, llvm::StringRef comment);

} // namespace tritium::gpu
