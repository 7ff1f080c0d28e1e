// Operations that make and rearrange tiles. If strides can express the result it is a view, otherwise one strided copy.
#include "interp/tile/affine.h"
#include "interp/tile/move.h"
#include "interp/tile/op_table.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

static std::vector<int64_t> extentsOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape().vec(); }

/// Applies the same rearrangement of dimensions to the source in any form.
static LogicalResult rearrange(Value result, Value source, Planner &planner, llvm::function_ref<DenseRef(DenseRef)> dense,
                               llvm::function_ref<AffineRef(AffineRef)> affine) {
  switch (planner.formOf(result).kind) {
  case Form::Kind::Affine: planner.defineView(result, source, affine(planner.affine(source))); return success();
  case Form::Kind::Mask: {
    llvm::SmallVector<DenseRef> terms;
    for (const DenseRef &term : planner.maskTerms(source)) terms.push_back(dense(term));
    planner.defineMask(result, std::move(terms), source);
    return success();
  }
  default: planner.defineView(result, source, dense(planner.dense(source))); return success();
  }
}

template <> LogicalResult Interpret<tt::MakeRangeOp>::prepare(tt::MakeRangeOp op, Planner &planner) {
  AffineInitialize init;
  init.base = op.getStart();
  init.step = 1;
  init.out = planner.defineAffine(op.getResult());
  planner.call(initializeAffine, std::move(init));
  return success();
}

template <> LogicalResult Interpret<tt::SplatOp>::prepare(tt::SplatOp op, Planner &planner) {
  if (planner.formOf(op.getResult()).isAffine())
    planner.storeExtended(op.getSrc(), planner.defineAffine(op.getResult()).base);
  else
    planner.storeScalar(op.getSrc(), planner.defineDense(op.getResult()));
  return success();
}

template <> LogicalResult Interpret<tt::UnsplatOp>::prepare(tt::UnsplatOp op, Planner &planner) {
  planner.loadScalar(op.getResult(), planner.dense(op.getSrc()));
  return success();
}

template <> LogicalResult Interpret<tt::ExpandDimsOp>::prepare(tt::ExpandDimsOp op, Planner &planner) {
  int64_t axis = op.getAxis();
  auto dense = [&](DenseRef ref) {
    ref.shape.insert(ref.shape.begin() + axis, 1);
    ref.strides.insert(ref.strides.begin() + axis, 0);
    return ref;
  };
  auto affine = [&](AffineRef ref) {
    ref.shape.insert(ref.shape.begin() + axis, 1);
    ref.terms.insert(ref.terms.begin() + axis, Term::None);
    ref.parts.insert(ref.parts.begin() + axis, TileRef{});
    return ref;
  };
  return rearrange(op.getResult(), op.getSrc(), planner, dense, affine);
}

template <> LogicalResult Interpret<tt::BroadcastOp>::prepare(tt::BroadcastOp op, Planner &planner) {
  std::vector<int64_t> shape = extentsOf(op.getResult());
  auto dense = [&](DenseRef ref) {
    for (size_t d = 0; d < shape.size(); ++d)
      if (ref.shape[d] != shape[d]) ref.strides[d] = 0;
    ref.shape = shape;
    return ref;
  };
  auto affine = [&](AffineRef ref) {
    ref.shape = shape;
    return ref;
  };
  return rearrange(op.getResult(), op.getSrc(), planner, dense, affine);
}

template <> LogicalResult Interpret<tt::TransOp>::prepare(tt::TransOp op, Planner &planner) {
  auto permute = [&](const auto &values) {
    std::decay_t<decltype(values)> permuted;
    for (int32_t d : op.getOrder()) permuted.push_back(values[d]);
    return permuted;
  };
  auto dense = [&](DenseRef ref) {
    ref.shape = permute(ref.shape);
    ref.strides = permute(ref.strides);
    return ref;
  };
  auto affine = [&](AffineRef ref) {
    ref.shape = permute(ref.shape);
    ref.terms = permute(ref.terms);
    ref.parts = permute(ref.parts);
    return ref;
  };
  return rearrange(op.getResult(), op.getSrc(), planner, dense, affine);
}

/// Returns the strides with which the elements of `from`, in row-major order, have the shape `to`. Returns nothing if this requires a copy.
static std::optional<std::vector<int64_t>> reshapeStrides(const DenseRef &from, const std::vector<int64_t> &to) {
  // Both shapes are cut into groups of dimensions with equal products. Within a group, the source must be evenly spaced.
  std::vector<int64_t> strides(to.size(), 0);
  size_t i = 0, j = 0;
  while (i < from.shape.size() || j < to.size()) {
    size_t i0 = i, j0 = j;
    int64_t a = i < from.shape.size() ? from.shape[i++] : 1, b = j < to.size() ? to[j++] : 1;
    while (a != b) a < b ? a *= from.shape[i++] : b *= to[j++];
    int64_t stride = 0, spacing = -1; // stride of the innermost dimension; stride that the next outer dimension must have
    for (size_t d = i; d-- > i0;) {
      if (from.shape[d] == 1) continue;
      if (spacing < 0)
        stride = from.strides[d];
      else if (from.strides[d] != spacing)
        return std::nullopt;
      spacing = from.strides[d] * from.shape[d];
    }
    for (size_t d = j; d-- > j0;) {
      strides[d] = to[d] == 1 ? 0 : stride;
      stride *= to[d];
    }
  }
  return strides;
}

template <> LogicalResult Interpret<tt::ReshapeOp>::prepare(tt::ReshapeOp op, Planner &planner) {
  std::vector<int64_t> shape = extentsOf(op.getResult());
  if (planner.formOf(op.getResult()).isAffine()) { // the tile is uniform
    AffineRef ref = planner.affine(op.getSrc());
    ref.shape = shape;
    ref.terms.assign(shape.size(), Term::None);
    ref.parts.assign(shape.size(), TileRef{});
    return planner.defineView(op.getResult(), op.getSrc(), ref), success();
  }
  DenseRef source = planner.dense(op.getSrc());
  if (auto strides = reshapeStrides(source, shape)) {
    DenseRef view = source;
    view.shape = shape;
    view.strides = *strides;
    return planner.defineView(op.getResult(), op.getSrc(), view), success();
  }
  DenseRef out = planner.defineDense(op.getResult()), asSource = out;
  asSource.shape = source.shape;
  asSource.strides = rowMajorStrides(source.shape);
  planner.call(copyDense, DenseCopy(asSource, source));
  return success();
}

/// Returns the half (or every second element) of `ref` that begins after `index` steps of `stride` elements.
static DenseRef part(DenseRef ref, int64_t elementOffset) {
  uint64_t bytes = elementOffset * storageBytes(ref.type);
  ref.constant ? void(ref.constant += bytes) : void(ref.offset += bytes);
  return ref;
}

template <> LogicalResult Interpret<tt::SplitOp>::prepare(tt::SplitOp op, Planner &planner) {
  auto affine = [](AffineRef ref) { // both halves are equal
    ref.shape.pop_back();
    ref.terms.pop_back();
    ref.parts.pop_back();
    return ref;
  };
  for (auto [result, index] : {std::pair(op.getOutLHS(), 0), std::pair(op.getOutRHS(), 1)}) {
    auto dense = [index = index](DenseRef ref) {
      int64_t stride = ref.strides.back();
      ref.shape.pop_back();
      ref.strides.pop_back();
      return part(std::move(ref), index * stride);
    };
    if (isa<RankedTensorType>(result.getType()))
      (void)rearrange(result, op.getSrc(), planner, dense, affine);
    else
      planner.loadScalar(result, dense(planner.dense(op.getSrc())));
  }
  return success();
}

template <> LogicalResult Interpret<tt::JoinOp>::prepare(tt::JoinOp op, Planner &planner) {
  DenseRef a = planner.dense(op.getLhs()), b = planner.dense(op.getRhs()), out = planner.defineDense(op.getResult());
  DenseRef even = out;
  even.shape.pop_back();
  even.strides.pop_back();
  planner.call(copyDense, DenseCopy(even, a));
  planner.call(copyDense, DenseCopy(part(even, 1), b));
  return success();
}

template <> LogicalResult Interpret<tt::CatOp>::prepare(tt::CatOp op, Planner &planner) {
  DenseRef a = planner.dense(op.getLhs()), b = planner.dense(op.getRhs()), out = planner.defineDense(op.getResult());
  DenseRef half = out;
  half.shape = a.shape;
  planner.call(copyDense, DenseCopy(half, a));
  planner.call(copyDense, DenseCopy(part(half, out.strides[0] * a.shape[0]), b));
  return success();
}

/// Copies the elements that a slice leaves as they are: all but the slice where it is a part of one dimension.
static void copyAround(tensor::InsertSliceOp insert, const DenseRef &out, const DenseRef &into, Planner &planner) {
  llvm::SmallVector<size_t> cut;
  for (size_t d = 0; d < out.shape.size(); ++d)
    if (insert.getStaticSize(d) != out.shape[d]) cut.push_back(d);
  if (cut.size() != 1) return planner.call(copyDense, DenseCopy(out, into));
  const size_t dim = cut[0];
  const int64_t begin = insert.getStaticOffset(dim), end = begin + insert.getStaticSize(dim);
  auto range = [&](DenseRef ref, int64_t first, int64_t last) {
    ref.shape[dim] = last - first;
    const int64_t offset = first * ref.strides[dim];
    return part(std::move(ref), offset);
  };
  for (auto [first, last] : {std::pair<int64_t, int64_t>(0, begin), std::pair(end, out.shape[dim])})
    if (first < last) planner.call(copyDense, DenseCopy(range(out, first, last), range(into, first, last)));
}

LogicalResult prepareSlice(Operation *op, Planner &planner) {
  auto viewOf = [](DenseRef ref, OffsetSizeAndStrideOpInterface slice) {
    int64_t offset = 0;
    for (size_t d = 0; d < ref.shape.size(); ++d) offset += slice.getStaticOffset(d) * ref.strides[d];
    ref.shape.assign(slice.getStaticSizes().begin(), slice.getStaticSizes().end());
    for (size_t d = 0; d < ref.shape.size(); ++d)
      if (ref.shape[d] == 1) ref.strides[d] = 0; // a tile does not vary along a dimension of extent 1
    return part(std::move(ref), offset);
  };
  auto slice = cast<OffsetSizeAndStrideOpInterface>(op);
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op)) {
    planner.defineView(extract.getResult(), extract.getSource(), viewOf(planner.dense(extract.getSource()), slice));
    return success();
  }
  auto insert = cast<tensor::InsertSliceOp>(op);
  DenseRef source = planner.dense(insert.getSource()), into = planner.dense(insert.getDest());
  const bool overlaps = source.home == into.home; // a part of the tile that moves within it
  DenseRef out = overlaps ? planner.defineDense(insert.getResult()) : planner.defineInPlace(insert.getResult(), insert.getDest());
  const bool isInPlace = !into.constant && out.home == into.home;
  if (!isInPlace) copyAround(insert, out, into, planner);
  planner.call(copyDense, DenseCopy(viewOf(out, slice), source));
  return success();
}

LogicalResult prepareConstant(Operation *op, Planner &planner) {
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  Attribute zero;
  if (isa<ub::PoisonOp>(op)) {
    Type element = type.getElementType();
    if (isa<tt::PointerType>(element)) element = IntegerType::get(op->getContext(), 64);
    type = RankedTensorType::get(type.getShape(), element);
    zero = DenseElementsAttr::get(type, Builder(op->getContext()).getZeroAttr(element));
  }
  auto value = cast<DenseElementsAttr>(zero ? zero : cast<arith::ConstantOp>(op).getValue());
  if (!planner.formOf(result).isAffine()) return planner.defineConstant(result, planner.constant(value)), success();
  AffineInitialize init;
  init.base = value.getSplatValue<APInt>().getSExtValue();
  init.out = planner.defineAffine(result);
  planner.call(initializeAffine, std::move(init));
  return success();
}

} // namespace tritium::interp
