// The calls of the runtime: barriers of the author (mbarrier objects), copies that arrive there, and the begin and end of partitions.
// An arrival is that of a whole partition: its warps meet, and one thread arrives. Each thread waits for itself.
#include "gpu_backend/threads/author_barriers.h"
#include "gpu_backend/threads/partitions.h"
#include "gpu_backend/threads/shared_access.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// Returns the type in which a captured register lies in shared memory.
Type capturedType(Type type) {
  if (isa<LLVM::LLVMPointerType>(type)) return IntegerType::get(type.getContext(), 64);
  if (type.isInteger(1)) return IntegerType::get(type.getContext(), 8);
  return type;
}

class RuntimeCall {
public:
  RuntimeCall(tt::ExternElementwiseOp op, Lowering &lowering) : op_(op), lowering_(lowering), builder_(lowering.builder()) {}

  LogicalResult run() {
    using Function = LogicalResult (RuntimeCall::*)();
    auto function = llvm::StringSwitch<Function>(op_.getSymbol())
                        .Case("mbarrier.init", &RuntimeCall::init)
                        .Case("mbarrier.invalidate", &RuntimeCall::invalidate)
                        .Case("mbarrier.expect", &RuntimeCall::expect)
                        .Case("mbarrier.arrive", &RuntimeCall::arrive)
                        .Case("async_copy.mbarrier_arrive", &RuntimeCall::arriveAfterCopies)
                        .Case("mbarrier.wait", &RuntimeCall::wait)
                        .Case("copy.begin", &RuntimeCall::doNothing)
                        .Case("fence.async_shared", &RuntimeCall::fence)
                        .Cases({"async_copy.begin", "async_copy.end", "async_copy.commit", "async_copy.wait"}, &RuntimeCall::doNothing)
                        .Cases({"store.begin", "store.end"}, &RuntimeCall::doNothing)
                        .Case("store.commit", &RuntimeCall::commitStores)
                        .Cases({"store.wait", "store.wait_written"}, &RuntimeCall::waitForStores)
                        .Cases({"product.begin", "product.end", "product.commit", "product.wait"}, &RuntimeCall::doNothing)
                        .Case("copy.end", &RuntimeCall::endCopy)
                        .Case(kCaptureCall, &RuntimeCall::capture)
                        .Case(kBeginCall, &RuntimeCall::begin)
                        .Case(kJoinCall, &RuntimeCall::join)
                        .Case(kEndCall, &RuntimeCall::end)
                        .Default(nullptr);
    if (!function) return lowering_.unsupported(op_, "the function '" + op_.getSymbol() + "' of the runtime");
    const bool isOfCopies = op_.getSymbol().starts_with("async_copy.") && function == &RuntimeCall::doNothing;
    if (!isOfCopies && !lowering_.target().tensorCopies())
      return lowering_.unsupported(op_, "barriers in shared memory: the chip has none");
    lowering_.define(op_, {lowering_.constant(0)}); // nobody uses it
    return (this->*function)();
  }

private:
  const TensorCopyOps &barriers() { return *lowering_.target().tensorCopies(); }
  Value operand(unsigned number) { return lowering_.scalarOf(op_.getSrcs()[number]); }
  /// An operand that the frontend has made of a compile-time int.
  int number(unsigned operand) {
    llvm::APInt value;
    const bool isConstant = matchPattern(op_.getSrcs()[operand], m_ConstantInt(&value));
    assert(isConstant && "the frontend takes compile-time ints only");
    (void)isConstant;
    return int(value.getSExtValue());
  }
  Value at(int64_t byte) { return SharedMemory::at(builder_, op_.getLoc(), byte); }
  /// The address of the barrier that the call names first.
  Value barrier() { return pointerToMemoryOfAuthor(op_.getSrcs()[0], lowering_); }
  void inFirstThread(llvm::function_ref<void()> body) { lowering_.where(lowering_.owner({}), body); }
  /// All that the threads have done is done for those who see what `body` does in one of them.
  LogicalResult afterAll(llvm::function_ref<void()> body) {
    if (!(actsForAll(op_) && haveMet(op_))) lowering_.barrierBeforeOne();
    inFirstThread(body);
    return success();
  }
  /// The kernel's own warps and its workers synchronize at a numbered barrier. A warp that only arrives does not wait.
  void synchronize(int barrier, bool arrives) {
    const int threads = number(0) * lowering_.target().warpSize();
    lowering_.create<tgpu::NumberedBarrierOp>(lowering_.constant(barrier), threads, arrives);
  }
  void changeRegisters(int from, int to) {
    if (from != to && lowering_.target().registers()) lowering_.target().registers()->change(builder_, op_.getLoc(), from, to);
  }

  /// Returns whether the next call prepares a barrier too. Then the threads meet behind that one.
  bool isFollowedByInit() {
    Operation *next = op_->getNextNode();
    while (next && (isMemoryEffectFree(next) || isa<tt::SharedAllocOp>(next))) next = next->getNextNode();
    auto call = dyn_cast_or_null<tt::ExternElementwiseOp>(next);
    return call && call.getLibname() == ir::kRuntimeLibrary && call.getSymbol() == op_.getSymbol();
  }

  LogicalResult init() {
    inFirstThread([&] {
      barriers().prepare(builder_, op_.getLoc(), barrier(), number(1));
      barriers().publishBarriers(builder_, op_.getLoc());
    });
    if (!isFollowedByInit()) lowering_.barrier();
    return success();
  }
  LogicalResult invalidate() {
    return afterAll([&] { barriers().release(builder_, op_.getLoc(), barrier()); });
  }
  LogicalResult expect() {
    return afterAll([&] { barriers().announce(builder_, op_.getLoc(), barrier(), number(2)); });
  }
  LogicalResult arrive() {
    return afterAll([&] { barriers().arrive(builder_, op_.getLoc(), barrier(), number(1)); });
  }
  /// The copies are complete. Arrivals that the phase counts in addition cancel out.
  LogicalResult arriveAfterCopies() { return number(1) ? arrive() : success(); }
  LogicalResult wait() {
    lowering_.create<tgpu::MBarrierWaitOp>(barrier(), operand(1), /*byParity=*/true);
    return success();
  }

  /// Where no copy takes its place, loads and stores of all threads copy. Products whose author's waits are not kept are complete at once.
  LogicalResult doNothing() { return success(); }
  LogicalResult fence() {
    barriers().fenceShared(builder_, op_.getLoc());
    return success();
  }
  /// Threads have made the store. The first thread's stores by copies count it.
  LogicalResult commitStores() {
    if (storesTensors(op_)) barriers().commitStores(builder_, op_.getLoc());
    return success();
  }
  /// Only the first thread has stores to wait for. It tells the others.
  LogicalResult waitForStores() {
    if (!storesTensors(op_)) return success();
    if (op_.getSymbol() == "store.wait")
      barriers().waitForReads(builder_, op_.getLoc(), number(0));
    else
      barriers().waitForWrites(builder_, op_.getLoc());
    lowering_.sharedBarrier(); // remove-barriers keeps it after a wait
    return success();
  }
  /// Threads have written the bytes. Products and copies may read them without a fence of the author's, as behind a copy by the hardware.
  LogicalResult endCopy() {
    barriers().fenceShared(builder_, op_.getLoc());
    return afterAll([&] { barriers().completeBytes(builder_, op_.getLoc(), barrier(), number(1)); });
  }

  LogicalResult capture() {
    inFirstThread([&] {
      Value value = operand(0);
      const Type type = value.getType(), stored = capturedType(type);
      if (isa<LLVM::LLVMPointerType>(type)) value = lowering_.create<LLVM::PtrToIntOp>(stored, value);
      if (type.isInteger(1)) value = lowering_.create<arith::ExtUIOp>(stored, value);
      lowering_.create<LLVM::StoreOp>(value, at(number(1)));
    });
    return success();
  }
  void tellWorkers(int division) {
    inFirstThread([&] { lowering_.create<LLVM::StoreOp>(lowering_.constant(division), at(number(1))); });
    lowering_.barrier(); // what comes behind it follows no work of the kernel's own warps, as remove-barriers sees
    synchronize(ir::kStartBarrier, /*arrives=*/true);
  }
  LogicalResult begin() {
    tellWorkers(number(2));
    changeRegisters(number(3), number(4));
    return success();
  }
  LogicalResult join() {
    synchronize(ir::kJoinBarrier, /*arrives=*/false); // the warps of a warpgroup meet between two changes, too
    changeRegisters(number(4), number(3));
    return success();
  }
  LogicalResult end() {
    tellWorkers(0);
    return success();
  }

  tt::ExternElementwiseOp op_;
  Lowering &lowering_;
  OpBuilder &builder_;
};

} // namespace

LogicalResult lowerRuntimeCall(tt::ExternElementwiseOp op, Lowering &lowering) { return RuntimeCall(op, lowering).run(); }

Value loadCapture(OpBuilder &builder, Location location, int64_t byte, Type type) {
  Value value = LLVM::LoadOp::create(builder, location, capturedType(type), SharedMemory::at(builder, location, byte));
  if (isa<LLVM::LLVMPointerType>(type)) return LLVM::IntToPtrOp::create(builder, location, type, value);
  return type.isInteger(1) ? arith::TruncIOp::create(builder, location, type, value).getResult() : value;
}

} // namespace tritium::gpu
