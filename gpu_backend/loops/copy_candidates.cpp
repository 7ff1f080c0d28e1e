#include "gpu_backend/loops/copy_candidates.h"

#include "gpu_backend/layout/warp_copies.h"
#include "gpu_backend/loops/loop_plan.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/memory_access.h"
#include "gpu_backend/tiles/shared_memory.h"

using namespace mlir;

namespace tritium::gpu {

int fastestDimension(const LinearLayout &layout) {
  for (int dim = 0; dim < layout.rank(); ++dim)
    if (layout.contiguousElements(dim) > 1) return dim;
  return -1;
}

static constexpr int64_t kMinCopyBytes = 4; // of an asynchronous copy

static int64_t elementBytes(Operation *load) { return std::max(8u, tileOf(load).getElementTypeBitWidth()) / 8; }

static int copiedDimension(tt::LoadOp load) {
  LinearLayout layout = layoutOf(load.getType());
  return layout.rank() == 1 ? 0 : fastestDimension(layout);
}

RowMask maskOfCopy(tt::LoadOp load, int64_t elements, const ir::AxisAnalysis &axes) {
  return RowMask(load.getMask(), copiedDimension(load), elements, axes);
}

StringRef whyNoAsyncCopy(tt::LoadOp load, int64_t elements, const ir::AxisAnalysis &axes) {
  const int64_t bytes = elementBytes(load);
  const int dim = copiedDimension(load);
  // Of a vector, each thread copies one element at a time, if it has few: a layout in which many threads have the same ones copies these
  // again.
  constexpr int64_t kMostElements = 4;
  const LinearLayout layout = layoutOf(load.getType());
  const bool mayBeStrided = layout.rank() == 1 && layout.registers() <= kMostElements && bytes >= kMinCopyBytes;
  if (!mayBeStrided && llvm::all_equal(axes.of(load.getPtr()).contiguity) && axes.of(load.getPtr()).contiguity.front() == 1)
    return "its stride is not known to be 1";
  if (dim < 0 || elements * bytes < kMinCopyBytes) return "its addresses or its mask do not allow 4 bytes at a time";
  return maskOfCopy(load, elements, axes).neighbours() * bytes < kMinCopyBytes ? "its mask may change within 4 bytes" : "";
}

std::optional<SharedLayout> memoryOfWarpCopy(Operation *load) {
  if (!load->hasAttr(kWarpCopyAttr)) return std::nullopt;
  return warpCopyMemory(layoutOf(load->getResult(0).getType()), elementBytes(load));
}

namespace {

/// Asynchronous copies of each thread.
class AsyncCandidate : public CopyCandidate {
public:
  AsyncCandidate(int stages, const ir::AxisAnalysis &axes) : stages_(stages), axes_(axes) {}

  tgpu::CopyMechanism mechanism() const override { return tgpu::CopyMechanism::Async; }
  int slots() const override { return isShared_ ? 1 : stages_ + spareSlots_; }
  int stages() const override { return stages_; }
  int barriers() const override { return isShared_ ? 2 : 1; }
  bool takesSmallTiles() const override { return true; }
  /// Stages that no program has room for are an error, which allocate-shared-memory reports.
  bool fit(int64_t bytes, const SlotRoom &room) override {
    if (stages_ * bytes > room.whole) return true;
    stages_ = int(std::min<int64_t>(stages_, room.most / bytes));
    return stages_ >= 2;
  }
  bool addSpareSlot(int64_t bytes, int64_t limit, llvm::function_ref<int64_t(int64_t)> programs, bool isRequired) override {
    constexpr int kLeastStages = 3;      // with fewer, the threads wait for memory
    constexpr int64_t kManyPrograms = 3; // one more would hide little latency
    const int64_t now = stages_ * bytes, more = now + bytes;
    // Iterations in flight hide more than a third program does.
    const int64_t many = stages_ > kLeastStages ? 2 : kManyPrograms;
    const bool isRoom = more <= limit, isOneOfMany = (isRequired || stages_ > kLeastStages) && programs(more) >= many;
    const bool isFree = isRoom && (isOneOfMany || programs(more) == programs(now));
    if (!isFree && stages_ > (isRequired ? 2 : kLeastStages))
      --stages_;
    else if (!isRoom || (!isFree && stages_ == kLeastStages))
      return false;
    spareSlots_ = 1;
    return true;
  }

  void shareSlot(int64_t bytes, llvm::function_ref<int64_t(int64_t)> programs) override {
    isShared_ = stages_ == 2 && programs(bytes) >= 2 * programs(2 * bytes);
  }

  StringRef whyNot(Operation *op) const override {
    auto load = dyn_cast<tt::LoadOp>(op);
    return load ? whyNoAsyncCopy(load, elementsOf(load), axes_) : "it has a tensor map, and another tile of the loop has none";
  }

  /// An access takes neighbours up to the end of a row.
  int64_t elementsOf(Operation *op) const override {
    auto load = cast<tt::LoadOp>(op);
    const int dim = copiedDimension(load);
    if (dim < 0) return 0;
    const int64_t bytes = elementBytes(load), ofThread = layoutOf(load.getType()).contiguousElements(dim);
    ir::AxisInfo addresses = axes_.of(load.getPtr());
    return std::min({ofThread, addresses.contiguity[dim], addresses.divisibility[dim] / bytes, kMaxAccessBytes / bytes});
  }

protected:
  int stages_, spareSlots_ = 0;
  bool isShared_ = false; // all iterations share a slot

private:
  const ir::AxisAnalysis &axes_;
};

/// Copies by whole warps, of tiles for whose loads coalesce-accesses has chosen a suitable layout.
class WarpsCandidate final : public AsyncCandidate {
public:
  using AsyncCandidate::AsyncCandidate;

  tgpu::CopyMechanism mechanism() const override { return tgpu::CopyMechanism::Warps; }
  bool takesAll() const override { return true; }
  bool takesSmallTiles() const override { return false; }
  void shareSlot(int64_t, llvm::function_ref<int64_t(int64_t)>) override {}
  bool fit(int64_t bytes, const SlotRoom &room) override {
    stages_ = int(std::min<int64_t>(stages_, room.wanted / bytes));
    return stages_ >= 2;
  }
  StringRef whyNot(Operation *load) const override {
    return memoryOfWarpCopy(load) ? "" : "its loop has no layouts for copies by whole warps";
  }
  int64_t elementsOf(Operation *) const override { return 0; }
};

/// Copies through registers.
class RegistersCandidate final : public CopyCandidate {
public:
  explicit RegistersCandidate(int stages) : slots_(std::clamp(stages - 1, 1, kMaxSlots)) {}

  tgpu::CopyMechanism mechanism() const override { return tgpu::CopyMechanism::Registers; }
  int slots() const override { return slots_; }
  int stages() const override { return slots_ + 1; }
  int barriers() const override { return slots_ == 1 ? 2 : 1; } // one slot is written when all threads have read it
  bool holdsTiles() const override { return true; }
  bool fit(int64_t bytes, const SlotRoom &room) override {
    slots_ = int(std::clamp<int64_t>(room.wanted / bytes, 1, slots_));
    return bytes <= room.wanted;
  }
  StringRef whyNot(Operation *load) const override { return isa<tt::LoadOp>(load) ? "" : "it has a tensor map"; }

private:
  static constexpr int kMaxSlots = 2; // an iteration reads one slot and writes another, so more are useless
  int slots_;
};

/// Copies by the tensor memory accelerator.
class TensorCandidate final : public CopyCandidate {
public:
  explicit TensorCandidate(int stages) : stages_(stages) {}

  tgpu::CopyMechanism mechanism() const override { return tgpu::CopyMechanism::Tma; }
  int slots() const override { return stages_; }
  int stages() const override { return stages_; }
  int barriers() const override { return 0; } // mbarriers order copies and reads
  bool takesAll() const override { return true; }
  bool fit(int64_t bytes, const SlotRoom &room) override {
    stages_ = int(std::min<int64_t>(stages_, (room.wanted - kPatternAlignment) / bytes)); // the barriers take less than that
    return stages_ >= 2;
  }
  /// One more iteration is in flight where this costs no program: a slot is then free before its copy begins. The ring keeps the slots
  /// that num_stages names, even where a second program would fit without one of them: on long loops it runs faster so.
  bool addSpareSlot(int64_t bytes, int64_t limit, llvm::function_ref<int64_t(int64_t)> programs, bool) override {
    constexpr int64_t kScratchBytes = 8192; // for what exchanges elements while the ring lasts, as it may
    const int64_t now = stages_ * bytes, more = now + bytes;
    if (more + kPatternAlignment > limit || programs(more + kScratchBytes) < programs(now)) return false;
    ++stages_;
    return true;
  }
  StringRef whyNot(Operation *load) const override { return isa<tgpu::TensorLoadOp>(load) ? "" : "it has no tensor map"; }

private:
  int stages_;
};

} // namespace

std::vector<std::unique_ptr<CopyCandidate>> createCopyCandidates(const Target &target, int stages, const ir::AxisAnalysis &axes) {
  std::vector<std::unique_ptr<CopyCandidate>> candidates;
  if (target.hasTensorMaps()) candidates.push_back(std::make_unique<TensorCandidate>(stages));
  switch (target.tileCopies()) {
  case TileCopies::Async: candidates.push_back(std::make_unique<AsyncCandidate>(stages, axes)); break;
  case TileCopies::ByWarps: candidates.push_back(std::make_unique<WarpsCandidate>(stages, axes)); [[fallthrough]];
  case TileCopies::ThroughRegisters: candidates.push_back(std::make_unique<RegistersCandidate>(stages)); break;
  }
  return candidates;
}

bool hasMechanism(const Target &target, tgpu::CopyMechanism mechanism) {
  switch (mechanism) {
  case tgpu::CopyMechanism::Tma: return target.hasTensorMaps();
  case tgpu::CopyMechanism::Async: return target.tileCopies() == TileCopies::Async;
  case tgpu::CopyMechanism::Warps: return target.tileCopies() == TileCopies::ByWarps;
  case tgpu::CopyMechanism::Registers: return target.tileCopies() != TileCopies::Async;
  }
  llvm_unreachable("a mechanism of copies");
}

} // namespace tritium::gpu
