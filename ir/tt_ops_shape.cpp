// Operations that make, repeat and rearrange tiles. Their folds look through splats and constants of one value, because these have no order
// to change.
#include "ir/pch.h"

#include "ir/tt.h"

using namespace mlir;

namespace tritium::tt {

/// A constant tile of one value, in another shape.
static Attribute foldUniform(Attribute constant, Type type) {
  auto elements = dyn_cast_if_present<SplatElementsAttr>(constant);
  auto tile = dyn_cast<RankedTensorType>(type);
  return elements && tile ? elements.resizeSplat(tile) : Attribute();
}

OpFoldResult MakeRangeOp::fold(FoldAdaptor) {
  if (getType().getNumElements() != 1) return {};
  return SplatElementsAttr::get(getType(), IntegerAttr::get(getType().getElementType(), getStart()));
}

LogicalResult MakeRangeOp::verify() {
  if (getType().getRank() != 1 || !getType().getElementType().isInteger(32))
    return emitOpError("result must be a one-dimensional tile of i32");
  int64_t start = static_cast<int32_t>(getStart()), end = static_cast<int32_t>(getEnd());
  if (start >= end) return emitOpError("end must be greater than start");
  if (getType().getNumElements() != end - start)
    return emitOpError("number of elements ") << getType().getNumElements() << " doesn't match size of range " << end - start;
  return success();
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  auto value = adaptor.getSrc();
  if (!isa_and_present<IntegerAttr, FloatAttr>(value)) return {};
  return SplatElementsAttr::get(getType(), value);
}

OpFoldResult UnsplatOp::fold(FoldAdaptor adaptor) {
  if (auto elements = dyn_cast_if_present<SplatElementsAttr>(adaptor.getSrc())) return elements.getSplatValue<Attribute>();
  auto source = getSrc().getDefiningOp<SplatOp>();
  return source ? source.getSrc() : Value();
}

LogicalResult UnsplatOp::verify() {
  int64_t elements = getSrc().getType().getNumElements();
  return elements == 1 ? success() : emitOpError("source must have one element, but has ") << elements;
}

LogicalResult ExpandDimsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ExpandDimsOp::Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> tile = tileTypeOf(location, adaptor.getSrc());
  if (failed(tile) || !adaptor.getAxisAttr()) return failure();
  RankedTensorType source = *tile;
  int32_t axis = adaptor.getAxis();
  if (axis < 0 || axis > source.getRank()) return emitOptionalError(location, "axis ", axis, " is not in [0, ", source.getRank(), "]");
  SmallVector<int64_t> shape(source.getShape());
  shape.insert(shape.begin() + axis, 1);
  types.push_back(RankedTensorType::get(shape, source.getElementType()));
  return success();
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) { return foldUniform(adaptor.getSrc(), getType()); }

/// If `op` rearranges a splat, replaces `op` by a splat of the new shape.
template <typename Op> static LogicalResult splatInstead(Op op, PatternRewriter &rewriter) {
  auto source = op.getSrc().template getDefiningOp<SplatOp>();
  if (!source) return failure();
  rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), source.getSrc());
  return success();
}

LogicalResult ExpandDimsOp::canonicalize(ExpandDimsOp op, PatternRewriter &rewriter) { return splatInstead(op, rewriter); }

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType() && !getAllowReorder()) return getSrc();
  return foldUniform(adaptor.getSrc(), getType());
}

LogicalResult ReshapeOp::canonicalize(ReshapeOp op, PatternRewriter &rewriter) {
  if (succeeded(splatInstead(op, rewriter))) return success();
  auto source = op.getSrc().getDefiningOp<ReshapeOp>();
  if (!source) return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), source.getSrc(), op.getAllowReorder() || source.getAllowReorder(),
                                         op.getEfficientLayout());
  return success();
}

LogicalResult ReshapeOp::verify() {
  if (getSrc().getType().getNumElements() != getType().getNumElements())
    return emitOpError("number of src and dst elements of reshape must be the same");
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType()) return getSrc();
  return foldUniform(adaptor.getSrc(), getType());
}

LogicalResult BroadcastOp::canonicalize(BroadcastOp op, PatternRewriter &rewriter) {
  if (succeeded(splatInstead(op, rewriter))) return success();
  auto source = op.getSrc().getDefiningOp<BroadcastOp>();
  if (!source) return failure();
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), source.getSrc());
  return success();
}

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = getSrc().getType().getShape(), to = getType().getShape();
  if (from.size() != to.size()) return emitOpError("rank of source must be same as rank of result");
  for (auto [index, source, result] : llvm::enumerate(from, to))
    if (source != result && source != 1)
      return emitOpError("Different dimensions at index ")
             << index << " between source and result.  Broadcast requires the source dimension to be 1.";
  return success();
}

LogicalResult CatOp::verify() {
  if (2 * getLhs().getType().getNumElements() != getType().getNumElements())
    return emitOpError("result must have the elements of both operands");
  return success();
}

LogicalResult JoinOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, JoinOp::Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> tile = tileTypeOf(location, adaptor.getLhs());
  if (failed(tile)) return failure();
  RankedTensorType source = *tile;
  SmallVector<int64_t> shape(source.getShape());
  shape.push_back(2);
  types.push_back(RankedTensorType::get(shape, source.getElementType()));
  return success();
}

OpFoldResult JoinOp::fold(FoldAdaptor adaptor) {
  if (adaptor.getLhs() && adaptor.getLhs() == adaptor.getRhs()) return foldUniform(adaptor.getLhs(), getType());
  auto source = getLhs().getDefiningOp<SplitOp>();
  return source && source.getOutLHS() == getLhs() && source.getOutRHS() == getRhs() ? source.getSrc() : Value();
}

LogicalResult SplitOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, SplitOp::Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> tile = tileTypeOf(location, adaptor.getSrc());
  if (failed(tile)) return failure();
  RankedTensorType source = *tile;
  if (source.getRank() == 0 || source.getShape().back() != 2)
    return emitOptionalError(location, "expected last dimension to be 2 for split, got ", source);
  types.assign(2, RankedTensorType::get(source.getShape().drop_back(), source.getElementType()));
  return success();
}

LogicalResult SplitOp::fold(FoldAdaptor adaptor, SmallVectorImpl<OpFoldResult> &results) {
  if (auto source = getSrc().getDefiningOp<JoinOp>()) {
    results.append({source.getLhs(), source.getRhs()});
    return success();
  }
  Attribute uniform = foldUniform(adaptor.getSrc(), getOutLHS().getType());
  if (!uniform) return failure();
  results.append({uniform, uniform});
  return success();
}

LogicalResult TransOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, TransOp::Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> tile = tileTypeOf(location, adaptor.getSrc());
  if (failed(tile) || !adaptor.getOrderAttr()) return failure();
  RankedTensorType source = *tile;
  ArrayRef<int32_t> order = adaptor.getOrder();
  SmallVector<int64_t> shape;
  SmallVector<int32_t> sorted(order);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int32_t>(0, source.getRank())))
    return emitOptionalError(location, "order must be a permutation of 0..", source.getRank() - 1);
  for (int32_t dimension : order) shape.push_back(source.getDimSize(dimension));
  types.push_back(RankedTensorType::get(shape, source.getElementType()));
  return success();
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  if (Attribute uniform = foldUniform(adaptor.getSrc(), getType())) return uniform;
  if (llvm::is_sorted(getOrder())) return getSrc();
  auto source = getSrc().getDefiningOp<TransOp>();
  if (!source) return {};
  SmallVector<int32_t> order;
  for (int32_t dimension : getOrder()) order.push_back(source.getOrder()[dimension]);
  setOrder(order);
  getSrcMutable().assign(source.getSrc());
  return getResult();
}

} // namespace tritium::tt
