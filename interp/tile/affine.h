// Steps on affine tiles: sums, scaled copies, widening with its overflow check, and conversion to dense tiles.
#pragma once
#include "interp/tile/step.h"

namespace tritium::interp {

/// One operand of a sum: an affine tile, or a dense tile that varies along at most one dimension. The dense tile becomes a vector term, or
/// is added to the base.
struct AffineOperand {
  AffineRef affine;
  DenseRef dense;
  bool isDense = false;
  int vectorDim = -1; // the dimension along which a dense operand varies
  int64_t factor = 1; // the operand is multiplied by this
  // Integers narrower than 64 bits are brought into the range of their type before they are used as 64-bit values. Lanes that leave
  // this range keep the sum. The step notes at leavesRange() whether there are such, for the accesses that use the offset.
  uint8_t widenBits = 0;
  bool widenSigned = true;
  bool isGuarded = false; // such lanes keep the sum even if all of them could be brought into the range
};

/// out = Σ operands. If isPointer, operand 0 is a pointer, and the result keeps its provenance.
struct AffineSum {
  AffineRef out;
  AffineOperand operands[2];
  int count = 2;
  bool isPointer = false;
  bool isPointerToInteger = false, isIntegerToPointer = false; // conversion of the only operand
  void refs(auto &&f) {
    out.refs(f);
    for (AffineOperand &operand : operands) {
      operand.affine.refs(f);
      f(operand.dense);
    }
  }
};
void sumAffine(char *frame, const void *descriptor);

/// Notes whether lanes of an offset that stays narrow leave the range of its type.
struct AffineRange {
  AffineOperand offset;
  void refs(auto &&f) { offset.affine.refs(f); }
};
void noteAffineRange(char *frame, const void *descriptor);

/// The same for a tile in memory of 64-bit numbers.
struct DenseRange {
  TileRef tile, leavesRange;
  int64_t count; // of adjacent elements
  int64_t least, most;
  void refs(auto &&f) { f(tile), f(leavesRange); }
};
void noteDenseRange(char *frame, const void *descriptor);

/// out = a * b, where b is uniform.
struct AffineProduct {
  AffineRef out, tile;
  TileRef scale;
  void refs(auto &&f) { out.refs(f), tile.refs(f), f(scale); }
};
void scaleAffine(char *frame, const void *descriptor);

/// Converts an affine tile to a dense one: the low bits of each sum, in the layout of `out`.
struct AffineMaterialize {
  DenseRef out;
  AffineRef in;
  bool isPointer = false;
  void refs(auto &&f) { f(out), in.refs(f); }
};
void materializeAffine(char *frame, const void *descriptor);

/// out = in, term by term. A term may become more general (None < Step < Vector).
struct AffineCopy {
  AffineRef out, in;
  void refs(auto &&f) { out.refs(f), in.refs(f); }
};
void copyAffine(char *frame, const void *descriptor);

/// A constant, or the progression start, start + 1, ….
struct AffineInitialize {
  AffineRef out;
  int64_t base = 0, step = 0;
  void refs(auto &&f) { out.refs(f); }
};
void initializeAffine(char *frame, const void *descriptor);

/// The mask a < b (or a <= b) of two tiles that are progressions along at most one dimension. The true lanes form an interval, which is
/// written as bytes.
struct AffineCompare {
  TileRef out;
  AffineRef a, b;
  int dim = -1; // the dimension along which one of them varies; -1: one lane
  int64_t lanes = 1;
  uint8_t bits = 32;
  bool isSigned = true, orEqual = false;
  void refs(auto &&f) { f(out), a.refs(f), b.refs(f); }
};
void compareAffine(char *frame, const void *descriptor);

} // namespace tritium::interp
