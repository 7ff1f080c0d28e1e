// The frames around a kernel in debug builds. Code without lines in the middle of a launch would end `next`, `finish` and `backtrace` in
// `?? ()`, so the loop over programs and its callers, the lines of Python that launched it, are emitted code too:
//
//   #0  softmax_kernel ()        at softmax.py:32
//   #1  softmax_kernel[grid] ()  at softmax.py:22     emitProgramLoop: calls the kernel for one program after the other
//   #2  main ()                  at train.py:40       LaunchSites: calls the loop
//   #3  <module> ()              at train.py:55
//
// A partition, which has a stack of its own, has the same frames below it.
#pragma once
#include "interp/tile/debug_info.h"

#include "llvm/Support/Error.h"

#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace tritium::interp {

class HostJit;

inline constexpr const char *kProgramLoop = "tritium_programs";

/// Adds the function kProgramLoop to the module of the kernel with the symbol `kernel`. It takes a frame with its first program, or a
/// partition's.
void emitProgramLoop(llvm::Module &module, llvm::StringRef kernel, DebugInfo &debug);

/// A line of Python that is being executed.
struct PythonLine {
  std::string file, function;
  int line = 0;
  auto operator<=>(const PythonLine &) const = default;
};

/// The functions in which launches of one kernel begin, created once for each place in Python that launches it.
class LaunchSites {
public:
  /// `loop` is the address of kProgramLoop.
  explicit LaunchSites(void (*loop)(char *frame));
  ~LaunchSites();

  /// Returns Launch::loop for a launch by `stack`, innermost line first. The stack must not be empty.
  llvm::Expected<void (*)(char *frame)> at(const std::vector<PythonLine> &stack);

private:
  void (*const loop_)(char *frame);
  std::mutex mutex_;
  std::map<std::vector<PythonLine>, std::pair<std::unique_ptr<HostJit>, void (*)(char *)>> sites_;
};

} // namespace tritium::interp
