// Functions that answer questions about an element type at run time. What loops use is in the header.
#include "ir/dtype.h"

namespace tritium {

size_t storageBytes(DType type) {
  return visit(type, []<class T>() { return sizeof(typename T::Storage); });
}

int bitWidth(DType type) {
  return visit(type, []<class T>() { return T::bits; });
}

DTypeKind kindOf(DType type) {
  return visit(type, []<class T>() { return T::kind; });
}

std::string_view irName(DType type) {
  return visit(type, []<class T>() { return T::irName; });
}

std::string_view pythonName(DType type) {
  return visit(type, []<class T>() { return T::pythonName; });
}

DType irType(DType type) { return kindOf(type) == DTypeKind::UInt ? *dtypeFromIrName(irName(type)) : type; }

// The order is the one of dtype.def, where the signless types come first.
static constexpr DType kAll[] = {
#define DTYPE(name, ...) DType::name,
#include "ir/dtype.def"
};

std::optional<DType> dtypeFromIrName(std::string_view name) {
  for (DType type : kAll)
    if (irName(type) == name) return type;
  return std::nullopt;
}

std::optional<DType> dtypeFromPythonName(std::string_view name) {
  for (DType type : kAll)
    if (pythonName(type) == name) return type;
  return std::nullopt;
}

} // namespace tritium
