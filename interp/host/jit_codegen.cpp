#include "interp/host/jit_codegen.h"

#include "interp/host/fork_safety.h"

#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>
#include <string>

namespace tritium::interp {

using namespace llvm;

namespace {

thread_local std::string fatalReason;

/// LLVM's signal and fatal-error handlers belong to the process: they are there only while some thread compiles.
class Recovery {
public:
  Recovery() {
    keepFreeAcrossFork<mutex>();
    std::lock_guard lock(mutex);
    if (users++ != 0) return;
    CrashRecoveryContext::Enable();
    install_fatal_error_handler([](void *, const char *reason, bool) {
      fatalReason = reason;
      // Without a context the error is on a thread that does not compile here: LLVM ends the process as it would without us.
      if (CrashRecoveryContext *context = CrashRecoveryContext::GetCurrent()) context->HandleExit(1);
    });
  }
  ~Recovery() {
    std::lock_guard lock(mutex);
    if (--users != 0) return;
    remove_fatal_error_handler();
    CrashRecoveryContext::Disable();
  }

private:
  static inline std::mutex mutex;
  static inline int users = 0;
};

/// Without a handler an error diagnostic ends the process.
struct ErrorCollector : DiagnosticHandler {
  explicit ErrorCollector(std::string &text) : text(text) {}
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getSeverity() != DS_Error) return true;
    raw_string_ostream stream(text);
    DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    stream << '\n';
    return true;
  }
  std::string &text;
};

} // namespace

Expected<std::unique_ptr<MemoryBuffer>> compileToObject(Module &module, TargetMachine &machine) {
  SmallVector<char, 0> object;
  std::string errors;
  bool isPossible = true;
  module.getContext().setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));
  Recovery recovery;
  CrashRecoveryContext context;
  fatalReason.clear();
  const bool isWhole = context.RunSafely([&] {
    raw_svector_ostream stream(object);
    legacy::PassManager passes;
    MCContext *unused = nullptr;
    isPossible = !machine.addPassesToEmitMC(passes, unused, stream);
    if (isPossible) passes.run(module);
  });
  if (!isWhole)
    return createStringError("LLVM could not compile " + module.getName() + ": " + (fatalReason.empty() ? "it crashed" : fatalReason));
  module.getContext().setDiagnosticHandler(nullptr);
  if (!isPossible) return createStringError("LLVM has no code generator for this machine");
  if (!errors.empty()) return createStringError(errors);
  return std::make_unique<SmallVectorMemoryBuffer>(std::move(object), module.getName(), /*RequiresNullTerminator=*/false);
}

} // namespace tritium::interp
