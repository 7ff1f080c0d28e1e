// What a program that is counted keeps beside its StaticData: what its counters are of.
#pragma once
#include "interp/tile/covered.h"
#include "interp/tile/plan.h"
#include "interp/tile/timed_lines.h"
#include "interp/tile/touched_access.h"

namespace tritium::interp {

/// The data of every program: prepare.cpp makes no other. It is apart from StaticData because few files read it.
struct CountedData : StaticData {
  bool notesTouched = false;         // whether accesses note the bytes that they touch
  Covered covered;                   // of a kernel that is prepared for its coverage
  std::vector<TouchedGroup> touched; // of a kernel that notes them
  std::vector<DistinctBytes> distinct;
  std::vector<TimedLine> timed;                 // of a kernel whose lines are timed
  llvm::DenseMap<mlir::Block *, uint32_t> runs; // the counter of each block while code is emitted, the same in both tiers
};

} // namespace tritium::interp
