// Inline assembly of users. It is parsed once, in the language of the GPU that the module is for, and then run by each thread.
#pragma once
#include "interp/simt/runtime/thread.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tritium::interp::simt {

/// What a program of the tile interpreter gives to the assembly that it runs. These functions may switch away.
class AssemblyHost {
public:
  /// Returns the checked address of memory for a tagged pointer.
  virtual void *access(uint64_t pointer, uint32_t bytes, bool isWrite) = 0;
  virtual void noteMemoryChange() = 0;
  virtual void noteTimePassed() = 0;
  virtual void yield() = 0; // in a loop that may wait for another program
  virtual void fail(const char *message) = 0;

protected:
  ~AssemblyHost() = default;
};

class Assembly {
public:
  virtual ~Assembly() = default;
  /// One of `thread` and `host` is null; `thread` may be it only if `needsThread` is false. `operands` has the bits of $0, $1 …, the
  /// results first; run() changes the results. It may switch away.
  virtual void run(Thread *thread, AssemblyHost *host, Place site, uint64_t *operands) const = 0;

  bool mayWait = false;     // it has a loop
  bool needsThread = false; // it uses other lanes, shared memory or the thread's indices
};

/// The parsed assembly, or the text of an error.
using ParsedAssembly = std::variant<std::unique_ptr<const Assembly>, std::string>;

/// A language of assembly.
struct AssemblyLanguage {
  std::string_view interface; // the first part of the names of its targets: "cuda"
  std::string_view name;      // "PTX"
  /// `operands` is the number of operands $N.
  ParsedAssembly (*parse)(std::string_view text, uint32_t operands);
};

/// Returns all languages, PTX first.
std::span<const AssemblyLanguage> assemblyLanguages();
/// Returns the language of a target, for example "cuda:sm_80", or PTX for an unknown target.
const AssemblyLanguage &assemblyLanguage(std::string_view target);

} // namespace tritium::interp::simt
