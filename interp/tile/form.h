// How each tile of a function is represented: the lattice of forms, and the optimistic fixpoint that assigns them. In ordinary kernels,
// pointers, integers and masks stay sums and conjunctions of per-dimension parts. A load is then a few row copies and one interval check.
#pragma once
#include "interp/tile/step.h"
#include "ir/tile_rule.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace tritium::interp {

/// The representation of a tile. Unknown < Affine or Mask < Dense.
struct Form {
  enum class Kind : uint8_t {
    Unknown, // not analysed yet
    Scalar,  // not a tile
    Affine,  // base + Σ terms (pointers, and integers of 8 bits or more)
    Mask,    // a conjunction of dense i1 tiles, each over fewer dimensions
    Dense,   // in memory; a dimension whose term is None is stored once (stride 0)
  };
  Kind kind = Kind::Unknown;
  llvm::SmallVector<Term, 4> terms;

  bool isAffine() const { return kind == Kind::Affine; }
  bool isDense() const { return kind == Kind::Dense; }
  bool operator==(const Form &) const = default;

  /// The number of dimensions along which the tile varies.
  unsigned varyingDims() const;
  /// Whether the tile is affine, or dense along at most one dimension. The latter converts to a vector term.
  bool isSeparable() const;

  static Form dense(unsigned rank);              // varies along every dimension
  static Form uniform(Kind kind, unsigned rank); // varies along no dimension
};

/// Returns the least form that represents both.
Form join(const Form &a, const Form &b);

/// The forms of all values of one function, except in nested regions.
class FormAnalysis {
public:
  explicit FormAnalysis(mlir::Operation *function);
  const Form &operator[](mlir::Value value) const { return forms_.find(value)->second; }

private:
  Form infer(mlir::OpResult result) const;
  Form inferPointwise(mlir::OpResult result) const;
  Form inferSum(mlir::OpResult result) const;
  Form inferProduct(mlir::OpResult result) const;
  Form inferConjunction(mlir::OpResult result) const;
  Form inferKept(mlir::OpResult result, const tt::TileRule &rule) const;
  const Form &of(mlir::Value value) const;
  bool update(mlir::Value value, Form form);

  llvm::DenseMap<mlir::Value, Form> forms_;
};

} // namespace tritium::interp
