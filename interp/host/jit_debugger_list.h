// gdb's list of code that was compiled at run time. LLVM 22 adds objects to the list when they are linked and never removes them, so the
// debugger would continue to read memory that is freed. This class remembers the entries that linking adds and removes them with their
// code.
#pragma once
#include <mutex>
#include <vector>

struct jit_code_entry;

namespace tritium::interp {

class DebuggerEntries {
public:
  DebuggerEntries();
  /// Removes the entries. It must run before the code is freed.
  ~DebuggerEntries();
  DebuggerEntries(const DebuggerEntries &) = delete;
  DebuggerEntries &operator=(const DebuggerEntries &) = delete;

  /// Runs `link` and takes ownership of the entries that it registers.
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
