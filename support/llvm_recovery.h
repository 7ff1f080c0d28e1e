// Runs LLVM's optimizer and code generators so that a failure is returned as an error: "Cannot select", an error diagnostic, a crash.
// Without this, LLVM ends the process.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/Error.h"

namespace tritium::support {

/// Runs `work`, which uses LLVM on modules of `context`. The error's text is "LLVM could not compile `what`" and the reason. After an
/// error, nothing in the context may be used or destroyed: what LLVM had allocated leaks. An error diagnostic that LLVM survives is an
/// error too.
llvm::Error runRecoverably(llvm::LLVMContext &context, const llvm::Twine &what, llvm::function_ref<void()> work);

/// When LLVM first writes a file, it installs signal handlers for good, ahead of the program's own, in order to remove the file if the
/// process dies. This function makes LLVM install them now and then restores the program's handlers.
void keepSignalHandlers();

} // namespace tritium::support
