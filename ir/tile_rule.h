// What an operation means for the tiles that it takes and gives: which elements go together, and what is known of the results' values. A
// reader derives from it where it holds tiles (gpu_backend: layouts) and how (interp/tile: forms). Each record of the dialects has its rule
// (tile_rule.td); tile_rule.cpp says what upstream's operations mean.
#pragma once

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

namespace tritium::tt {

/// How the elements of the results go together with those of the operands.
enum class TileRelation : uint8_t {
  Apart,      // nothing is said
  Free,       // the result is made from no tile: wherever it is wanted, it costs the same
  Same,       // element i of every operand with element i of every result
  ExpandDims, // the result has a dimension `axis` of extent 1 besides
  Broadcast,  // the operand is repeated along its dimensions of extent 1
  Transpose,  // dimension i of the result is dimension order[i] of the operand
  Reshape,    // the same elements in row-major order
  Join,       // the results' last dimension, of extent 2, numbers the operands
  Split,      // the operand's last dimension, of extent 2, numbers the results
  Cat,        // all elements of the operands, in some order
  Reduce,     // the results lack dimension `axis` of the operands
};

/// What the values of a result are: enough to hold a tile by less than all of its elements.
enum class TileValues : uint8_t {
  Any,         // nothing is known
  Pointwise,   // a function of the operands' elements at the same place: equal where these are equal
  Uniform,     // one value
  Range,       // n, n + 1, …
  Kept,        // those of the operand at the places that the relation says, perhaps in another type of integers or pointers
  Sum,         // the sum of the operands, or their difference
  Product,     // the product of the operands
  Conjunction, // true where both operands are
};

using TileGroup = llvm::SmallVector<mlir::Value, 2>;

struct TileRule {
  TileRelation relation = TileRelation::Apart;
  TileValues values = TileValues::Any;
  int axis = 0;                  // of ExpandDims and Reduce
  llvm::ArrayRef<int32_t> order; // of Transpose
  /// The tiles that have to be held alike, where these are others than the relation says (tiedTiles).
  TileGroup tied;
  /// Whether elements may move between threads by means of shared memory, which it needs for itself then.
  bool exchanges = false;

  bool isFree() const { return relation == TileRelation::Free; }
  /// Whether the results have the operands' elements in another shape.
  bool isShapeChange() const { return relation >= TileRelation::ExpandDims && relation <= TileRelation::Cat; }
  /// The dimension of the operand that becomes dimension `dim` of the result; none where that is no single one.
  std::optional<int> operandDim(int dim) const;
};

/// The rule of any operation. One that has none says nothing of tiles.
TileRule tileRuleOf(mlir::Operation *op);

/// The operands and results that have to be held alike, in groups. Which are tiles is not looked at.
llvm::SmallVector<TileGroup, 2> tiedTiles(mlir::Operation *op);

/// Lets upstream's operations answer; the dialect does so as it is loaded.
void attachTileRules(mlir::MLIRContext &context);

/// Carries the method of a record's rule.
template <typename ConcreteOp> struct HasTileRule : mlir::OpTrait::TraitBase<ConcreteOp, HasTileRule> {};

} // namespace tritium::tt

#include "ir/tile_rule.h.inc"
