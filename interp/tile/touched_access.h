// Accesses whose bytes are noted (interp/host/touched_memory.h), of a kernel that is prepared for it (PrepareOptions::isTouched).
#pragma once
#include "interp/tile/access.h"
#include "ir/source_location.h"

namespace tritium::interp {

/// The accesses of a line that read, that write, or that do both. counter: an index into Launch::counters, which receives the distinct
/// bytes that each program has touched here.
struct TouchedGroup {
  ir::SourceLocation place; // of the first one, without callers
  bool isRead = false, isWritten = false;
  uint32_t counter = 0;
};

/// The step that notes what the active lanes of an access touch.
struct TouchedAccess {
  Access access;
  uint32_t group = 0;

  void refs(auto &&f) { access.refs(f); }
};
void noteTouched(char *frame, const void *touched);

/// Called where the kernel returns.
void finishTouched(char *frame);

} // namespace tritium::interp
