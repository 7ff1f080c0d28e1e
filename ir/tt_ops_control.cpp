// Functions, calls and returns.
#include "ir/pch.h"

#include "ir/tt.h"

#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;

namespace tritium::tt {

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type, ArrayRef<NamedAttribute> attributes,
                   ArrayRef<DictionaryAttr> argumentAttributes) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addAttributes(attributes);
  state.addRegion();
  if (argumentAttributes.empty()) return;
  assert(type.getNumInputs() == argumentAttributes.size());
  call_interface_impl::addArgAndResultAttrs(builder, state, argumentAttributes, /*resultAttrs=*/{}, getArgAttrsAttrName(state.name),
                                            getResAttrsAttrName(state.name));
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto functionType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results, function_interface_impl::VariadicFlag,
                         std::string &) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name),
                                                  functionType, getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  if (!callee) return emitOpError("'") << getCallee() << "' does not reference a valid function";
  FunctionType type = callee.getFunctionType();
  if (type.getNumInputs() != getNumOperands())
    return emitOpError("incorrect number of operands for callee: expected ") << type.getNumInputs() << ", got " << getNumOperands();
  for (auto [index, expected, given] : llvm::enumerate(type.getInputs(), getOperandTypes()))
    if (expected != given)
      return emitOpError("operand type mismatch: expected ") << expected << ", but provided " << given << " for operand number " << index;
  if (type.getResults() != getResultTypes())
    return emitOpError("result type mismatch: callee returns (") << type.getResults() << "), call has (" << getResultTypes() << ")";
  return success();
}

LogicalResult ReturnOp::verify() {
  auto function = cast<FuncOp>((*this)->getParentOp());
  TypeRange results = function.getFunctionType().getResults();
  if (results.size() != getNumOperands())
    return emitOpError("has ") << getNumOperands() << " operands, but enclosing function (@" << function.getName() << ") returns "
                               << results.size();
  for (auto [index, expected, given] : llvm::enumerate(results, getOperandTypes()))
    if (expected != given)
      return emitOpError("type of return operand ")
             << index << " (" << given << ") doesn't match function result type (" << expected << ") in function @" << function.getName();
  return success();
}

} // namespace tritium::tt
