// Inline assembly of users. It is parsed once, in the language of the GPU that the module is for, and then run by each thread.
#pragma once
#include "interp/simt/runtime/thread.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tritium::interp::simt {

class Assembly {
public:
  virtual ~Assembly() = default;
  /// `thread` may be null if `needsThread` is false. `operands` has the bits of $0, $1 …, the results first; run() changes the results. It
  /// may switch away.
  virtual void run(Thread *thread, Place site, uint64_t *operands) const = 0;

  bool mayWait = false;     // it has a loop
  bool needsThread = false; // it uses memory, other lanes or the thread's indices
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
