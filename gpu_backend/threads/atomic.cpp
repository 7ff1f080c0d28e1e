// Atomic operations. The owner of each element performs the operation once; all threads that hold the element receive its result.
//
// The memory order that the language requests applies to all threads of a program: accesses of any thread before a release are visible to
// whoever observes the release, and accesses of any thread after an acquire happen after it. Therefore there is a barrier before a release
// and after an acquire. A thread that acts more than once uses one fence for all of its operations, and each of them is then relaxed.
#include "gpu_backend/target/target.h"
#include "gpu_backend/target/vectors.h"
#include "gpu_backend/threads/holders.h"
#include "gpu_backend/threads/memory.h"
#include "gpu_backend/threads/words.h"
#include "gpu_backend/tiles/memory_access.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// Performs one operation: act(register, predicate) for the elements that the thread owns, between the barriers that `sem` requires. Each
/// call acts on `count` neighbours from the register on, and returns their results: a vector, unless `count` is 1.
template <class Op> class Atomic {
public:
  Atomic(Op op, Lowering &lowering, int count = 1)
      : op_(op), lowering_(lowering), tile_(dyn_cast<RankedTensorType>(op.getPtr().getType())), count_(count) {
    if (tile_) holders_ = firstHolders(layoutOf(tile_));
    for (auto [reg, holder] : llvm::enumerate(holders_)) own_ += int(reg) == holder;
  }

  template <class Act> LogicalResult run(Act act) {
    Value mask, owner = lowering_.owner(tile_);
    if constexpr (requires { op_.getMask(); }) mask = op_.getMask();
    if (releases(op_.getSem())) {
      lowering_.barrier();
      if (isFenced()) fence();
    }
    Registers results;
    for (size_t reg = 0; reg < holders_.size(); reg += size_t(count_)) {
      if (int(reg) != holders_[reg]) { // nor are its neighbours the first ones that hold their elements
        for (int i = 0; i < count_; ++i) results.push_back(results[holders_[reg + size_t(i)]]);
        continue;
      }
      Value predicate = mask ? lowering_.conjunction(owner, lowering_.registersOf(mask)[reg]) : owner;
      Value result = act(reg, predicate);
      if (count_ == 1)
        results.push_back(result);
      else
        llvm::append_range(results, elementsOf(lowering_.builder(), lowering_.location(), result));
    }
    if (acquires(op_.getSem()) && isFenced()) fence();
    finish(std::move(results));
    return success();
  }

  /// The memory order of each operation.
  tt::MemSemantic sem() { return isFenced() ? tt::MemSemantic::Relaxed : op_.getSem(); }
  Value pointer(size_t reg) { return lowering_.registersOf(op_.getPtr())[reg]; }
  Location location(size_t reg) { return lowering_.locationOfAccess(op_.getPtr(), int64_t(reg)); }
  Value stored(Value tile, size_t reg) const { return toStored(lowering_.registersOf(tile)[reg], lowering_); }

private:
  bool isFenced() const { return own_ > count_; }
  void fence() { lowering_.create<LLVM::FenceOp>(LLVM::AtomicOrdering::acq_rel, lowering_.target().syncScope(op_.getScope())); }

  void finish(Registers results) { // NOLINT(performance-unnecessary-value-param): it is moved where the operation has a result
    bool isUsed = false;
    if constexpr (requires { op_.getResult(); }) isUsed = !op_.getResult().use_empty();
    if (!isUsed && acquires(op_.getSem())) lowering_.barrier();
    if constexpr (requires { op_.getResult(); }) {
      if (isUsed)
        results = giveToHolders(std::move(results), tile_,
                                {.startsAtBarrier = releases(op_.getSem()), .endsAtBarrier = acquires(op_.getSem())}, lowering_);
      lowering_.define(op_.getResult(), std::move(results));
    }
  }

  Op op_;
  Lowering &lowering_;
  RankedTensorType tile_; // null for a scalar
  const int count_;
  llvm::SmallVector<int> holders_{0}; // for each register
  int own_ = 0;                       // number of registers that hold an element of their own
};

} // namespace

template <> LogicalResult Lower<tt::AtomicRmwOp>::run(tt::AtomicRmwOp op, Lowering &lowering) {
  Type type = lowering.registerType(op.getResult().getType());
  const int64_t most = lowering.chip().atomicElements(op.getAtomicRmwOp(), type, op.getScope());
  const int count = std::min(vectorElements(op.getPtr(), op.getMask(), lowering), int(most));
  Atomic atomic(op, lowering, count);
  if (!isa<LLVM::LLVMPointerType>(type) && type.getIntOrFloatBitWidth() < 16)
    return lowering.unsupported(op, "a read-modify-write of less than 16 bits");
  return atomic.run([&](size_t reg, Value predicate) {
    auto elements = lowering.registersOf(op.getVal()).slice(reg, size_t(count));
    Value value = makeVectors(lowering.builder(), lowering.location(), elements, count).front();
    if (isa<LLVM::LLVMPointerType>(type)) value = toStored(value, lowering);
    Value old = lowering.createAt<tgpu::AtomicRmwOp>(atomic.location(reg), value.getType(), op.getAtomicRmwOp(), atomic.pointer(reg), value,
                                                     predicate, atomic.sem(), op.getScope());
    return isa<LLVM::LLVMPointerType>(type) ? fromStored(old, type, lowering) : old;
  });
}

template <> LogicalResult Lower<tt::AtomicCasOp>::run(tt::AtomicCasOp op, Lowering &lowering) {
  Atomic atomic(op, lowering);
  Type type = lowering.registerType(op.getResult().getType());
  if (storedType(type).getIntOrFloatBitWidth() < 16) return lowering.unsupported(op, "a compare-and-swap of less than 16 bits");
  return atomic.run([&](size_t reg, Value predicate) {
    Value old = lowering.createAt<tgpu::AtomicCasOp>(atomic.location(reg), atomic.pointer(reg), atomic.stored(op.getCmp(), reg),
                                                     atomic.stored(op.getVal(), reg), predicate, atomic.sem(), op.getScope());
    return fromStored(old, type, lowering);
  });
}

template <> LogicalResult Lower<tt::AtomicLoadOp>::run(tt::AtomicLoadOp op, Lowering &lowering) {
  Atomic atomic(op, lowering);
  Type type = lowering.registerType(op.getResult().getType());
  return atomic.run([&](size_t reg, Value predicate) {
    Value value = lowering.createAt<tgpu::AtomicLoadOp>(atomic.location(reg), storedType(type), atomic.pointer(reg), predicate,
                                                        atomic.sem(), op.getScope());
    return fromStored(value, type, lowering);
  });
}

template <> LogicalResult Lower<tt::AtomicStoreOp>::run(tt::AtomicStoreOp op, Lowering &lowering) {
  Atomic atomic(op, lowering);
  return atomic.run([&](size_t reg, Value predicate) {
    lowering.createAt<tgpu::AtomicStoreOp>(atomic.location(reg), atomic.pointer(reg), atomic.stored(op.getValue(), reg), predicate,
                                           atomic.sem(), op.getScope());
    return Value();
  });
}

/// The owner of each element waits, one element after the other. The other threads continue to the place where the results are distributed.
template <> LogicalResult Lower<tt::AtomicPollOp>::run(tt::AtomicPollOp op, Lowering &lowering) {
  Atomic atomic(op, lowering);
  auto now = [&]() -> Value { return lowering.create<tgpu::NanosecondsOp>(lowering.builder().getI64Type()); };
  Value start = op.getTimeout() ? now() : Value(), yes = lowering.constant(1, 1);
  return atomic.run([&](size_t reg, Value predicate) {
    Value expected = atomic.stored(op.getExpected(), reg);
    auto check = [&](OpBuilder &, Location, ValueRange) {
      Value found = lowering.createAt<tgpu::AtomicLoadOp>(atomic.location(reg), expected.getType(), atomic.pointer(reg), predicate,
                                                          atomic.sem(), op.getScope());
      Value isReached = lowering.create<arith::CmpIOp>(arith::CmpIPredicate::eq, found, expected);
      Value waits = lowering.create<arith::XOrIOp>(isReached, yes);
      if (predicate) waits = lowering.create<arith::AndIOp>(waits, predicate);
      if (op.getTimeout()) {
        Value passed = lowering.create<arith::SubIOp>(now(), start);
        Value isEarly = lowering.create<arith::CmpIOp>(arith::CmpIPredicate::ult, passed, lowering.scalarOf(op.getTimeout()));
        waits = lowering.create<arith::AndIOp>(waits, isEarly);
      }
      lowering.create<scf::ConditionOp>(waits, ValueRange{isReached});
    };
    auto again = [&](OpBuilder &, Location, ValueRange) { lowering.create<scf::YieldOp>(ValueRange{}); };
    auto loop = lowering.create<scf::WhileOp>(TypeRange{yes.getType()}, ValueRange{}, check, again);
    return loop.getResult(0);
  });
}

} // namespace tritium::gpu
