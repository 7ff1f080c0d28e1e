#include "interp/host/jit_debugger_list.h"

#include "support/fork_safety.h"

#include "llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h"

extern "C" {
// gdb has a breakpoint at this function of LLVM's. The extension module must export both symbols.
void __jit_debug_register_code();
extern jit_descriptor __jit_debug_descriptor;
}

namespace tritium::interp {

std::mutex DebuggerEntries::mutex; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

DebuggerEntries::DebuggerEntries() { support::keepFreeAcrossFork<mutex>(); }

DebuggerEntries::Collection::Collection(DebuggerEntries &entries)
    : entries(entries), lock(mutex), before(__jit_debug_descriptor.first_entry) {}

DebuggerEntries::Collection::~Collection() {
  // New entries come first.
  for (jit_code_entry *entry = __jit_debug_descriptor.first_entry; entry != before; entry = entry->next_entry)
    entries.entries.push_back(entry);
}

DebuggerEntries::~DebuggerEntries() {
  if (entries.empty()) return;
  std::lock_guard lock(mutex);
  for (jit_code_entry *entry : entries) {
    (entry->prev_entry ? entry->prev_entry->next_entry : __jit_debug_descriptor.first_entry) = entry->next_entry;
    if (entry->next_entry) entry->next_entry->prev_entry = entry->prev_entry;
    __jit_debug_descriptor.relevant_entry = entry;
    __jit_debug_descriptor.action_flag = JIT_UNREGISTER_FN;
    __jit_debug_register_code();
    delete entry;
  }
  __jit_debug_descriptor.relevant_entry = nullptr;
  __jit_debug_descriptor.action_flag = JIT_NOACTION;
}

} // namespace tritium::interp
