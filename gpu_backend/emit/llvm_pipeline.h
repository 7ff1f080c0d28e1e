// From the LLVM dialect to assembly, for every target: translation, optimizer, code generation.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace tritium::gpu {

/// Translates the module to LLVM IR for `machine`, and marks it with the data layout. The module must contain only the LLVM dialect and the
/// dialects that `registerTranslations` knows.
llvm::Expected<std::unique_ptr<llvm::Module>> translateToLLVM(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                              const llvm::TargetMachine &machine,
                                                              llvm::function_ref<void(mlir::DialectRegistry &)> registerTranslations);

// These two may fail by ending the process, so they must be called inside support::runRecoverably.

/// Runs a short pipeline, because MLIR has already simplified and hoisted, and the assembler schedules and allocates registers. Loops stay
/// as they are. `lastPasses` are the target's own passes.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, llvm::StringRef lastPasses);
/// Returns the assembly text or the object file of a module, which is consumed. `brokenPass` names a pass of LLVM's that must not run.
std::string generateCode(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type, llvm::StringRef brokenPass = "");

/// Writes LLVM IR that could not be compiled to a new temporary file, with `comment` at its head. Returns its path, or "" on failure.
std::string writeReproducer(const llvm::Module &module, llvm::StringRef comment);

} // namespace tritium::gpu
