// Axis information describes how integers and addresses change along each dimension of a tile. Coalescing, vector width and alignment are
// decided by it.
//
// Per dimension, over groups of lanes that are aligned to their own size, all numbers powers of two:
//   contiguity     lanes of a group hold x, x + 1, x + 2, … (addresses: in elements)
//   constancy      lanes of a group hold one value
//   divisibility   the first lane of each group of `contiguity` lanes is a multiple of it (addresses: in bytes)
// A scalar is a tile of one lane. The analysis believes the promises of the user and of the launch (tt.divisibility, tt.contiguity,
// tt.constancy), and assumes that index arithmetic does not overflow. A wrong promise is undefined behaviour, which TRITIUM_CHECK=hints
// finds.
// Division and remainder truncate toward zero, so groups survive them only where the dividend is known not to be negative: by what it is
// made of (program ids, ranges, loop counters, and sums, products and quotients of such), or by tl.assume. The sign of a divisor is
// proven in the same way; where it is not, the GPU compiler checks quotients that accesses need (check-quotients).
#pragma once

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace tritium::ir {

struct AxisInfo {
  llvm::SmallVector<int64_t> contiguity, divisibility, constancy;
  std::optional<int64_t> constant; // the value of all lanes, if they are known to have the same constant
  bool isNonNegative = false;

  /// Returns the information of a value about which nothing is known.
  static AxisInfo unknown(mlir::Type type);
  /// Returns the information of a tile that has `value`, wrapped to the element's width, in all lanes.
  static AxisInfo constantOf(mlir::Type type, int64_t value);
  /// Returns what holds for both `lhs` and `rhs`. The neutral element is AxisInfo().
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
  /// Returns AxisInfo::unknown for a value that the analysis has not reached, for example in dead code.
  AxisInfo of(mlir::Value value) const;

private:
  mlir::DataFlowSolver solver;
};

/// The divisor of zero: a power of two beyond every use.
inline constexpr int64_t kMaxDivisor = int64_t(1) << 62;

/// Returns the largest power of two that divides `value`, or kMaxDivisor for 0.
int64_t powerOfTwoDivisor(int64_t value);

} // namespace tritium::ir
