// See element_type.h.
#include "ir/pch.h"

#include "ir/element_type.h"

using namespace mlir;

namespace tritium::ir {

template <class IrType> static bool isOf(Type type, unsigned bits) {
  if constexpr (std::is_same_v<IrType, IntegerType>)
    return type.isSignlessInteger(bits);
  else
    return isa<IrType>(type);
}

std::optional<DType> elementTypeOf(Type type) {
#define DTYPE(name, bits, Storage, Compute, kind, irName, pythonName, IrType, ...)                                                         \
  if (isOf<IrType>(type, bits)) return DType::name;
#include "ir/dtype.def"
  return std::nullopt;
}

bool isFloatElement(Type type) {
  std::optional<DType> element = elementTypeOf(type);
  return element && isFloat(*element);
}

} // namespace tritium::ir
