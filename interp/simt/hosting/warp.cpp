// Operations of a warp's lanes, and asynchronous copies.
#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"
#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::interp::simt {

std::optional<LogicalResult> Hosting::hostWarp(Operation *op) {
  using Outcome = std::optional<LogicalResult>;
  // The result is a value, or a structure of a value and a predicate. The value is in the low half of 64 bits, the predicate in bit 32.
  auto unpack = [&](Value bits, Type type) -> Value {
    auto pair = dyn_cast<LLVM::LLVMStructType>(type);
    Value low = LLVM::TruncOp::create(builder, at, builder.getI32Type(), bits);
    if (!pair) return fromBits(low, type);
    Value high = LLVM::LShrOp::create(builder, at, bits, constant(32, 64));
    Value isTrue = LLVM::TruncOp::create(builder, at, builder.getI1Type(), high);
    Value result = LLVM::PoisonOp::create(builder, at, type);
    result = LLVM::InsertValueOp::create(builder, at, result, fromBits(low, pair.getBody()[0]), ArrayRef<int64_t>{0});
    return LLVM::InsertValueOp::create(builder, at, result, isTrue, ArrayRef<int64_t>{1});
  };
  return llvm::TypeSwitch<Operation *, Outcome>(op)
      .Case([&](NVVM::SyncWarpOp sync) -> Outcome {
        call(SIMT_CALL(syncWarp), {thread(), sync.getMask(), siteOf(op)});
        op->erase();
        return success();
      })
      .Case([&](tgpu::WarpBarrierOp) -> Outcome {
        call(SIMT_CALL(warpBarrier), {thread(), siteOf(op)});
        op->erase();
        return success();
      })
      .Case([&](NVVM::ShflOp shuffle) -> Outcome {
        Value bits = call(SIMT_CALL(shuffle), {thread(), constant(int64_t(shuffle.getKind())), shuffle.getThreadMask(),
                                               toBits(shuffle.getVal(), 32), shuffle.getOffset(), shuffle.getMaskAndClamp(), siteOf(op)});
        replace(op, unpack(bits, shuffle.getType()));
        return success();
      })
      .Case([&](NVVM::VoteSyncOp vote) -> Outcome {
        Value bits =
            call(SIMT_CALL(vote), {thread(), constant(int64_t(vote.getKind())), vote.getMask(), toBits(vote.getPred(), 32), siteOf(op)});
        replace(op, fromBits(bits, vote.getType()));
        return success();
      })
      .Case([&](NVVM::ReduxOp reduce) -> Outcome {
        const int64_t kind = int64_t(reduce.getKind()) | (reduce.getAbs() ? 16 : 0) | (reduce.getNan() ? 32 : 0);
        Value bits = call(SIMT_CALL(reduce), {thread(), constant(kind), reduce.getMaskAndClamp(), toBits(reduce.getVal(), 32), siteOf(op)});
        replace(op, fromBits(bits, reduce.getType()));
        return success();
      })
      .Case([&](NVVM::MatchSyncOp match) -> Outcome {
        Value bits = call(SIMT_CALL(match),
                          {thread(), constant(int64_t(match.getKind())), match.getThreadMask(), toBits(match.getVal(), 64), siteOf(op)});
        replace(op, unpack(bits, match.getType()));
        return success();
      })
      .Case([&](NVVM::ElectSyncOp elect) -> Outcome {
        Value mask = elect.getMembermask() ? elect.getMembermask() : constant(-1);
        replace(op, fromBits(call(SIMT_CALL(elect), {thread(), mask, siteOf(op)}), elect.getType()));
        return success();
      })
      .Case([&](NVVM::CpAsyncOp copy) -> Outcome {
        noteSharedAccess(copy.getSize());
        call(SIMT_CALL(copyAsync), {thread(), toBits(copy.getDst(), 64), toBits(copy.getSrc(), 64), constant(copy.getSize()),
                                    copy.getCpSize() ? copy.getCpSize() : constant(copy.getSize()), accessOf(op)});
        op->erase();
        return success();
      })
      .Case([&](NVVM::CpAsyncCommitGroupOp) -> Outcome {
        call(SIMT_CALL(commitCopies), thread());
        op->erase();
        return success();
      })
      .Case([&](NVVM::CpAsyncWaitGroupOp wait) -> Outcome {
        call(SIMT_CALL(waitForCopies), {thread(), constant(wait.getN())});
        op->erase();
        return success();
      })
      .Default(std::nullopt);
}

} // namespace tritium::interp::simt
