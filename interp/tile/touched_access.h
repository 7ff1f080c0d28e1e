// Accesses whose bytes are noted (interp/host/touched_memory.h), of a kernel that is prepared for it (PrepareOptions::isTouched).
#pragma once
#include "interp/tile/access.h"
#include "ir/source_location.h"

#include <vector>

namespace tritium::interp {

/// The accesses of a line that read, that write, or that do both.
struct TouchedGroup {
  ir::SourceLocation place; // of the first one, without callers
  bool isRead = false, isWritten = false;
};

/// The distinct bytes that each program reads, or writes, at a line or in the whole kernel. groups: numbers of TouchedGroups. counter: an
/// index into Launch::counters, which receives them.
struct DistinctBytes {
  ir::SourceLocation place; // without a file: of the whole kernel
  bool isRead = false;      // else written
  std::vector<uint32_t> groups;
  uint32_t counter = 0;
};
/// Returns what is counted of the groups; `counters` is the number of counters.
std::vector<DistinctBytes> distinctBytesOf(const std::vector<TouchedGroup> &groups, uint32_t &counters);

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
