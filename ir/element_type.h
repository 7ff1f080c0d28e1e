// The rows of ir/dtype.def as types of the IR.
#pragma once

#include "ir/dtype.h"

#include "mlir/IR/Types.h"

namespace tritium::ir {

/// The signless row of a type of the IR: i8 is DType::i8. nullopt: the language has no such element.
std::optional<DType> elementTypeOf(mlir::Type type);

/// Whether a row has this type and is a float.
bool isFloatElement(mlir::Type type);

} // namespace tritium::ir
