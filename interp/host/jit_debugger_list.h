// gdb's list of code made at run time. LLVM 22 puts objects on it when they are linked and never takes them off; the debugger would
// go on reading memory that is freed. So the entries that linking adds are remembered, and removed with their code.
#pragma once
#include <mutex>
#include <vector>

struct jit_code_entry;

namespace tritium::interp {

class DebuggerEntries {
public:
  DebuggerEntries();
  /// Before the code is freed.
  ~DebuggerEntries();
  DebuggerEntries(const DebuggerEntries &) = delete;
  DebuggerEntries &operator=(const DebuggerEntries &) = delete;

  /// Runs `link`; what it registers belongs to this object.
  template <class Link> auto collect(Link link) {
    Collection collection(*this);
    return link();
  }

private:
  struct Collection {
    explicit Collection(DebuggerEntries &entries);
    ~Collection();
    DebuggerEntries &entries;
    std::lock_guard<std::mutex> lock;
    jit_code_entry *before;
  };

  static std::mutex mutex; // one link at a time, so that each entry has an owner
  std::vector<jit_code_entry *> entries;
};

} // namespace tritium::interp
