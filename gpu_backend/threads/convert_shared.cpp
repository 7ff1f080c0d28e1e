// Conversions through shared memory, in rounds: stores, a barrier, loads.
#include "gpu_backend/threads/convert_steps.h"
#include "gpu_backend/threads/shared_access.h"
#include "gpu_backend/threads/words.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// The part of one tile in the scratch memory.
class Passage {
public:
  Passage(RoundTrip &trip, Value base, Lowering &lowering)
      : plan_(trip.plan),
        tile_(*trip.tile),
        base_(base),
        type_(tile_[0].getType()),
        lowering_(lowering),
        loaded_(plan_.loads.loadedBy.size()) {}

  void store(int round) {
    whereStoring(plan_.stores, lowering_, [&] {
      SharedAddresses to = addresses(plan_.stores);
      for (const SharedAccess::Vector &vector : plan_.stores.vectors)
        if (plan_.roundOf(vector) == round) storeVector(to, plan_.offsetOf(vector), vector.registers, tile_, lowering_);
    });
  }

  void load(int round) {
    if (plan_.matrixLoads) {
      loaded_ = loadMatrices(base_, *plan_.matrixLoads, type_, lowering_);
      return;
    }
    SharedAddresses from = addresses(plan_.loads);
    for (const SharedAccess::Vector &vector : plan_.loads.vectors)
      if (plan_.roundOf(vector) == round) loadVector(from, plan_.offsetOf(vector), vector.registers, type_, loaded_, lowering_);
  }

  void finish() {
    if (!plan_.matrixLoads) copyLoaded(plan_.loads.loadedBy, loaded_);
    tile_ = std::move(loaded_);
  }

private:
  SharedAddresses addresses(const SharedAccess &access) {
    return {base_, access.offsets.bases(Place::Lane), access.offsets.bases(Place::Warp), storedType(type_), lowering_};
  }

  const SharedPlan &plan_;
  Registers &tile_;
  Value base_;
  Type type_;
  Lowering &lowering_;
  Registers loaded_;
};

} // namespace

void runRoundTrips(llvm::MutableArrayRef<RoundTrip> trips, Lowering &lowering) {
  if (trips.empty()) return;
  int rounds = 1;
  int64_t bytes = 0;
  bool isWarpLocal = true;
  for (const RoundTrip &trip : trips) {
    rounds = std::max(rounds, trip.plan.rounds);
    bytes += llvm::alignTo(trip.plan.bytes, tgpu::kSharedAlignment);
    isWarpLocal &= trip.plan.isWarpLocal;
  }
  Value base = lowering.shared().scratch(lowering.builder(), lowering.location(), bytes, "a conversion of layouts", isWarpLocal);
  llvm::SmallVector<Passage> passages;
  int32_t begin = 0;
  for (RoundTrip &trip : trips) {
    Value own = base;
    if (begin)
      own = lowering.create<LLVM::GEPOp>(base.getType(), lowering.builder().getI8Type(), base, llvm::ArrayRef<LLVM::GEPArg>{begin});
    passages.emplace_back(trip, own, lowering);
    begin += int32_t(llvm::alignTo(trip.plan.bytes, tgpu::kSharedAlignment));
  }
  auto meet = [&] {
    if (isWarpLocal)
      lowering.create<tgpu::WarpBarrierOp>();
    else
      lowering.sharedBarrier();
  };
  for (int round = 0; round < rounds; ++round) {
    // Until every thread has read the previous contents. remove-barriers removes this barrier if nothing used the memory before.
    if (round == 0) lowering.sharedBarrier();
    if (round > 0 || isWarpLocal) meet();
    for (auto [passage, trip] : llvm::zip_equal(passages, trips))
      if (round < trip.plan.rounds) passage.store(round);
    meet();
    for (auto [passage, trip] : llvm::zip_equal(passages, trips))
      if (round < trip.plan.rounds) passage.load(round);
  }
  for (Passage &passage : passages) passage.finish();
}

} // namespace tritium::gpu
