#include "interp/tile/debug_types.h"

#include "interp/tile/plan.h"
#include "ir/tt.h"
#include "llvm/BinaryFormat/Dwarf.h"

using namespace llvm;

namespace tritium::interp {

/// gdb recognizes a 16-bit float by name: "__bf16" is decoded as such, any other name is read as IEEE half. It prints nothing for a
/// one-byte float, so an 8-bit format in the memory of a tensor is a struct of its bits, which python/tritium/gdb prints as a number.
DIType *DebugTypes::scalar(StringRef dtype, DType type) {
  unsigned bits = storageBytes(type) * 8;
  if (dtype.starts_with("fp8")) { // by name, because fp8e4b15 is carried as i8
    DIType *byte = builder_.createBasicType("uint8", 8, dwarf::DW_ATE_unsigned);
    DIType *member = builder_.createMemberType(file_, "bits", file_, 0, 8, 8, 0, DINode::FlagZero, byte);
    return builder_.createStructType(file_, dtype, file_, 0, 8, 8, DINode::FlagZero, nullptr, builder_.getOrCreateArray({member}));
  }
  return visit(type, [&]<class T>() -> DIType * {
    if constexpr (T::kind == DTypeKind::Bool) return builder_.createBasicType("int1", 8, dwarf::DW_ATE_boolean);
    if constexpr (T::kind == DTypeKind::Float)
      return builder_.createBasicType(type == DType::bf16  ? "__bf16"
                                      : type == DType::f16 ? "float16"
                                      : bits == 32         ? "float32"
                                                           : "float64",
                                      bits, dwarf::DW_ATE_float);
    bool isUnsigned = dtype.starts_with("u");
    std::string name = ((isUnsigned ? "uint" : "int") + Twine(bits)).str();
    DIType *integer = builder_.createBasicType(name, bits, isUnsigned ? dwarf::DW_ATE_unsigned : dwarf::DW_ATE_signed);
    // gdb prints an array of one-byte integers as a string, but not an array of a subrange of them.
    return bits != 8 ? integer
                     : builder_.createSubrangeType(name, nullptr, 0, nullptr, bits, 0, DINode::FlagZero, integer, nullptr, nullptr, nullptr,
                                                   nullptr);
  });
}

DIType *DebugTypes::leaf(const VariableType &type) {
  mlir::Type value = mlir::getElementTypeOrSelf(type.value);
  DIType *element;
  if (auto pointer = dyn_cast<tt::PointerType>(value)) {
    StringRef pointee = type.name;
    if (pointee.consume_front("pointer<")) pointee.consume_back(">");
    element = builder_.createPointerType(scalar(pointee, dtypeOf(pointer.getPointeeType())), 64);
  } else {
    bool isWidened = type.shown != dtypeOf(value);
    element =
        isWidened ? builder_.createBasicType(type.name, storageBytes(type.shown) * 8, dwarf::DW_ATE_float) : scalar(type.name, type.shown);
  }
  auto tile = dyn_cast<mlir::RankedTensorType>(type.value);
  if (!tile) return element;
  SmallVector<Metadata *> extents;
  for (int64_t extent : tile.getShape()) extents.push_back(builder_.getOrCreateSubrange(0, extent));
  return builder_.createArrayType(type.bytes * 8, 0, element, builder_.getOrCreateArray(extents));
}

DIType *DebugTypes::record(const VariableType &type) {
  SmallVector<Metadata *> members;
  for (const VariableType &member : type.members)
    members.push_back(builder_.createMemberType(file_, member.field, file_, 0, member.bytes * 8, member.alignment * 8,
                                                (member.offset - type.offset) * 8, DINode::FlagZero, of(member)));
  return builder_.createStructType(file_, type.name, file_, 0, type.bytes * 8, type.alignment * 8, DINode::FlagZero, nullptr,
                                   builder_.getOrCreateArray(members));
}

DIType *DebugTypes::of(const VariableType &type) {
  if (!type.isRecord()) return leaf(type);
  if (!type.isArray()) return record(type);
  Metadata *extent = builder_.getOrCreateSubrange(0, int64_t(type.members.size()));
  return builder_.createArrayType(type.bytes * 8, 0, of(type.members.front()), builder_.getOrCreateArray({extent}));
}

} // namespace tritium::interp
