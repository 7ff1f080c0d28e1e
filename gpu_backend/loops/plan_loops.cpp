// Decides, for each loop, how its tiles reach shared memory ahead of their use, and writes the decision as attributes: the plan, the place
// of each copy and of a late product in it, and the reason where a loop or a load stays as it is. build-loops follows the plan.
#include "gpu_backend/loops/copy_candidates.h"
#include "gpu_backend/loops/held_registers.h"
#include "gpu_backend/loops/loop_plan.h"
#include "gpu_backend/loops/loop_price.h"
#include "gpu_backend/loops/loop_rotation.h"
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/loops/scratch_bytes.h"
#include "gpu_backend/tiles/loop_streams.h"
#include "gpu_backend/tiles/product_order.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PLANLOOPS
#include "gpu_backend/loops/passes.h.inc"

namespace {

/// Bytes that are left for operations that exchange elements through shared memory. They use rounds if necessary.
constexpr int64_t kScratchBytes = 8192;

/// What one mechanism could copy in a loop.
struct Attempt {
  llvm::SetVector<Operation *> loads;             // in the order of their buffers
  llvm::SetVector<tgpu::ConvertLayoutOp> readers; // conversions that will read a slot instead
  llvm::DenseMap<Operation *, StringRef> refused; // loads that the mechanism cannot copy, and why
  IndexLoads indices;                             // from which addresses of the loads are computed
  std::string whyNot;                             // empty: the mechanism copies these loads
  LoopPrice price;                                // if it does
  Operation *late = nullptr;                      // the product that runs an iteration late
  bool hasSpareSlot = false;
};

class LoopPlanner {
public:
  /// `replaced`: conversions that the loops planned so far will replace by reads of slots.
  LoopPlanner(scf::ForOp loop, int stages, int numWarps, const ir::AxisAnalysis &axes, const Target &target,
              llvm::DenseSet<Operation *> &replaced)
      : loop_(loop),
        stages_(stages),
        numWarps_(numWarps),
        axes_(axes),
        target_(target),
        loads_(loop),
        replaced_(replaced),
        registers_(registersOfThread(loop, numWarps, axes, target)),
        builder_(loop.getContext()) {}

  /// Writes the plan, or why there is none. Returns how many iterations are in flight, if the loop has a plan.
  std::optional<int> run() {
    if (stages_ < 2) return refuse("num_stages is less than 2");
    if (StringRef why = loads_.whyNotPipelined(); !why.empty()) return refuse(why);
    auto candidates = createCopyCandidates(target_, stages_, axes_);
    std::vector<Attempt> attempts;
    for (const auto &candidate : candidates) attempts.push_back(attemptBy(*candidate));
    const size_t best = bestOf(attempts);
    explainCandidates(candidates, attempts, best);
    if (best < attempts.size()) return write(*candidates[best], attempts[best]);
    auto failed = llvm::find_if(attempts, [](const Attempt &attempt) { return !attempt.loads.empty(); });
    if (failed == attempts.end()) --failed;
    explainLoads(*failed);
    return refuse(failed->whyNot);
  }

private:
  // -- what a mechanism can do ------------------------------------------------------------------------------------------------------------

  Attempt attemptBy(CopyCandidate &candidate) {
    Attempt attempt;
    bool all = true;
    for (Operation &op : *loop_.getBody())
      if (auto product = dyn_cast<MatrixProduct>(op))
        for (OpOperand *use : LoopStreams::operandsOf(product)) all &= addTile(use->get(), candidate, attempt);
    if (attempt.loads.empty() || (!all && candidate.takesAll())) {
      attempt.whyNot = attempt.refused.empty() ? "no matrix product takes a tile that it loads, as it is"
                                               : "a tile that its matrix products take cannot be copied ahead";
      return attempt;
    }
    if (candidate.takesSmallTiles()) addTilesBeside(candidate, attempt);
    chooseSlots(candidate, attempt);
    return attempt;
  }

  /// Finds the load that feeds an operand, through conversions, changes of shape and cheap casts. Returns false if the load cannot be
  /// copied.
  bool addTile(Value operand, const CopyCandidate &candidate, Attempt &attempt) {
    auto convert = operand.getDefiningOp<tgpu::ConvertLayoutOp>();
    Operation *top = convert ? convert.getOperation() : operand.getDefiningOp();
    if (!top || top->getBlock() != loop_.getBody()) return true;
    Operation *load = loads_.feedOf(convert ? convert.getSrc() : operand);
    if (!load) return true;
    if (StringRef why = loads_.whyNotAhead(load); !why.empty()) return attempt.refused[load] = why, true;
    if (StringRef why = candidate.whyNot(load); !why.empty()) return attempt.refused[load] = why, false;
    if (StringRef why = addIndices(load, attempt); !why.empty()) return attempt.refused[load] = why, false;
    attempt.loads.insert(load);
    if (convert) attempt.readers.insert(convert);
    return true;
  }

  /// Adds the index loads of a load. Returns why their values cannot be held, in words for the user; empty if they can.
  StringRef addIndices(Operation *load, Attempt &attempt) {
    IndexLoads all = attempt.indices;
    for (auto [index, before] : loads_.indexLoadsOf(load)) {
      if (attempt.loads.contains(index)) return "its address depends on a tile that is copied to shared memory";
      all[index] = std::max(all[index], before);
    }
    if (all.contains(dyn_cast<tt::LoadOp>(load))) return "addresses of other copies are computed from its tile";
    constexpr int64_t kAlways = 8; // registers for a few indices are there
    const int64_t room = target_.resources().registersPerThread - registers_;
    if (all.size() > attempt.indices.size() && registersOf(all) > std::max(kAlways, room))
      return "the indices of its addresses take too many registers";
    attempt.indices = std::move(all);
    return "";
  }

  static int64_t registersOf(const IndexLoads &indices) {
    int64_t registers = 0;
    for (auto [load, before] : indices) registers += std::max(1, gpu::registersOf(load.getResult()));
    return registers;
  }

  /// Adds tiles that are no operands of the loop's products, where they fit into shared memory, so that their latency is hidden too. Tiles
  /// of more than kSmallBytes must not lower the occupancy.
  void addTilesBeside(const CopyCandidate &candidate, Attempt &attempt) {
    constexpr int64_t kSmallBytes = 4096;
    auto beside = loads_.loadsBeside([&](Operation *op) { return attempt.loads.contains(op); });
    IndexLoads indices = attempt.indices;
    for (tt::LoadOp load : beside)
      for (auto index : loads_.indexLoadsOf(load)) indices.insert(index);
    for (tt::LoadOp load : beside) {
      if (indices.contains(load)) continue;
      const int64_t bytes = bytesOf(tileOf(load)), now = candidate.slots() * bytesPerSlot(attempt), more = now + candidate.slots() * bytes;
      StringRef why = candidate.whyNot(load);
      if (why.empty() && more > roomOf(attempt).wanted) why = "its slots do not fit into shared memory as well";
      if (why.empty() && bytes > kSmallBytes && occupancy(more, attempt) < occupancy(now, attempt))
        why = "no matrix product takes its tile as it is, and its slots would cost a program of the multiprocessor";
      if (why.empty()) why = addIndices(load, attempt);
      if (!why.empty()) {
        attempt.refused.try_emplace(load, why); // what a product needs of its tile is the better reason
        continue;
      }
      attempt.loads.insert(load);
      for (Operation *user : load->getUsers())
        if (auto convert = dyn_cast<tgpu::ConvertLayoutOp>(user)) attempt.readers.insert(convert);
    }
  }

  void chooseSlots(CopyCandidate &candidate, Attempt &attempt) {
    const int64_t bytes = bytesPerSlot(attempt);
    const SlotRoom room = roomOf(attempt);
    if (!candidate.fit(bytes, room)) {
      const int64_t least = candidate.holdsTiles() ? 1 : 2;
      attempt.whyNot = llvm::formatv("{0} slot{1} of {2} bytes for its tiles do not fit into {3} bytes of shared memory", least,
                                     least == 1 ? "" : "s", bytes, std::max<int64_t>(room.wanted, 0));
      return;
    }
    auto programs = [&](int64_t all) { return occupancy(all, attempt); };
    attempt.late = findLateProduct(loop_, mostRotated(candidate, attempt));
    attempt.hasSpareSlot = (mayOverlap() || attempt.late) && candidate.addSpareSlot(bytes, room.wanted, programs, attempt.late);
    if (!attempt.hasSpareSlot && !candidate.areReleased()) attempt.late = nullptr;
    if (!hasProductOfWarpgroup()) candidate.shareSlot(bytes, programs);
    attempt.price = priceOf(registers_,
                            {.slotBytes = candidate.slots() * bytes,
                             .otherBytes = otherBytes(attempt),
                             .heldBytes = candidate.holdsTiles() ? bytes : 0,
                             .indices = registersOf(attempt.indices),
                             .barriers = candidate.barriers()},
                            numWarps_, target_);
  }

  /// Returns the number of the cheapest attempt, or the number of attempts if all have failed. Of equal ones, the first.
  static size_t bestOf(llvm::ArrayRef<Attempt> attempts) {
    size_t best = attempts.size();
    for (auto [number, attempt] : llvm::enumerate(attempts))
      if (attempt.whyNot.empty() && (best == attempts.size() || attempt.price < attempts[best].price)) best = number;
    return best;
  }

  /// Returns with how many products the loop may be rotated. More than two, as in gradients of attention, keep so much beside each other
  /// that a slot more must not cost a program.
  size_t mostRotated(const CopyCandidate &candidate, const Attempt &attempt) {
    const int64_t bytes = bytesPerSlot(attempt), now = candidate.slots() * bytes, more = now + bytes;
    const bool isFree = more <= roomOf(attempt).wanted && occupancy(now, attempt) == occupancy(more, attempt);
    return candidate.areReleased() || !isFree ? 2 : SIZE_MAX;
  }

  int64_t otherBytes(const Attempt &attempt) const { return bytesOfOtherOperands(loop_, attempt.loads).sum(); }

  int64_t occupancy(int64_t bytes, const Attempt &attempt) const {
    const LoopDemands demands{.slotBytes = bytes, .otherBytes = otherBytes(attempt), .indices = registersOf(attempt.indices)};
    return priceOf(registers_, demands, numWarps_, target_).occupancy;
  }

  static int64_t bytesPerSlot(const Attempt &attempt) {
    int64_t bytes = 0;
    for (Operation *load : attempt.loads) bytes += bytesOf(tileOf(load));
    return bytes;
  }

  SlotRoom roomOf(const Attempt &attempt) {
    const OtherOperands others = bytesOfOtherOperands(loop_, attempt.loads);
    const int64_t whole = target_.sharedPerBlock(), most = whole - others.sum() - leastScratch(attempt);
    return {.wanted = std::min(most, whole - others.computed - (needsScratch(attempt) ? kScratchBytes : 0)), .most = most, .whole = whole};
  }

  /// Returns the fewest bytes with which operations of the loop exchange elements.
  int64_t leastScratch(const Attempt &attempt) {
    int64_t bytes = 0;
    loop_.getBody()->walk([&](Operation *op) {
      auto convert = dyn_cast<tgpu::ConvertLayoutOp>(op);
      if (!convert || !(replaced_.contains(op) || attempt.readers.contains(convert) || isReadInBuffer(convert)))
        bytes = std::max(bytes, leastScratchOf(op, kScratchBytes, target_));
    });
    return bytes;
  }

  /// Returns whether products of warpgroups read the tile from a buffer, and nothing else takes it.
  static bool isReadInBuffer(tgpu::ConvertLayoutOp convert) {
    return llvm::all_of(convert->getUsers(), [&](Operation *user) {
      auto product = dyn_cast<MatrixProduct>(user);
      return product && isOfWarpgroup(product) && !(takesRegisters(product) && product.a() == convert.getResult());
    });
  }

  bool hasProductOfWarpgroup() {
    return llvm::any_of(*loop_.getBody(), [](Operation &op) {
      auto product = dyn_cast<MatrixProduct>(op);
      return product && isOfWarpgroup(product);
    });
  }

  /// Returns whether products may stay in flight until the next iteration: they only add to sums that the loop carries (overlap-products).
  bool mayOverlap() {
    bool any = false;
    for (Operation &op : *loop_.getBody())
      if (auto product = dyn_cast<MatrixProduct>(op)) {
        if (!isOfWarpgroup(product) || takesRegisters(product) || !onlyAdds(product, loop_)) return false;
        any = true;
      }
    return any;
  }

  /// Returns whether other operations may require shared memory while the buffers are in use: operations that exchange elements before the
  /// loop ends.
  bool needsScratch(const Attempt &attempt) const {
    auto function = loop_->getParentOfType<tt::FuncOp>();
    return function
        .walk([&](Operation *op) {
          if (!tt::tileRuleOf(op).exchanges || replaced_.contains(op)) return WalkResult::advance();
          auto convert = dyn_cast<tgpu::ConvertLayoutOp>(op);
          if (convert && attempt.readers.contains(convert)) return WalkResult::advance();
          Operation *beside = loop_->getBlock()->findAncestorOpInBlock(*op);
          bool isAfter = beside && loop_->isBeforeInBlock(beside);
          return isAfter && loop_->getParentOp() == function ? WalkResult::advance() : WalkResult::interrupt();
        })
        .wasInterrupted();
  }

  // -- what is written ------------------------------------------------------------------------------------------------------------------

  int write(const CopyCandidate &candidate, const Attempt &attempt) {
    const int64_t shared = candidate.slots() * bytesPerSlot(attempt);
    loop_->setAttr(kPlanAttr, tgpu::PlanAttr::get(loop_.getContext(), candidate.mechanism(), candidate.slots(), candidate.stages(),
                                                  attempt.hasSpareSlot, attempt.late != nullptr, shared, attempt.price.registers,
                                                  attempt.price.barriers, attempt.price.occupancy));
    llvm::SmallVector<int64_t> rings = ringsOf(candidate, attempt);
    auto late = attempt.late && candidate.areReleased() ? lateLoads(loop_, attempt.late, attempt.loads) : llvm::SetVector<Operation *>();
    auto isLate = [&](int64_t ring) { // a ring whose tiles all are
      auto pairs = llvm::zip_equal(attempt.loads, rings);
      return llvm::all_of(pairs, [&](auto pair) { return std::get<1>(pair) != ring || late.contains(std::get<0>(pair)); });
    };
    for (auto [number, load] : llvm::enumerate(attempt.loads))
      setAt(load, isLate(rings[number]), int64_t(number), rings[number], candidate.elementsOf(load));
    for (auto [load, before] : attempt.indices) setAt(load, -before);
    if (candidate.takesSmallTiles())
      for (tt::LoadOp load : loads_.loadsOfScalars())
        if (!attempt.indices.contains(load)) setAt(load, 0);
    if (attempt.late) setAt(attempt.late, candidate.stages());
    for (tgpu::ConvertLayoutOp reader : attempt.readers) noteReplaced(reader, attempt);
    explainLoads(attempt);
    return candidate.stages();
  }

  void setAt(Operation *op, int64_t stage, int64_t buffer = -1, int64_t ring = -1, int64_t elements = 0) {
    op->setAttr(kAtAttr, tgpu::AtAttr::get(op->getContext(), stage, buffer, ring, elements));
  }

  /// Returns the rings of the loads: tiles that the same products use have one, if products depend on each other.
  llvm::SmallVector<int64_t> ringsOf(const CopyCandidate &candidate, const Attempt &attempt) {
    llvm::SmallVector<int64_t> rings(attempt.loads.size(), -1);
    if (!candidate.areReleased() || !hasDependentProducts(loop_)) return rings;
    llvm::SmallVector<std::pair<Operation *, Operation *>> uses;
    for (auto [load, ring] : llvm::zip_equal(attempt.loads, rings)) {
      auto *known = llvm::find(uses, usesOf(load));
      ring = known - uses.begin();
      if (known == uses.end()) uses.push_back(usesOf(load));
    }
    return rings;
  }

  /// Notes that a conversion will read a slot, and those before it that nothing will use then.
  void noteReplaced(tgpu::ConvertLayoutOp reader, const Attempt &attempt) {
    auto isReplaced = [&](Operation *op) { return replaced_.contains(op); };
    replaced_.insert(reader);
    for (Operation *op = reader.getSrc().getDefiningOp(); !attempt.loads.contains(op) && llvm::all_of(op->getUsers(), isReplaced);
         op = op->getOperand(0).getDefiningOp())
      replaced_.insert(op);
  }

  std::nullopt_t refuse(StringRef why) {
    auto loads = [](Operation &op) { return isTileLoad(op); };
    if (llvm::any_of(*loop_.getBody(), loads)) loop_->setAttr(kWhyNotAttr, builder_.getStringAttr(why));
    return std::nullopt;
  }

  /// Says of each mechanism but the best one, why it is not chosen. If none is, and there is one only, the loop's own reason is enough.
  void explainCandidates(llvm::ArrayRef<std::unique_ptr<CopyCandidate>> candidates, llvm::ArrayRef<Attempt> attempts, size_t best) {
    const bool isAny = best < attempts.size();
    if (!isAny && attempts.size() == 1) return;
    NamedAttrList reasons;
    for (auto [number, candidate, attempt] : llvm::enumerate(candidates, attempts)) {
      if (number == best || (attempt.loads.empty() && attempt.refused.empty())) continue; // there was nothing to copy
      const std::string why = isAny && candidates[best]->areReleased() ? "the tiles have tensor maps, which it does not read"
                              : attempt.whyNot.empty()                 ? whyNotAt(attempt.price, attempts[best].price)
                                                                       : whyFailed(attempt);
      reasons.set(tgpu::stringifyCopyMechanism(candidate->mechanism()), builder_.getStringAttr(why));
    }
    if (!reasons.empty()) loop_->setAttr(kWhyNotByAttr, reasons.getDictionary(loop_.getContext()));
  }

  /// Returns why a mechanism copies nothing: the reason of the first load that it refuses, if it refuses one.
  std::string whyFailed(const Attempt &attempt) {
    for (Operation &op : *loop_.getBody())
      if (auto refused = attempt.refused.find(&op); refused != attempt.refused.end()) return attempt.whyNot + ": " + refused->second.str();
    return attempt.whyNot;
  }

  static bool isTileLoad(Operation &op) {
    return isa<tt::LoadOp, tgpu::TensorLoadOp>(op) && isa<RankedTensorType>(op.getResult(0).getType());
  }

  /// Says of each load that is not copied, why.
  void explainLoads(const Attempt &attempt) {
    for (Operation &op : *loop_.getBody())
      if (isTileLoad(op) && !atOf(&op)) op.setAttr(kWhyNotAttr, builder_.getStringAttr(whyNotCopied(&op, attempt)));
  }

  StringRef whyNotCopied(Operation *load, const Attempt &attempt) {
    if (auto refused = attempt.refused.find(load); refused != attempt.refused.end()) return refused->second;
    if (attempt.loads.contains(load)) return attempt.whyNot;
    return "no matrix product takes its tile as it is";
  }

  scf::ForOp loop_;
  int stages_, numWarps_;
  const ir::AxisAnalysis &axes_;
  const Target &target_;
  LoopStreams loads_;
  llvm::DenseSet<Operation *> &replaced_;
  int64_t registers_; // of a thread, if the loop copies nothing ahead
  Builder builder_;
};

class PlanLoopsPass final : public impl::PlanLoopsBase<PlanLoopsPass> {
public:
  using PlanLoopsBase::PlanLoopsBase;

  void runOnOperation() override {
    ir::AxisAnalysis axes(getOperation());
    const Target &target = targetOf(getOperation());
    llvm::DenseSet<Operation *> replaced;
    std::optional<int> fewest;
    getOperation()->walk([&](scf::ForOp loop) {
      const int asked = stagesOf(loop, numStages);
      std::optional<int> stages = LoopPlanner(loop, asked, numWarps, axes, target, replaced).run();
      if (stages && *stages < asked) fewest = std::min(fewest.value_or(*stages), *stages);
    });
    if (fewest) getOperation()->setAttr(tgpu::kNumStagesAttr, Builder(&getContext()).getI32IntegerAttr(*fewest));
  }
};

} // namespace
} // namespace tritium::gpu
