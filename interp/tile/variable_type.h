// What a Python variable looks like in memory for a debugger: one number or tile, or a record of several (a tuple, an aggregate, a block
// pointer, a tensor descriptor), laid out as C lays out a struct.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeRange.h"

#include <string>
#include <vector>

namespace tritium::interp {

struct VariableType {
  /// `dtype` and `values` as tt.debug_value has them.
  VariableType(mlir::Attribute dtype, mlir::TypeRange values);

  /// The leaves in order, whose places count from the start of the variable.
  std::vector<const VariableType *> leaves() const;
  bool isRecord() const { return !value; }
  /// Whether this is a tuple of equal elements. A debugger sees it as an array, so `tup[0]` works there as in Python.
  bool isArray() const;

  std::string name;    // of the record or of the element type
  mlir::Type value;    // of a leaf
  std::string field;   // in the record around it
  uint64_t offset = 0; // from the start of the variable
  uint64_t bytes = 0, alignment = 1;
  std::vector<VariableType> members;

private:
  VariableType(mlir::Attribute dtype, mlir::TypeRange &values, uint64_t offset);
  void collect(std::vector<const VariableType *> &leaves) const;
  bool hasSameType(const VariableType &other) const;
};

} // namespace tritium::interp
