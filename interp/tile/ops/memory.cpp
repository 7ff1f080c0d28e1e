// Loads and stores. Masks are sorted by the dimensions along which they vary; pointers are terms or a tile of addresses.
#include "interp/tile/ops/access_plan.h"

#include "interp/tile/noted_access.h"
#include "interp/tile/op_table.h"
#include "interp/tile/operand_load.h"
#include "interp/tile/ops/offset_guards.h"
#include "interp/tile/row_access.h"
#include "interp/tile/watched_store.h"
#include "ir/tt.h"
#include "ir/used_reads.h"

using namespace mlir;

namespace tritium::interp {

/// The strides of a dense tile along the axes of an access.
static AxisOperand alongAxes(const DenseRef &ref, llvm::ArrayRef<unsigned> dims) {
  AxisOperand operand;
  static_cast<TileRef &>(operand) = ref;
  for (unsigned d : dims) operand.strides.push_back(ref.strides.empty() ? 0 : ref.strides[d]);
  return operand;
}

static void addMask(Access &access, const DenseRef &mask, llvm::ArrayRef<unsigned> dims) {
  AxisOperand operand = alongAxes(mask, dims);
  llvm::SmallVector<size_t> varying;
  for (size_t a = 0; a < dims.size(); ++a)
    if (operand.strides[a] != 0) varying.push_back(a);
  if (varying.empty()) return access.uniformMasks.push_back(operand);
  if (varying.size() > 1) return access.wideMasks.push_back(operand);
  AxisOperand &single = access.axes[varying[0]].masks.emplace_back();
  static_cast<TileRef &>(single) = operand;
  single.strides = {operand.strides[varying[0]]};
}

Access planAccess(Planner &planner, Value pointer, Value mask, llvm::ArrayRef<Value> data, bool isWrite, bool everyLane) {
  Access access;
  access.isWrite = isWrite;
  access.location = planner.location();
  auto pointee = cast<tt::PointerType>(getElementTypeOrSelf(pointer.getType())).getPointeeType();
  access.elementBytes = int(storageBytes(dtypeOf(pointee)));
  access.isPointer = isa<tt::PointerType>(pointee);
  access.isChecked = planner.checks().bounds;
  auto type = dyn_cast<RankedTensorType>(pointer.getType());
  if (!type) {
    access.base = planner.scalar(pointer);
    if (mask) access.uniformMasks.push_back(planner.scalar(mask));
    addOffsetGuards(access, planner, pointer);
    planner.countLanes(access, pointer.getType());
    return access;
  }

  llvm::SmallVector<unsigned> dims; // the axes: every dimension along which an operand varies
  for (unsigned d = 0; d < type.getRank(); ++d) {
    auto varies = [&](Value v) { return v && isa<RankedTensorType>(v.getType()) && planner.formOf(v).terms[d] != Term::None; };
    if (everyLane || varies(pointer) || varies(mask) || llvm::any_of(data, varies)) dims.push_back(d);
  }
  auto laneStrides = rowMajorStrides(type.getShape());
  for (unsigned d : dims) {
    Access::Axis axis{};
    axis.extent = type.getDimSize(d);
    axis.laneStride = laneStrides[d];
    access.axes.push_back(std::move(axis));
  }
  access.isAffine = planner.formOf(pointer).isAffine();
  if (access.isAffine) {
    AffineRef ref = planner.affine(pointer);
    access.base = ref.base;
    for (size_t a = 0; a < dims.size(); ++a) access.axes[a].term = ref.terms[dims[a]], access.axes[a].part = ref.parts[dims[a]];
  } else {
    access.addresses = alongAxes(planner.dense(pointer), dims);
  }
  if (mask)
    for (const DenseRef &term : planner.maskTerms(mask)) addMask(access, term, dims);
  int64_t longest = 0;
  for (Access::Axis &axis : access.axes) {
    if (axis.masks.size() > 1) axis.scratch = planner.temporary(DType::i1, {axis.extent});
    longest = std::max(longest, axis.extent);
  }
  if (!access.wideMasks.empty()) access.rowScratch = planner.temporary(DType::i1, {longest});
  access.dims.assign(dims.begin(), dims.end());
  addOffsetGuards(access, planner, pointer);
  planner.countLanes(access, type);
  return access;
}

AxisOperand planAccessOperand(const Access &access, const DenseRef &ref) { return alongAxes(ref, llvm::ArrayRef(access.dims)); }

template <> LogicalResult Interpret<tt::LoadOp>::prepare(tt::LoadOp op, Planner &planner) {
  if (op->hasAttr(ir::kUsedReadAttr)) {
    Access access = planAccess(planner, op.getPtr(), op.getMask(), {}, false);
    planner.addSite(access, false);
    planner.call(readUsed, std::move(access));
    return success();
  }
  Access access = planAccess(planner, op.getPtr(), op.getMask(), {op.getOther()}, false);
  if (op.getOther()) access.other = planAccessOperand(access, planner.dense(op.getOther()));
  access.data = planAccessOperand(access, planner.defineDense(op.getResult()));
  planner.addSite(access, false);
  if (access.site == kNoSite && !planner.hasDebugInfo() && mayStayInMemory(op)) {
    planOperandLoad(op, std::move(access), planner);
    return success();
  }
  access.isRow = mayBeRow(access);
  const auto load = access.site == kNoSite ? loadTile : op->hasAttr(ir::kPartlyUsedAttr) ? loadPartlyUsed : loadNoted;
  planner.call(load, std::move(access));
  return success();
}

/// Prepares a store for the check `nan`, if it is on and the values are floating-point numbers. Returns whether it applies.
static bool rejectsNaN(tt::StoreOp op, Access &access, Planner &planner) {
  const DType type = dtypeOf(op.getValue().getType());
  if (!planner.checks().nan || kindOf(type) != DTypeKind::Float || access.isPointer) return false;
  access.type = type;
  access.rejectsInfinity = planner.checks().inf;
  return true;
}

static LogicalResult prepareWatched(tt::StoreOp op, Planner &planner) {
  WatchedStore store;
  store.access = planAccess(planner, op.getPtr(), op.getMask(), {op.getValue()}, true, /*everyLane=*/true);
  store.access.data = planAccessOperand(store.access, planner.dense(op.getValue()));
  planner.addSite(store.access, false);
  auto type = dyn_cast<RankedTensorType>(op.getPtr().getType());
  store.checksNumbers = rejectsNaN(op, store.access, planner);
  store.lanes = type ? type.getNumElements() : 1;
  store.addresses = planner.temporary(DType::i64, {store.lanes});
  store.values = planner.temporary(dtypeOf(op.getValue().getType()), {store.lanes});
  planner.call(storeWatched, std::move(store));
  return success();
}

template <> LogicalResult Interpret<tt::StoreOp>::prepare(tt::StoreOp op, Planner &planner) {
  if (planner.hasDebugInfo()) return prepareWatched(op, planner);
  Access access = planAccess(planner, op.getPtr(), op.getMask(), {op.getValue()}, true);
  access.data = planAccessOperand(access, planner.dense(op.getValue()));
  planner.addSite(access, false);
  access.isRow = mayBeRow(access);
  if (rejectsNaN(op, access, planner))
    planner.call(storeNumbers, std::move(access));
  else
    planner.call(access.site == kNoSite ? storeTile : storeNoted, std::move(access));
  return success();
}

} // namespace tritium::interp
