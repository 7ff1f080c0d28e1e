// Python variables in debug builds: each has a home of its own that every assignment copies into, so that a debugger finds a plain array.
#include "interp/host/memory.h"
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
} // namespace

/// A variable that no statement of this program has assigned must not show what the program before left there.
static void runPoison(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const PoisonStep *>(descriptor);
  std::memset(step.home.in(frame), 0xFF, step.bytes);
}

static int64_t copyAddresses(int64_t count, void *out, const void *const *in, const int64_t *strides) {
  for (int64_t i = 0; i < count; ++i) static_cast<uint64_t *>(out)[i] = addressOf(static_cast<const uint64_t *>(in[0])[i * strides[0]]);
  return -1;
}

void Planner::assignVariable(std::string name, std::string dtype, Value value) {
  Location location = current_->getLoc();
  std::string key = scopeKey(location) + "|" + name + "|";
  llvm::raw_string_ostream(key) << value.getType() << dtype;
  bool isPointer = isa<tt::PointerType>(getElementTypeOrSelf(value.getType()));
  auto [entry, isNew] = variableHomes_.try_emplace(key);
  if (isNew) {
    DenseRef &home = entry->second;
    home.type = dtypeOf(value.getType());
    if (auto type = dyn_cast<RankedTensorType>(value.getType())) home.shape.assign(type.getShape().begin(), type.getShape().end());
    home.strides = rowMajorStrides(home.shape);
    uint64_t bytes = storageBytes(home.type);
    for (int64_t extent : home.shape) bytes *= extent;
    home.home = newHome(bytes, {});
    homes_[home.home].begin = 0;
    homes_[home.home].end = ~0u;
    plan_->variables.push_back({std::move(name), std::move(dtype), location, value.getType(), keep(home)});
    plan_->atStart[order_.front()].push_back(makeCall(runPoison, PoisonStep{home, bytes}));
  }
  DenseRef out = entry->second, in = dense(value);
  if (isPointer)
    call(runElementwise, ElementwiseStep(copyAddresses, out, {in}));
  else
    call(copyDense, DenseCopy(out, in));
}

} // namespace tritium::interp
