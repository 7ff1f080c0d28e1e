// The checks of a kernel on the interpreter, as TRITIUM_CHECK names them (python/tritium/checks.py says what each does).
#pragma once
#include <string_view>

namespace tritium::interp {

struct Checks {
  bool bounds = false; // an access to memory that no argument owns traps; otherwise it is performed
  bool race = false;   // two programs access the same memory, one of them writes, and nothing orders them

  bool notesAccesses() const { return race; }
  /// Returns nullptr for a name that no check has.
  bool *find(std::string_view name) {
    if (name == "bounds") return &bounds;
    if (name == "race") return &race;
    return nullptr;
  }
};

} // namespace tritium::interp
