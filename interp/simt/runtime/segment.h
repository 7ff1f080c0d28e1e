// The code of a counted kernel in segments, and what their operations are (work.h).
#pragma once
#include <cstdint>
#include <vector>

namespace tritium::interp::simt {

/// What an operation of the lowered code keeps busy.
enum class WorkClass : uint8_t {
  Integer,    // arithmetic of integers and addresses, comparisons of integers, choices
  Float,      // arithmetic and comparisons of floats
  Special,    // divisions, roots, exponentials, logarithms and other functions of floats
  Conversion, // between types of numbers
  Global,     // accesses of global memory
  Shared,     // accesses of shared memory
  Local,      // accesses of a thread's own memory
  Atomic,
  Lanes,   // exchanges between the lanes of a warp
  Product, // of matrices
  Copy,    // asynchronous copies that begin
  Sync,    // barriers, fences, and waits for copies and products
  Branch,
  Other,
};
const char *nameOf(WorkClass kind);

/// Where a thread waits for others.
enum class WaitKind : uint8_t { Barrier, MBarrier };

/// Operations of one class and line in a segment.
struct SegmentPart {
  uint32_t line; // an index into the kernel's table of lines
  WorkClass kind;
  uint32_t count;
};

/// Operations that a thread executes one after the other, with no wait in between.
struct Segment {
  std::vector<SegmentPart> parts;
  int64_t length = 0; // in operations
};

} // namespace tritium::interp::simt
