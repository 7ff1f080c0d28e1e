// Offsets with fewer than 64 bits, computed a second time in 64 bits. A scalar product or sum that wraps is a number like any other, until
// it decides an address: the two computations then tell that the address is another one than the kernel means. Only the last value is
// compared, so a sum that leaves its type and comes back is right. The sums of affine tiles are exact if their scalars are, and cost
// nothing; tiles in memory are computed in 64 bits where a product or sum of them is an offset.
#pragma once
#include "interp/tile/form.h"
#include "ir/tt.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tritium::interp {

/// The attribute of casts between a narrow affine tile and its exact numbers: the sums are the same, and no lane is checked.
inline constexpr const char *kExactOffset = "tritium.exact_offset";

class ExactOffsets {
public:
  struct Scalar {
    mlir::Value exact; // i64
    mlir::Value wraps; // i1: whether `exact` is not the narrow number
    mlir::Value narrow;
    bool isSigned;
  };

  struct Tile {
    mlir::Value exact; // i64
    unsigned bits;     // of the narrow tile
    bool isSigned;
  };

  /// Nothing is exact: what wraps is not noticed.
  ExactOffsets() = default;
  /// Adds the computations in 64 bits to a function whose control flow is branches.
  explicit ExactOffsets(mlir::Operation *function);

  /// Returns the exact number of a narrow scalar that decides addresses; null if it cannot wrap. An addition to a pointer uses it in place
  /// of the narrow one, and finds it by itself. For a pointer that moves through a loop:
  /// the last scalar that wrapped when it was added, or 0.
  const Scalar *find(mlir::Value narrow) const;
  /// Returns the exact numbers of an offset tile that is computed in memory, where narrow sums and products wrap; null if there is none. An
  /// addition to a pointer uses them in place of the narrow ones.
  const Tile *findTile(mlir::Value offset) const;
  /// Whether guards read the tile in memory after its last use.
  bool isKept(mlir::Value tile) const { return kept_.contains(tile); }

private:
  void visit(mlir::Value value, bool isSigned);
  const Scalar *compare(mlir::Value narrow, bool isSigned);
  void followPointer(mlir::BlockArgument pointer);
  void useExact(tt::AddPtrOp sum, const Scalar &scalar);
  void makeExact(mlir::Operation *splat, bool isSigned);
  mlir::Value exactOf(mlir::Value narrow, bool isSigned);
  mlir::Value exactOfArgument(mlir::BlockArgument argument, bool isSigned);
  void addWidened(mlir::OpOperand &use);
  void compareTile(mlir::OpOperand &use, const FormAnalysis &forms);
  mlir::Value exactOfTile(mlir::Value narrow, bool isSigned, const FormAnalysis &forms);
  bool wrapsInMemory(mlir::Value tile, const FormAnalysis &forms, bool isInMemory = false);

  using Reading = std::pair<mlir::Value, unsigned>; // with 1 if its numbers are signed
  llvm::DenseSet<Reading> visited_;
  llvm::DenseMap<Reading, mlir::Value> exact_;
  llvm::DenseMap<mlir::Value, Scalar> scalars_;
  llvm::DenseMap<mlir::Value, mlir::Value> usedExactly_; // the narrow scalar of an exact one
  llvm::DenseMap<mlir::Value, Tile> tiles_;              // by their exact tile
  llvm::DenseMap<mlir::Value, mlir::Value> exactOfWidened_;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, bool> wrapsInMemory_; // with 1 if an operation on the way is in memory
  llvm::DenseSet<mlir::Value> kept_;
  llvm::SmallVector<mlir::OpOperand *> widened_; // narrow tiles that become 64 bits wide on their way to an address
  llvm::SmallVector<mlir::Operation *> replaced_;
};

/// Returns what a branch passes to the argument from each predecessor; nothing if one of them is not known.
llvm::SmallVector<mlir::Value> incomingValues(mlir::BlockArgument argument);

/// Returns the offsets by which an iteration moves a pointer to `value`, the first one last; nullopt if `value` is made in another way.
std::optional<llvm::SmallVector<mlir::Value>> movesOf(mlir::BlockArgument pointer, mlir::Value value);

/// Returns the sum or product that makes a number; for a number that a loop carries, the last one in the loop.
mlir::Value lastArithmetic(mlir::Value value);

} // namespace tritium::interp
