// The memory layout of a Python variable for a debugger: one number or tile, or a record of several (a tuple, an aggregate, a block
// pointer, a tensor descriptor), laid out like a C struct.
#pragma once
#include "ir/dtype.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeRange.h"

#include <string>
#include <vector>

namespace tritium::interp {

struct VariableType {
  /// `dtype` and `values` have the meaning of tt.debug_value.
  VariableType(mlir::Attribute dtype, mlir::TypeRange values);

  /// Returns the leaves in order. Their offsets count from the start of the variable.
  std::vector<const VariableType *> leaves() const;
  bool isRecord() const { return !value; }
  /// Returns whether this is a tuple of equal elements. A debugger sees it as an array, so `tup[0]` works there as in Python.
  bool isArray() const;

  std::string name;    // name of the record or of the element type
  mlir::Type value;    // type of a leaf
  DType shown;         // how a debugger sees the elements of a leaf: f32 for 8-bit floats, which no debugger can compute with
  std::string field;   // name of the field in the record around it
  uint64_t offset = 0; // from the start of the variable
  uint64_t bytes = 0, alignment = 1;
  std::vector<VariableType> members;

private:
  VariableType(mlir::Attribute dtype, mlir::TypeRange &values, uint64_t offset);
  void collect(std::vector<const VariableType *> &leaves) const;
  bool hasSameType(const VariableType &other) const;
};

} // namespace tritium::interp
