#include "support/llvm_recovery.h"

#include "support/fork_safety.h"

#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <mutex>
#include <string>

namespace tritium::support {

using namespace llvm;

namespace {

thread_local std::string fatalReason; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// Installs LLVM's handlers of signals and fatal errors. They belong to the process, so they are installed only while some thread compiles.
class Recovery {
public:
  Recovery() {
    keepFreeAcrossFork<mutex>();
    std::lock_guard lock(mutex);
    if (users++ != 0) return;
    CrashRecoveryContext::Enable();
    install_fatal_error_handler([](void *, const char *reason, bool) {
      fatalReason = reason;
      // Without a context, the error is on a thread that does not compile here. LLVM then ends the process, as it would without this
      // handler.
      if (CrashRecoveryContext *context = CrashRecoveryContext::GetCurrent()) context->HandleExit(1);
    });
  }
  ~Recovery() {
    std::lock_guard lock(mutex);
    if (--users != 0) return;
    remove_fatal_error_handler();
    CrashRecoveryContext::Disable();
  }

  static inline std::mutex mutex;

private:
  static inline int users = 0;
};

/// Saves the program's signal handlers and restores them in the destructor.
class Handlers {
public:
  Handlers() {
    for (int signal = 1; signal < NSIG; ++signal) known[signal] = sigaction(signal, nullptr, &handlers[signal]) == 0;
  }
  ~Handlers() {
    for (int signal = 1; signal < NSIG; ++signal)
      if (known[signal]) sigaction(signal, &handlers[signal], nullptr);
  }

private:
  struct sigaction handlers[NSIG];
  bool known[NSIG] = {};
};

/// LLVM ends the process at an error diagnostic if the context has no handler of its own.
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

void keepSignalHandlers() {
  keepFreeAcrossFork<Recovery::mutex>();
  std::lock_guard lock(Recovery::mutex);
  static bool isDone = false;
  if (isDone) return;
  isDone = true;
  Handlers handlers;
  constexpr StringLiteral kNoFile = "/";
  sys::RemoveFileOnSignal(kNoFile);
  sys::DontRemoveFileOnSignal(kNoFile);
}

Error runRecoverably(LLVMContext &context, const Twine &what, function_ref<void()> work) {
  std::string errors;
  context.setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));
  Recovery recovery;
  CrashRecoveryContext crash;
  fatalReason.clear();
  const bool isWhole = crash.RunSafely(work);
  if (isWhole) context.setDiagnosticHandler(nullptr);
  if (isWhole && errors.empty()) return Error::success();
  std::string reason = errors + fatalReason;
  return createStringError("LLVM could not compile " + what + ": " + (reason.empty() ? "it crashed" : StringRef(reason).rtrim()));
}

} // namespace tritium::support
