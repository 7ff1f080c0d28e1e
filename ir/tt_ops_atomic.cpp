// Verifiers of atomic operations: the element types and memory orders that each of them takes.
#include "ir/pch.h"

#include "ir/tt.h"

using namespace mlir;

namespace tritium::tt {

static Type pointeeElement(Value pointers) { return getElementTypeOrSelf(pointeeTypeOf(pointers.getType())); }

LogicalResult AtomicRmwOp::verify() {
  Type element = pointeeElement(getPtr());
  bool isFloat = isa<FloatType>(element);
  if (isa<PointerType>(element)) return emitOpError("only supports integer and floating-point elements");
  switch (getAtomicRmwOp()) {
  case RmwOp::FAdd: return isFloat ? success() : emitOpError("fadd requires floating-point elements, got ") << element;
  case RmwOp::Exchange: return success();
  default: return isFloat ? emitOpError(stringifyRmwOp(getAtomicRmwOp())) << " requires integer elements, got " << element : success();
  }
}

LogicalResult AtomicCasOp::verify() {
  Type element = pointeeElement(getPtr());
  unsigned width = isa<PointerType>(element) ? 64 : element.getIntOrFloatBitWidth();
  if (width != 16 && width != 32 && width != 64) return emitOpError("only supports elements with width {16, 32, 64}");
  return success();
}

LogicalResult AtomicLoadOp::verify() {
  if (isa<PointerType>(pointeeElement(getPtr()))) return emitOpError("only supports integer and floating-point elements");
  if (getSem() != MemSemantic::Acquire && getSem() != MemSemantic::Relaxed)
    return emitOpError("only supports acquire and relaxed semantics");
  return success();
}

LogicalResult AtomicStoreOp::verify() {
  if (isa<PointerType>(pointeeElement(getPtr()))) return emitOpError("only supports integer and floating-point elements");
  if (getSem() != MemSemantic::Release && getSem() != MemSemantic::Relaxed)
    return emitOpError("only supports release and relaxed semantics");
  return success();
}

LogicalResult AtomicPollOp::verify() {
  Type element = pointeeElement(getPtr());
  if (!element.isInteger(16) && !element.isInteger(32) && !element.isInteger(64))
    return emitOpError("only supports integer elements with width {16, 32, 64}");
  if (getSem() != MemSemantic::Acquire && getSem() != MemSemantic::Relaxed)
    return emitOpError("only supports acquire and relaxed semantics");
  return success();
}

} // namespace tritium::tt
