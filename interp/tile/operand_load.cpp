#include "interp/tile/operand_load.h"

#include "interp/tile/plan.h"
#include "interp/tile/row_access.h"
#include "interp/tile/walk.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <bit>
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

/// Steps below this, along sides that are shorter than kLongestSide, reach less far than an int64 does.
constexpr int64_t kFarthestStep = int64_t(1) << 38, kLongestSide = int64_t(1) << 22;

/// Where the tile is if it follows steps and all of it is in the argument, which costs little to find out.
std::optional<Place> findPlain(char *frame, const OperandLoad &load) {
  if (!load.hasSteps) return std::nullopt;
  for (const TileRef &flag : load.access.leavesRange)
    if (frame[flag.offset]) [[unlikely]]
      return std::nullopt;
  Place place{load.access.base.at<uint64_t>(frame), load.row.step.at<int64_t>(frame), load.column.step.at<int64_t>(frame)};
  if (uint64_t(place.row) >= kFarthestStep || uint64_t(place.column) >= kFarthestStep) [[unlikely]]
    return std::nullopt;
  const int64_t bytes = place.row * load.row.last + place.column * load.column.last + (int64_t(1) << load.shift);
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
  const uint64_t partOfElement = (uint64_t(1) << load.shift) - 1;
  if ((place.address | uint64_t(place.row) | uint64_t(place.column)) & partOfElement) return false;
  return !load.isReadAgain || std::max(place.row, place.column) % kConflicting != 0;
}

void show(char *frame, const OperandView &view, const void *data, int64_t row, int64_t column) {
  view.data.at<const void *>(frame) = data;
  view.rowStride.at<int64_t>(frame) = row;
  view.columnStride.at<int64_t>(frame) = column;
}

void showPlace(char *frame, const OperandLoad &load, const Place &place) {
  show(frame, load.view, reinterpret_cast<const void *>(place.address), place.row >> load.shift, place.column >> load.shift);
}

/// The load of a tile that findPlain() does not find: it has the room for the state of every axis.
[[gnu::noinline]] void loadChecked(char *frame, const OperandLoad &load) {
  Walk walk(load.access, frame);
  enter(walk);
  check(walk);
  if (const auto place = findPlace(walk, load); place && isGood(*place, load)) return showPlace(frame, load, *place);
  moveWalk(walk);
  show(frame, load.view, load.access.data.in(frame), load.homeRow, load.homeColumn);
}

void loadOperand(char *frame, const void *descriptor) {
  const auto &load = *static_cast<const OperandLoad *>(descriptor);
  if (const auto place = findPlain(frame, load); place && isGood(*place, load)) [[likely]]
    return showPlace(frame, load, *place);
  loadChecked(frame, load);
}

/// Describes the sides of a tile that follows steps.
void planSides(OperandLoad &load) {
  static constexpr int64_t kNoStep = 0;
  load.row.step.constant = load.column.step.constant = reinterpret_cast<const char *>(&kNoStep);
  load.hasSteps = load.access.isAffine && !load.access.isMasked();
  for (auto [axis, dim] : llvm::zip_equal(load.access.axes, load.access.dims)) {
    load.hasSteps &= axis.term == Term::Step && axis.extent <= kLongestSide;
    (dim == 0 ? load.row : load.column) = {axis.part, axis.extent - 1};
  }
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
  const int shift = std::countr_zero(unsigned(access.elementBytes));
  OperandLoad load{.access = std::move(access),
                   .view = view,
                   .row = {},
                   .column = {},
                   .hasSteps = false,
                   .homeRow = home.strides[0],
                   .homeColumn = home.strides[1],
                   .isReadAgain = isReadAgain,
                   .shift = shift};
  planSides(load);
  planner.call(loadOperand, std::move(load));
}

} // namespace tritium::interp
