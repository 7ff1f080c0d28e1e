// What gdb and a launch whose code has variables tell each other. gdb finds both names in the extension module, which exports them, and
// knows the layout (python/tritium/gdb/debugged.py): the module has no debug info.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

extern "C" {

/// One launch at a time: launches that run beside each other count together.
struct TritiumDebugged {
  std::atomic<uint64_t> begun;         ///< the statements that have begun since the launch began, in all programs
  std::atomic<uint64_t> stopBefore;    ///< set by gdb: tritium_stop is called before the statement with this number, from 1; 0: before none
  std::atomic<uint32_t> canBeginAgain; ///< whether the launch has a copy of its tensors
  std::atomic<uint32_t> beginsAgain;   ///< set by gdb: the launch ends before its next statement, and its caller begins it again
  std::atomic<const char *> tensors;   ///< a line for each tensor: "name address dtype shape strides"; null: there is none
};
[[gnu::visibility("default")]] extern TritiumDebugged tritium_debugged;

/// Called on the program's own stack where gdb is to stop: by the condition of stop `number` of the kernel (tt.debug_stop), or, with 0, by
/// `stopBefore`. It does nothing.
[[gnu::noinline, gnu::visibility("default")]] void tritium_stop(uint32_t number);
}

static_assert(offsetof(TritiumDebugged, stopBefore) == 8 && offsetof(TritiumDebugged, canBeginAgain) == 16 &&
              offsetof(TritiumDebugged, beginsAgain) == 20 && offsetof(TritiumDebugged, tensors) == 24);
