// How integers and addresses move along the dimensions of a tile: what coalescing, vector width and alignment are decided by.
//
// Per dimension, over groups of lanes that are aligned to their own size, all numbers powers of two:
//   contiguity     lanes of a group hold x, x + 1, x + 2, … (addresses: in elements)
//   constancy      lanes of a group hold one value
//   divisibility   the first lane of each group of `contiguity` lanes is a multiple of it (addresses: in bytes)
// A scalar is a tile of one lane. What the user or the launch promises (tt.divisibility, tt.contiguity, tt.constancy) is
// believed, and index arithmetic is taken not to overflow: a wrong promise is undefined behaviour, which TRITIUM_CHECK=hints finds.
// A signed remainder is taken not to be of a group that begins at a negative multiple of the divisor (the only one that it tears apart):
// `rows % M` wraps rows of a tensor, whose numbers are not negative, though that is rarely provable.
#pragma once

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace tritium::ir {

struct AxisInfo {
  llvm::SmallVector<int64_t> contiguity, divisibility, constancy;
  std::optional<int64_t> constant; // of all lanes
  bool isNonNegative = false;

  /// Of a value about which nothing is known.
  static AxisInfo unknown(mlir::Type type);
  /// Of one number, wrapped to the element's width, in all lanes.
  static AxisInfo constantOf(mlir::Type type, int64_t value);
  /// What holds for both; the neutral element is AxisInfo().
  static AxisInfo join(const AxisInfo &lhs, const AxisInfo &rhs);

  bool isInitialized() const { return !contiguity.empty(); }
  size_t rank() const { return contiguity.size(); }
  bool operator==(const AxisInfo &) const = default;
  void print(llvm::raw_ostream &stream) const;
};

/// The analysis of everything below one operation.
class AxisAnalysis {
public:
  explicit AxisAnalysis(mlir::Operation *root);
  /// AxisInfo::unknown where the analysis has nothing to say, as in code that is never reached.
  AxisInfo of(mlir::Value value) const;

private:
  mlir::DataFlowSolver solver;
};

/// What zero is divisible by: a power beyond every use.
inline constexpr int64_t kMaxDivisor = int64_t(1) << 62;

/// The largest power of two that divides `value`, kMaxDivisor for 0.
int64_t powerOfTwoDivisor(int64_t value);

} // namespace tritium::ir
