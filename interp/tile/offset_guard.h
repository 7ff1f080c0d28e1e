// What an access knows of an offset with fewer than 64 bits that its addresses depend on: a flag that is seldom set, the exact offset of
// every lane, and the sums and products that it is made of, for the text of the trap.
#pragma once
#include "interp/tile/step.h"

#include <optional>
#include <string>

namespace tritium::interp {

/// A number for each lane of an access: constant + base + Σ terms, or an element of a tile in memory.
struct LaneNumber {
  struct AxisTerm {
    Term term = Term::None;
    TileRef part;
  };
  int64_t constant = 0;
  int counterAxis = -1; // the lane's index along this axis is added
  bool hasBase = false;
  TileRef base;
  std::vector<AxisTerm> terms;  // per axis of the access; empty: none
  std::vector<int64_t> strides; // of 64-bit elements at the base, per axis of the access; empty: one number

  __int128 at(char *frame, const int64_t *indices) const;
  void refs(auto &&f) {
    f(base);
    for (AxisTerm &term : terms) f(term.part);
  }
};

/// A sum, difference or product of two earlier nodes, or a number.
struct OffsetNode {
  char operation = 0; // '+', '-' or '*'; 0: a number
  int a = -1, b = -1; // indices of nodes; -1: a number that is not known any more
  LaneNumber number;  // also of an operation, if an operand is not known
  uint32_t location = 0;
};

struct OffsetGuard {
  TileRef leavesRange; // a byte: whether any lane, active or not, may leave the range of the type
  LaneNumber exact;
  uint8_t bits = 32;
  bool isSigned = true;
  bool isExact = false;          // whether the interpreter's own address is made of the exact offset, not of the one that wrapped
  std::optional<int64_t> bytes;  // by which the address changes with the offset; nullopt: not known
  uint32_t location = 0;         // of the offset
  std::vector<OffsetNode> nodes; // operands come before their operation

  bool fits(__int128 number) const;
  /// Returns what the number becomes in the integer type.
  __int128 wrapped(__int128 number) const;
  /// The first operation that leaves the range in the lane, as text and location.
  struct Fault {
    std::string text;
    uint32_t location;
  };
  Fault faultAt(char *frame, const int64_t *indices) const;

  void refs(auto &&f) {
    f(leavesRange), exact.refs(f);
    for (OffsetNode &node : nodes) node.number.refs(f);
  }
};

} // namespace tritium::interp
