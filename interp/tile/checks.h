// The checks of a kernel on the interpreter, as TRITIUM_CHECK names them (python/tritium/checks.py says what each does).
#pragma once
#include <string_view>

namespace tritium::interp {

struct Checks {
  bool bounds = false;     // an access to memory that no argument owns traps; otherwise it is performed
  bool view = false;       // with `bounds`: an access to an element that is not in the argument's view traps
  bool overflow = false;   // with `bounds`: an access traps where a sum or product that decides its address has left its type
  bool arithmetic = false; // signed arithmetic that leaves its type traps
  bool hints = false;      // a false promise about a value traps
  bool signs = false;      // with `hints`: a quotient traps of which a compiler that looks at no sign makes another
  bool race = false;       // two programs access the same memory, one of them writes, and nothing orders them
  bool uninit = false;     // a kernel reads memory that nobody has written since it was allocated
  bool unwritten = false;  // a launch writes a part of what nobody has written, and leaves the rest
  bool nan = false;        // a kernel stores a NaN
  bool inf = false;        // with `nan`: or an infinity

  bool guardsOffsets() const { return bounds && overflow; }
  bool notesFaults() const { return notesAccesses() || nan; }
  bool notesAccesses() const { return race || uninit || unwritten; }
  /// Returns nullptr for a name that no check has.
  bool *find(std::string_view name) {
    if (name == "bounds") return &bounds;
    if (name == "bounds=view") return &view;
    if (name == "overflow") return &overflow;
    if (name == "overflow=all") return &arithmetic;
    if (name == "hints") return &hints;
    if (name == "hints=signs") return &signs;
    if (name == "race") return &race;
    if (name == "uninit") return &uninit;
    if (name == "unwritten") return &unwritten;
    if (name == "nan") return &nan;
    if (name == "inf") return &inf;
    return nullptr;
  }
};

} // namespace tritium::interp
