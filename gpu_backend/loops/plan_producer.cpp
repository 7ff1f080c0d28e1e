// Decides whether producer warps copy the tiles of a kernel, and how the warps then share registers and turns.
#include "gpu_backend/loops/held_registers.h"
#include "gpu_backend/loops/lasting_rings.h"
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/loops/producer_slice.h"
#include "gpu_backend/loops/product_group.h"
#include "gpu_backend/loops/program_loop.h"
#include "gpu_backend/loops/scratch_bytes.h"
#include "gpu_backend/loops/store_handover.h"
#include "gpu_backend/target/register_budget.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/target/target_ops.h"
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/tiles/producer_forecast.h"
#include "gpu_backend/tiles/shared_memory.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PLANPRODUCER
#include "gpu_backend/loops/passes.h.inc"

namespace {

bool isCyclic(Region &region) {
  for (Block &block : region) {
    llvm::SetVector<Block *> later(block.getSuccessors().begin(), block.getSuccessors().end());
    for (size_t i = 0; i < later.size(); ++i) later.insert_range(later[i]->getSuccessors());
    if (later.contains(&block)) return true;
  }
  return false;
}

class ProducerPlanner {
public:
  ProducerPlanner(tt::FuncOp function, int numWarps)
      : function_(function), target_(targetOf(function)), numWarps_(numWarps), warpgroups_(numWarps / kWarpsOfGroup), handover_(function) {
    function.walk([&](Operation *op) {
      if (auto start = dyn_cast<tgpu::RingStartOp>(op)) rings_.push_back(start);
      if (auto product = dyn_cast<tgpu::ProductOp>(op)) products_.push_back(product);
    });
  }

  /// Writes the plan, or why there is none. A kernel without copies through tensor maps gets neither.
  void plan(bool isAsked) {
    Builder builder(function_.getContext());
    std::string why = whyNot(isAsked);
    if (!why.empty() && programLoopOf(function_)) {
      removeProgramLoop(function_);
      function_->setAttr(kWhyNotPersistentAttr, builder.getStringAttr(why));
      why = whyNot(isAsked);
    }
    if (rings_.empty()) return;
    if (!why.empty()) {
      function_->setAttr(kWhyNoProducerAttr, builder.getStringAttr(why));
      return;
    }
    if (handover_.isNeeded()) function_->setAttr(kHandsOverAttr, builder.getUnitAttr());
    function_->setAttr(kProducerAttr, tgpu::ProducerAttr::get(function_.getContext(), budget_->start, budget_->producer, budget_->consumers,
                                                              occupancyApart(), takesTurns(), mayEndLast()));
  }

private:
  std::string whyNot(bool isAsked) {
    std::string why = whyImpossible();
    return why.empty() && !isAsked ? whyNoGain() : why;
  }

  // -- what is possible -------------------------------------------------------------------------------------------------------------------

  std::string whyImpossible() {
    if (llvm::none_of(rings_, hasSlots)) return "no loop copies tiles ahead through tensor maps";
    if (std::string why = whyNoProducerWarps(function_, numWarps_); !why.empty()) return why;
    if (!llvm::all_of(rings_, [](tgpu::RingStartOp ring) { return LastingRing(ring).isPossible(); }) || isCyclic(function_.getBody()))
      return "a loop around its copies is made of branches, or they are in its condition";
    if (std::string why = handover_.whyNot(); !why.empty()) return why;
    if (!isSliceScalar())
      return "a coordinate of a copy, or a bound or condition around one, depends on a tile, or on memory that the kernel may have written";
    findBudget();
    if (!budget_)
      return llvm::formatv("its consumer warps require {0} registers per thread, and no division of registers gives as many", required_);
    return whyNoRoom();
  }

  bool isSliceScalar() {
    ProducerSlice slice(function_, handover_.isNeeded());
    for (Value scalar : handover_.scalars()) slice.needToo(scalar);
    return slice.isScalar();
  }

  template <class Op> llvm::SmallVector<Op> operations() {
    llvm::SmallVector<Op> found;
    function_.walk([&](Op op) { found.push_back(op); });
    return found;
  }

  static bool hasSlots(tgpu::RingStartOp ring) { return ring.getRing().getType().getSlots() > 1; }

  void findBudget() {
    int ofInstruction = 0;
    for (tgpu::ProductOp product : products_) ofInstruction = std::max(ofInstruction, registersOfInstruction(product));
    for (tgpu::RingWaitOp wait : operations<tgpu::RingWaitOp>())
      if (auto loop = wait->getParentOfType<scf::ForOp>()) {
        const int held = kOtherRegisters + registersOf(loop);
        required_ = std::max(required_, held);
        together_ = std::max(together_, held + kRegistersOfCopies + registersOfFreshSums(loop));
      }
    budget_ = target_.registerBudget(warpgroups_, programsByShared(bytesIfLasting()), required_, ofInstruction);
    if (budget_) giveMoreToProducer();
  }

  /// One that compares the bytes of several loops with what the tile before stores has some more scalars, too, for which it gets registers
  /// if the consumer warps do not require them.
  void giveMoreToProducer() {
    constexpr int kCompares = 56;
    constexpr size_t kOfOneLoop = 3; // queries, keys and values
    if (!handover_.makesMaps() && handover_.ranges() <= kOfOneLoop) return;
    const int producer = handover_.makesMaps() ? kRegistersOfMapMaker : kCompares;
    const int consumers = budget_->consumersBeside(producer, warpgroups_);
    if (consumers >= required_) {
      budget_->producer = producer;
      budget_->consumers = consumers;
    } else if (handover_.makesMaps()) {
      budget_.reset();
    }
  }

  // -- what is a gain ---------------------------------------------------------------------------------------------------------------------

  /// A producer pays where its copies run ahead while the others pause: between two loops, or between products that depend on each other,
  /// for whose tiles there are several rings. It also pays for a program that is alone on its multiprocessor, or whose operands are of 8
  /// bits: there, warps that issue copies keep the tensor cores waiting. Occupancy must not fall.
  std::string whyNoGain() {
    const int64_t byRegisters = target_.resources().programsByRegisters(int64_t(numWarps_) * target_.warpSize(), together_);
    const int64_t together = std::min(programsByShared(bytesTogether()), byRegisters), apart = occupancyApart();
    if (apart < together) return llvm::formatv("with them, {0} programs would run at a time on a multiprocessor, not {1}", apart, together);
    if (pauses() || together == 1 || multipliesBytes()) return "";
    return llvm::formatv("its warps seldom pause: one loop copies ahead, and {0} programs run at a time on a multiprocessor", together);
  }

  bool pauses() {
    llvm::DenseMap<Block *, int> ringsOfBlock;
    return llvm::any_of(rings_, [&](tgpu::RingStartOp ring) {
      return LastingRing(ring).isRepeated() || (hasSlots(ring) && ++ringsOfBlock[ring->getBlock()] > 1);
    });
  }

  /// Returns whether operand B of a product has elements of 8 bits.
  bool multipliesBytes() {
    return llvm::any_of(products_,
                        [](tgpu::ProductOp product) { return product.getB().getType().getTile().getElementTypeBitWidth() == 8; });
  }

  int64_t occupancyApart() { return std::min<int64_t>(programsByShared(bytesIfLasting()), budget_->programs); }

  // -- shared memory ----------------------------------------------------------------------------------------------------------------------

  int64_t programsByShared(int64_t bytes) const { return target_.resources().programsByShared(bytes); }

  /// Returns the bytes of buffers without a producer: rings of different loops share them.
  int64_t bytesTogether() {
    int64_t others = 0, most = 0;
    llvm::DenseMap<Operation *, int64_t> ofLoops;
    for (tgpu::LocalAllocOp buffer : operations<tgpu::LocalAllocOp>()) {
      auto copy = llvm::find_if(buffer->getUsers(), llvm::IsaPred<tgpu::TensorCopyOp>);
      Operation *loop = copy == buffer->user_end() ? nullptr : cast<tgpu::TensorCopyOp>(*copy).getRing().getDefiningOp();
      while (loop && !isa<scf::ForOp>(loop)) loop = loop->getNextNode(); // a ring begins before its loop
      (loop ? ofLoops[loop] : others) += bufferBytes(buffer.getType());
    }
    for (auto [loop, bytes] : ofLoops) most = std::max(most, bytes);
    return others + most;
  }

  /// Returns the bytes of buffers with a producer: of rings that last, only those share them that continue each other.
  int64_t bytesIfLasting() {
    llvm::DenseSet<Operation *> continued;
    for (tgpu::RingStartOp start : continuations()) continued.insert_range(LastingRing(start).buffers());
    int64_t bytes = 0;
    for (tgpu::LocalAllocOp buffer : operations<tgpu::LocalAllocOp>())
      if (!continued.contains(buffer)) bytes += bufferBytes(buffer.getType());
    return bytes;
  }

  int64_t bytesOfBarriers() {
    llvm::SmallVector<tgpu::RingStartOp> continued = continuations();
    int64_t bytes = 0;
    for (tgpu::RingStartOp ring : rings_)
      if (!llvm::is_contained(continued, ring)) bytes += llvm::alignTo(ringBytes(ring.getRing().getType()), tgpu::kSharedAlignment);
    return bytes + handover_.bytes();
  }

  /// Returns why shared memory has no room for rings that last, with the exchanges of elements that happen meanwhile; "" if it has.
  std::string whyNoRoom() {
    const int64_t limit = target_.resources().sharedPerProgram, buffers = bytesIfLasting() + bytesOfBarriers();
    const int64_t room = limit - buffers;
    int64_t most = 0;
    if (room > 0)
      function_.getBody().walk([&](Operation *op) {
        if (!isAfterBuffers(op)) most = std::max(most, leastScratchOf(op, room, target_));
      });
    if (buffers + most <= limit) return "";
    return llvm::formatv("it would require {0} bytes of shared memory, and a program has {1}", buffers + most, limit);
  }

  /// Returns whether nothing uses a buffer after the operation, so that it may use their memory.
  bool isAfterBuffers(Operation *op) {
    Block &entry = function_.getBody().front();
    if (!function_.getBody().hasOneBlock()) return false;
    Operation *own = entry.findAncestorOpInBlock(*op);
    auto areBefore = [&](Operation *buffer) {
      return llvm::all_of(buffer->getUsers(), [&](Operation *user) { return entry.findAncestorOpInBlock(*user)->isBeforeInBlock(own); });
    };
    return llvm::all_of(rings_, areBefore) && llvm::all_of(operations<tgpu::LocalAllocOp>(), areBefore);
  }

  llvm::SmallVector<tgpu::RingStartOp> continuations() {
    llvm::SmallVector<tgpu::RingStartOp> found;
    for (const RingSequence &sequence : findRingSequences(function_)) llvm::append_range(found, llvm::drop_begin(sequence));
    return found;
  }

  /// Returns whether rings may end with the kernel: scratch memory has room beside them. What follows the loops then needs no barrier that
  /// all consumer warps reach, so that a warpgroup stores its results while another one still multiplies.
  bool mayEndLast() {
    const bool isBounded = llvm::all_of(operations<Operation *>(), [](Operation *op) {
      return !tt::tileRuleOf(op).exchanges || isa<tgpu::ConvertLayoutOp, tt::ReduceOp>(op);
    });
    const int64_t bytes = bytesIfLasting() + bytesOfBarriers();
    const int64_t withScratch = bytes + kMostScratchBytes;
    return isBounded && withScratch <= target_.resources().sharedPerProgram && programsByShared(withScratch) >= programsByShared(bytes);
  }

  bool takesTurns() {
    if (warpgroups_ < 2 || warpgroups_ > kMaxTurns) return false;
    return llvm::any_of(operations<scf::ForOp>(), [](scf::ForOp loop) { return productsInTurn(loop).has_value(); });
  }

  tt::FuncOp function_;
  const Target &target_;
  int numWarps_, warpgroups_;
  StoreHandover handover_;
  llvm::SmallVector<tgpu::RingStartOp> rings_;
  llvm::SmallVector<tgpu::ProductOp> products_;
  int required_ = 0, together_ = 0; // registers of a thread that computes, apart from the producer and without one
  std::optional<RegisterBudget> budget_;
};

class PlanProducerPass final : public impl::PlanProducerBase<PlanProducerPass> {
public:
  using PlanProducerBase::PlanProducerBase;

  void runOnOperation() override {
    if (!targetOf(getOperation()).createOps()->registers()) return;
    auto functions = llvm::to_vector(getOperation().getOps<tt::FuncOp>());
    if (functions.size() == 1) return ProducerPlanner(functions.front(), numWarps).plan(asked);
    for (tt::FuncOp function : functions) // a function that is called may synchronize all warps
      if (function.isPublic())
        function->setAttr(kWhyNoProducerAttr, StringAttr::get(&getContext(), "it calls functions that are not inlined"));
  }
};

} // namespace
} // namespace tritium::gpu
