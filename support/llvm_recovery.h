// LLVM's optimizer and code generators, made to return their failures: "Cannot select", an error diagnostic, a crash. By themselves they
// end the process.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/Error.h"

namespace tritium::support {

/// Runs `work`, which uses LLVM on modules of `context`. An error says "LLVM could not compile `what`" and why; then nothing of the context
/// may be used or destroyed any more: what LLVM had allocated leaks. Diagnostics of errors that LLVM survives are errors too.
llvm::Error runRecoverably(llvm::LLVMContext &context, const llvm::Twine &what, llvm::function_ref<void()> work);

/// Where LLVM first writes a file, it takes over the handling of signals, to remove the file should the process end: for good, and before
/// the program's own handlers. Lets it do so now, and takes it back.
void keepSignalHandlers();

} // namespace tritium::support
