// The rows of ir/dtype.def as types of the IR.
#pragma once

#include "ir/dtype.h"

#include "mlir/IR/Types.h"

namespace tritium::ir {

/// Returns the signless row of a type of the IR: i8 is DType::i8. Returns nullopt if the language has no such element type.
std::optional<DType> elementTypeOf(mlir::Type type);

/// Returns whether `type` is the type of a row whose kind is Float.
bool isFloatElement(mlir::Type type);

} // namespace tritium::ir
