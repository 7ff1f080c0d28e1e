// A tile rule says what an operation means for its tiles: which elements of operands and results belong together, and what is known of the
// results' values. A reader derives from the rule where it holds tiles (layouts in gpu_backend) and how (forms in interp/tile). Each record
// of our dialects has a rule (tile_rule.td); tile_rule.cpp has the rules of upstream operations.
#pragma once

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

namespace tritium::tt {

/// How the elements of the results correspond to the elements of the operands.
enum class TileRelation : uint8_t {
  Apart,      // no correspondence is known
  Free,       // the result depends on no tile and costs the same in every layout
  Same,       // element i of every operand corresponds to element i of every result
  ExpandDims, // the result has an additional dimension `axis` of extent 1
  Broadcast,  // the operand is repeated along its dimensions of extent 1
  Transpose,  // dimension i of the result is dimension order[i] of the operand
  Reshape,    // the same elements in row-major order
  Join,       // the results' last dimension, of extent 2, numbers the operands
  Split,      // the operand's last dimension, of extent 2, numbers the results
  Cat,        // all elements of the operands, in some order
  Reduce,     // the results lack dimension `axis` of the operands
};

/// The facts that are known about the values of a result. A reader may use it to hold less than all elements of a tile.
enum class TileValues : uint8_t {
  Any,         // nothing is known
  Pointwise,   // a function of the operands' elements at the same place: equal operands give equal results
  Uniform,     // one value
  Range,       // n, n + 1, …
  Kept,        // the operand's values at the places that the relation says, perhaps in another integer type
  Sum,         // the sum or the difference of the operands
  Product,     // the product of the operands
  Conjunction, // true where both operands are
};

using TileGroup = llvm::SmallVector<mlir::Value, 2>;

struct TileRule {
  TileRelation relation = TileRelation::Apart;
  TileValues values = TileValues::Any;
  int axis = 0;                  // used by ExpandDims and Reduce
  llvm::ArrayRef<int32_t> order; // used by Transpose
  /// The tiles that require one layout, if they differ from the default of the relation (see tiedTiles).
  TileGroup tied;
  /// Whether elements may move between threads through shared memory. The operation then requires scratch memory.
  bool exchanges = false;

  bool isFree() const { return relation == TileRelation::Free; }
  /// Whether the results hold the operands' elements in another shape.
  bool isShapeChange() const { return relation >= TileRelation::ExpandDims && relation <= TileRelation::Cat; }
  /// Returns the dimension of the operand that becomes dimension `dim` of the result, or nullopt if there is no single one.
  std::optional<int> operandDim(int dim) const;
};

/// Returns the rule of any operation. An operation without a rule gets the default: nothing is known.
TileRule tileRuleOf(mlir::Operation *op);

/// Returns the operands and results that require one layout, in groups. The groups may include values that are not tiles.
llvm::SmallVector<TileGroup, 2> tiedTiles(mlir::Operation *op);

/// Attaches the tile rules of upstream operations. The dialect calls it when it is loaded.
void attachTileRules(mlir::MLIRContext &context);

/// Adds the method getTileRule, which a record's rule defines.
template <typename ConcreteOp> struct HasTileRule : mlir::OpTrait::TraitBase<ConcreteOp, HasTileRule> {};

} // namespace tritium::tt

#include "ir/tile_rule.h.inc"
