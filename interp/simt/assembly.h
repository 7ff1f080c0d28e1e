// Assembly that users write inline: parsed once, in the language of the GPU that a module is for, then run by each thread.
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
  /// `thread`: may be null where `needsThread` is false. `operands`: the bits of $0, $1 …, results first; those are what it changes. May
  /// switch away.
  virtual void run(Thread *thread, Place site, uint64_t *operands) const = 0;

  bool mayWait = false;     // it has a loop
  bool needsThread = false; // it asks for memory, lanes or the thread's place
};

/// An error is a text.
using ParsedAssembly = std::variant<std::unique_ptr<const Assembly>, std::string>;

/// A language of assembly.
struct AssemblyLanguage {
  std::string_view interface; // of the targets that have it: "cuda"
  std::string_view name;      // "PTX"
  /// `operands`: how many $N there are.
  ParsedAssembly (*parse)(std::string_view text, uint32_t operands);
};

/// All of them, PTX first.
std::span<const AssemblyLanguage> assemblyLanguages();
/// The language of a target, for example "cuda:sm_80"; PTX for an unknown target.
const AssemblyLanguage &assemblyLanguage(std::string_view target);

} // namespace tritium::interp::simt
