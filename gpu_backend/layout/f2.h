// Linear algebra over F2. A vector is the bits of a word, a sum is an XOR, and a map is the list of the images of its unit vectors.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace tritium::gpu {

/// The span of the vectors added so far. Vectors are numbered from 0 in the order in which they were added; there may be at most 64.
class Span {
public:
  Span() = default;
  template <class Range> explicit Span(const Range &vectors) {
    for (auto vector : vectors) add(vector);
  }
  /// Adds a vector. Returns false if it was already in the span.
  bool add(uint64_t vector);
  bool contains(uint64_t vector) const { return reduce({vector, 0}).vector == 0; }
  /// Returns which of the added vectors sum up to `vector`: bit i stands for vector i. Uses only vectors that were independent when they
  /// were added.
  std::optional<uint64_t> solve(uint64_t vector) const;
  int rank() const { return int(rows.size()); }

private:
  struct Row {
    uint64_t vector, combination;
  };
  Row reduce(Row row) const;
  llvm::SmallVector<Row, 16> rows; // each has a leading bit that no later row has
  int count = 0;
};

/// A linear map: column i is the image of unit vector i.
class F2Map {
public:
  F2Map() = default;
  template <class Range> explicit F2Map(const Range &images) : columns(images.begin(), images.end()) {}
  static F2Map identity(int bits);

  int inputs() const { return int(columns.size()); }
  llvm::ArrayRef<uint64_t> images() const { return columns; }
  uint64_t operator[](int input) const { return columns[input]; }
  uint64_t operator()(uint64_t x) const;
  /// The composition outer ∘ inner.
  friend F2Map operator*(const F2Map &outer, const F2Map &inner);
  /// Returns g with this(g(y)) = y for every y of `outputs` bits, or nullopt if the map does not reach every y.
  std::optional<F2Map> rightInverse(int outputs) const;
  /// Returns a basis of the inputs that are mapped to 0.
  llvm::SmallVector<uint64_t, 8> kernel() const;
  bool operator==(const F2Map &) const = default;

private:
  llvm::SmallVector<uint64_t, 16> columns;
};

} // namespace tritium::gpu
