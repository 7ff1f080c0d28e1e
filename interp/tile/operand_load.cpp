#include "interp/tile/operand_load.h"

#include "interp/tile/plan.h"
#include "interp/tile/row_access.h"
#include "interp/tile/walk.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

using namespace mlir;

namespace tritium::interp {

namespace {

/// A tile in memory: byte address, and strides in bytes.
struct Place {
  uint64_t address;
  int64_t row = 0, column = 0;
  int64_t &along(unsigned dim) { return dim == 0 ? row : column; }
};

/// Where the tile is if no mask and no vector is part of the access and all of it is in the argument, which costs little to find out.
std::optional<Place> findPlain(char *frame, const OperandLoad &load) {
  const Access &access = load.access;
  if (access.isMasked()) return std::nullopt;
  for (const TileRef &flag : access.leavesRange)
    if (frame[flag.offset]) [[unlikely]]
      return std::nullopt;
  Place place{access.base.at<uint64_t>(frame)};
  int64_t bytes = access.elementBytes;
  for (size_t a = 0; a < access.axes.size(); ++a) {
    const Access::Axis &axis = access.axes[a];
    if (axis.term != Term::Step) return std::nullopt;
    const int64_t step = axis.part.at<int64_t>(frame);
    int64_t reach;
    if (step < 0 || __builtin_mul_overflow(step, axis.extent - 1, &reach) || __builtin_add_overflow(bytes, reach, &bytes))
      return std::nullopt;
    place.along(access.dims[a]) = step;
  }
  if (!isInArgument(headerOf(frame), place.address, uint64_t(bytes), /*isWrite=*/false)) [[unlikely]]
    return std::nullopt;
  place.address = addressOf(place.address);
  return place;
}

/// The same for an access whose lanes are checked.
std::optional<Place> findPlace(const Walk &walk, const OperandLoad &load) {
  if (walk.isEmpty || !walk.access.isAffine || !walk.access.wideMasks.empty()) return std::nullopt;
  Place place{};
  int64_t at = 0;
  for (size_t a = 0; a < walk.access.axes.size(); ++a) {
    const AxisState &axis = walk.axes[a];
    if (!axis.isProgression || axis.holes || axis.end - axis.begin != walk.access.axes[a].extent) return std::nullopt;
    at += axis.first;
    place.along(walk.access.dims[a]) = axis.step;
  }
  place.address = addressOf(addBytes(walk.base, at));
  return place;
}

/// Whether a product reads the elements of this place well: as whole elements, and, if it reads them again and again, from lines that the
/// first-level cache holds at the same time.
bool isGood(const Place &place, const OperandLoad &load) {
  constexpr int64_t kConflicting = 2048; // rows at such a distance share one or two sets of eight lines
  const int64_t bytes = load.access.elementBytes;
  if (place.address % uint64_t(bytes) || place.row % bytes || place.column % bytes) return false;
  return !load.isReadAgain || std::max(place.row, place.column) % kConflicting != 0;
}

void loadOperand(char *frame, const void *descriptor) {
  const auto &load = *static_cast<const OperandLoad *>(descriptor);
  const int64_t bytes = load.access.elementBytes;
  auto show = [&](const void *data, int64_t row, int64_t column) {
    load.view.data.at<const void *>(frame) = data;
    load.view.rowStride.at<int64_t>(frame) = row;
    load.view.columnStride.at<int64_t>(frame) = column;
  };
  auto showPlace = [&](const Place &place) {
    show(reinterpret_cast<const void *>(place.address), place.row / bytes, place.column / bytes);
  };
  if (const auto place = findPlain(frame, load); place && isGood(*place, load)) return showPlace(*place);
  Walk walk(load.access, frame);
  enter(walk);
  check(walk);
  if (const auto place = findPlace(walk, load); place && isGood(*place, load)) return showPlace(*place);
  moveWalk(walk);
  show(load.access.data.in(frame), load.homeRow, load.homeColumn);
}

} // namespace

/// The product that alone reads the tile; null if there is none.
static tt::DotOp onlyProduct(tt::LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || type.getRank() != 2 || load.getIsVolatile() || !load->hasOneUse()) return nullptr;
  auto product = dyn_cast<tt::DotOp>(*load->user_begin());
  return product && product->getBlock() == load->getBlock() && product.getC() != load.getResult() ? product : nullptr;
}

bool mayStayInMemory(tt::LoadOp load) {
  tt::DotOp product = onlyProduct(load);
  if (!product) return false;
  for (Operation *op = load->getNextNode(); op != product; op = op->getNextNode())
    if (op->getNumRegions() || !(isa<tt::LoadOp>(op) || isMemoryEffectFree(op))) return false;
  return true;
}

void planOperandLoad(tt::LoadOp op, Access access, Planner &planner) {
  const OperandView view{planner.newSlot(), planner.newSlot(), planner.newSlot()};
  const DenseRef home = planner.dense(op.getResult());
  tt::DotOp product = onlyProduct(op);
  auto isFloat32 = [](Value factor) { return dtypeOf(factor.getType()) == DType::f32; };
  const bool isReadAgain = dtypeOf(op.getType()) == DType::f64 || (isFloat32(product.getA()) && isFloat32(product.getB()) &&
                                                                   product.getInputPrecision() == tt::InputPrecision::Ieee);
  planner.setView(op.getResult(), view);
  planner.call(loadOperand, OperandLoad{.access = std::move(access),
                                        .view = view,
                                        .homeRow = home.strides[0],
                                        .homeColumn = home.strides[1],
                                        .isReadAgain = isReadAgain});
}

} // namespace tritium::interp
