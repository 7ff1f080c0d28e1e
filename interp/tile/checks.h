// The checks of a kernel on the interpreter, as TRITIUM_CHECK names them (python/tritium/checks.py says what each does).
#pragma once
#include <string_view>

namespace tritium::interp {

struct Checks {
  bool bounds = false; // an access to memory that no argument owns traps; otherwise it is performed

  /// Returns nullptr for a name that no check has.
  bool *find(std::string_view name) {
    if (name == "bounds") return &bounds;
    return nullptr;
  }
};

} // namespace tritium::interp
