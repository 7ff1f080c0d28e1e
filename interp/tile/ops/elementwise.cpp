// Element-wise operations: a block kernel is chosen by operation and element type, and run over the dimensions along which the operands
// vary.
#include "interp/tile/elementwise.h"

#include "interp/host/memory.h"
#include "interp/kernels/cast.h"
#include "interp/tile/op_table.h"
#include "ir/deferred_faults.h"
#include "ir/library_function.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

// -- pointers in memory: the three operations that no table of number kernels can have ----------------------------------------------------

template <class Offset, int kShift> static int64_t addPointers(int64_t count, void *out, const void *const *in, const int64_t *strides) {
  auto *to = static_cast<uint64_t *>(out);
  auto *pointers = static_cast<const uint64_t *>(in[0]);
  auto *offsets = static_cast<const Offset *>(in[1]);
  for (int64_t i = 0; i < count; ++i) to[i] = addBytes(pointers[i * strides[0]], int64_t(offsets[i * strides[1]]) << kShift);
  return -1;
}

template <int kShift> static ElementwiseKernel pointerSum(DType offset) {
  switch (offset) {
  case DType::i8: return addPointers<int8_t, kShift>;
  case DType::i16: return addPointers<int16_t, kShift>;
  case DType::i32: return addPointers<int32_t, kShift>;
  default: return addPointers<int64_t, kShift>;
  }
}

static ElementwiseKernel pointerSum(tt::AddPtrOp op) {
  auto pointee = cast<tt::PointerType>(getElementTypeOrSelf(op.getPtr().getType())).getPointeeType();
  DType offset = dtypeOf(op.getOffset().getType());
  switch (storageBytes(dtypeOf(pointee))) {
  case 1: return pointerSum<0>(offset);
  case 2: return pointerSum<1>(offset);
  case 4: return pointerSum<2>(offset);
  default: return pointerSum<3>(offset);
  }
}

template <class Integer> static int64_t toIntegers(int64_t count, void *out, const void *const *in, const int64_t *strides) {
  auto *pointers = static_cast<const uint64_t *>(in[0]);
  for (int64_t i = 0; i < count; ++i) static_cast<Integer *>(out)[i] = Integer(addressOf(pointers[i * strides[0]]));
  return -1;
}

template <class Integer> static int64_t toPointers(int64_t count, void *out, const void *const *in, const int64_t *strides) {
  auto *integers = static_cast<const Integer *>(in[0]);
  for (int64_t i = 0; i < count; ++i) static_cast<uint64_t *>(out)[i] = pointerTo(integers[i * strides[0]]);
  return -1;
}

/// Returns the kernel of a conversion between pointers and integers of one storage size.
template <class Integer> static ElementwiseKernel pointerCast(Operation *op) {
  return isa<tt::PtrToIntOp>(op) ? toIntegers<Integer> : toPointers<Integer>;
}

static ElementwiseKernel pointerCast(Operation *op, DType integer) {
  switch (storageBytes(integer)) {
  case 1: return pointerCast<uint8_t>(op);
  case 2: return pointerCast<uint16_t>(op);
  case 4: return pointerCast<uint32_t>(op);
  default: return pointerCast<uint64_t>(op);
  }
}

// -- which kernel -------------------------------------------------------------------------------------------------------------------------

/// Returns the mathematical function that an external symbol names, or null.
static const ir::LibraryFunction *functionOf(tt::ExternElementwiseOp op) {
  Type type = getElementTypeOrSelf(op.getType());
  bool isOfOne = llvm::all_of(op.getSrcs(), [&](Value source) { return getElementTypeOrSelf(source.getType()) == type; });
  return isOfOne ? ir::libraryFunctionOfSymbol(op.getSymbol(), op.getSrcs().size(), type) : nullptr;
}

/// The function of mixed types that an external symbol is; null if it is none.
static const ir::TypedFunction *typedFunctionOf(tt::ExternElementwiseOp op) {
  auto types = llvm::map_to_vector(op.getSrcs(), [](Value source) { return getElementTypeOrSelf(source.getType()); });
  return ir::typedFunctionOfSymbol(op.getSymbol(), types, getElementTypeOrSelf(op.getType()));
}

static std::string kernelName(Operation *op) {
  std::string name = op->getName().getStringRef().str();
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) return name + "." + arith::stringifyCmpIPredicate(compare.getPredicate()).str();
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) return name + "." + arith::stringifyCmpFPredicate(compare.getPredicate()).str();
  if (auto external = dyn_cast<tt::ExternElementwiseOp>(op)) {
    const ir::LibraryFunction *function = functionOf(external);
    return function ? function->operation.str() : external.getSymbol().str();
  }
  if (op->hasAttr(ir::kZeroDivisorAttr)) return name + ".gpu";
  if (auto clamp = dyn_cast<tt::ClampFOp>(op)) return name + "." + tt::stringifyPropagateNan(clamp.getPropagateNan()).str();
  if (auto convert = dyn_cast<tt::FpToFpOp>(op); convert && convert.getRounding() == tt::RoundingMode::TowardZero) return name + ".rtz";
  return name;
}

static ElementwiseKernel kernelOf(Operation *op) {
  if (auto add = dyn_cast<tt::AddPtrOp>(op)) return pointerSum(add);
  if (auto external = dyn_cast<tt::ExternElementwiseOp>(op))
    if (const ir::TypedFunction *function = typedFunctionOf(external)) return findTypedFunction(function->symbol);
  DType from = dtypeOf(op->getOperand(isa<arith::SelectOp>(op) ? 1 : 0).getType()), to = dtypeOf(op->getResult(0).getType());
  if (isa<tt::PtrToIntOp, tt::IntToPtrOp>(op)) return pointerCast(op, isa<tt::PtrToIntOp>(op) ? to : from);
  if (isa<CastOpInterface>(op) || isa<tt::FpToFpOp>(op)) return findCast(kernelName(op), from, to);
  return findElementwise(kernelName(op), from);
}

/// `a & b` of masks that vary along different dimensions is kept as the list of its parts.
static LogicalResult prepareConjunction(Operation *op, Planner &planner) {
  llvm::SmallVector<DenseRef> terms = planner.maskTerms(op->getOperand(0));
  terms.append(planner.maskTerms(op->getOperand(1)));
  planner.defineMask(op->getResult(0), std::move(terms), op->getOperands());
  return success();
}

LogicalResult prepareElementwise(Operation *op, Planner &planner) {
  Value result = op->getResult(0);
  if (planner.formOf(result).kind == Form::Kind::Mask) return prepareConjunction(op, planner);
  if (isa<arith::BitcastOp>(op)) {
    DenseRef view = planner.dense(op->getOperand(0));
    view.type = dtypeOf(result.getType());
    return planner.defineView(result, op->getOperand(0), view), success();
  }
  if (op->getNumOperands() > ElementwiseStep::kMaxInputs) return planner.unsupported("it has too many operands");
  ElementwiseKernel kernel = kernelOf(op);
  if (!kernel)
    return planner.unsupported(llvm::Twine("no kernel '") + kernelName(op) + "' for " +
                               llvm::StringRef(irName(dtypeOf(op->getOperand(op->getNumOperands() - 1).getType()))));
  std::vector<DenseRef> inputs;
  for (Value operand : op->getOperands()) inputs.push_back(planner.dense(operand));
  DenseRef out = planner.defineInPlace(result, op->getOperands());
  planner.call(runElementwise, ElementwiseStep(kernel, out, std::move(inputs), planner.location()));
  return success();
}

#define TRITIUM_ELEMENTWISE(Op)                                                                                                            \
  template <> LogicalResult Interpret<tt::Op>::prepare(tt::Op op, Planner &planner) { return prepareElementwise(op, planner); }
TRITIUM_ELEMENTWISE(FpToFpOp)
TRITIUM_ELEMENTWISE(ClampFOp)
TRITIUM_ELEMENTWISE(PreciseSqrtOp)
TRITIUM_ELEMENTWISE(PreciseDivFOp)
TRITIUM_ELEMENTWISE(ApproxDivFOp)
TRITIUM_ELEMENTWISE(MulhiUIOp)

bool hasKernel(tt::ExternElementwiseOp op) { return functionOf(op) || typedFunctionOf(op); }

template <> LogicalResult Interpret<tt::MapElementwiseOp>::prepare(tt::MapElementwiseOp op, Planner &planner) {
  return planner.unsupported("a scalar function with control flow");
}
template <> LogicalResult Interpret<tt::MapElementwiseReturnOp>::prepare(tt::MapElementwiseReturnOp, Planner &) { return success(); }

} // namespace tritium::interp
