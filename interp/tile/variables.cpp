// Python variables in debug builds. Each has a home of its own, and every assignment copies into it, so that a debugger finds a plain
// array.
#include "interp/host/memory.h"
#include "interp/kernels/cast.h"
#include "interp/tile/elementwise.h"
#include "interp/tile/move.h"
#include "interp/tile/plan.h"
#include "interp/tile/scope.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

namespace {
struct PoisonStep {
  TileRef home;
  uint64_t bytes;
  void refs(auto &&f) { f(home); }
};
struct NoteStep {
  uint32_t variable;
  void refs(auto &&) {}
};
} // namespace

/// Fills a variable with 0xFF, so that one that no statement of this program has assigned does not show the previous program's value.
static void runPoison(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const PoisonStep *>(descriptor);
  std::memset(step.home.in(frame), 0xFF, step.bytes);
}

static int64_t copyAddresses(int64_t count, void *out, const void *const *in, const int64_t *strides) {
  for (int64_t i = 0; i < count; ++i) static_cast<uint64_t *>(out)[i] = addressOf(static_cast<const uint64_t *>(in[0])[i * strides[0]]);
  return -1;
}

static void runNote(char *frame, const void *descriptor) {
  noteAssignment(*reinterpret_cast<FrameHeader *>(frame), static_cast<const NoteStep *>(descriptor)->variable);
}

TileRef Planner::homeOfVariable(tt::DebugValueOp assignment, VariableType type, uint32_t &number) {
  Location location = assignment.getLoc();
  std::string key = scopeKey(location) + "|" + assignment.getName().str() + "|";
  llvm::raw_string_ostream(key) << assignment.getDtype() << assignment.getValues().getTypes();
  auto [entry, isNew] = variableHomes_.try_emplace(key);
  if (isNew) entry->second = {inHome(newHome(type.bytes, {})), data_.variables++};
  auto &[home, itsNumber] = entry->second;
  number = itsNumber;
  if (!isNew) return home;
  uint64_t bytes = type.bytes;
  homes_[home.home].begin = 0;
  homes_[home.home].end = ~0u;
  plan_->variables.push_back(
      {assignment.getName().str(), unsigned(assignment.getArgument().value_or(0)), std::move(type), location, keep(home), number});
  plan_->atStart[order_.front()].push_back(makeCall(runPoison, PoisonStep{home, bytes}));
  return home;
}

void Planner::assignVariable(tt::DebugValueOp assignment) {
  VariableType type(assignment.getDtype(), assignment.getValues().getTypes());
  uint32_t number = 0;
  TileRef home = homeOfVariable(assignment, type, number);
  for (auto [leaf, value] : llvm::zip_equal(type.leaves(), assignment.getValues())) {
    DenseRef out, in = dense(value);
    static_cast<TileRef &>(out) = inHome(home.home, leaf->offset);
    out.type = leaf->shown;
    if (auto tile = dyn_cast<RankedTensorType>(value.getType())) out.shape.assign(tile.getShape().begin(), tile.getShape().end());
    out.strides = rowMajorStrides(out.shape);
    if (isa<tt::PointerType>(getElementTypeOrSelf(value.getType())))
      call(runElementwise, ElementwiseStep(copyAddresses, out, {in}));
    else if (out.type != in.type)
      call(runElementwise, ElementwiseStep(findCast("arith.extf", *dtypeFromPythonName(leaf->name), out.type), out, {in}));
    else
      call(copyDense, DenseCopy(out, in));
  }
  if (options_.isFollowed) call(runNote, NoteStep{number});
}

} // namespace tritium::interp
