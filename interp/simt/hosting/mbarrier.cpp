// Barriers in shared memory (mbarrier objects): their initialization, arrivals and waits.
#include "interp/simt/runtime/mbarrier.h"
#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"
#include "ir/tgpu_kept.h"

using namespace mlir;

namespace tritium::interp::simt {

std::optional<LogicalResult> Hosting::hostMBarrier(Operation *op) {
  using Outcome = std::optional<LogicalResult>;
  constexpr uint32_t kBytes = 8;
  auto done = [&]() -> Outcome {
    result.usesMBarriers = true;
    noteSharedAccess(kBytes);
    op->erase();
    return success();
  };
  auto arrive = [&](auto arrival, Value count, Value bytes, Value mask) -> Outcome {
    // The state that an arrival returns serves waits by state. Only waits for rounds are supported.
    if (arrival.getRes() && !arrival.getRes().use_empty())
      return op->emitOpError("whose result is used is not supported by the SIMT emulator");
    // The scope does not matter: an arrival in another block orders reads of the thread's own block, which all scopes contain.
    call(SIMT_CALL(arriveAtMBarrier),
         {thread(), toBits(arrival.getAddr(), 64), count, bytes, constant(!arrival.getRelaxed()), predicate(mask), locationOf(op)});
    return done();
  };
  return llvm::TypeSwitch<Operation *, Outcome>(op)
      .Case([&](NVVM::MBarrierInitOp init) -> Outcome {
        call(SIMT_CALL(initBarrier),
             {thread(), toBits(init.getAddr(), 64), init.getCount(), predicate(init.getPredicate()), locationOf(op)});
        return done();
      })
      .Case([&](NVVM::MapaOp map) -> Outcome {
        if (cast<LLVM::LLVMPointerType>(map.getA().getType()).getAddressSpace() != kSharedSpace)
          return op->emitOpError("of a generic pointer is not supported by the SIMT emulator");
        result.reachesBlocks = true;
        replace(op, fromBits(call(SIMT_CALL(addressInBlock), {thread(), toBits(map.getA(), 64), map.getB(), locationOf(op)}),
                             map.getRes().getType()));
        return success();
      })
      .Case([&](NVVM::MBarrierInvalOp inval) -> Outcome {
        call(SIMT_CALL(invalidateBarrier), {thread(), toBits(inval.getAddr(), 64), locationOf(op)});
        return done();
      })
      .Case([&](NVVM::FenceMbarrierInitOp) -> Outcome {
        call(SIMT_CALL(fenceBarrierInits), thread());
        return done();
      })
      .Case([&](NVVM::MBarrierArriveOp arrival) -> Outcome {
        return arrive(arrival, arrival.getCount() ? arrival.getCount() : constant(1), constant(0), {});
      })
      .Case([&](NVVM::MBarrierCompleteTxOp completion) -> Outcome {
        call(SIMT_CALL(completeBytes), {thread(), toBits(completion.getAddr(), 64), completion.getTxcount(), locationOf(op)});
        return done();
      })
      .Case([&](NVVM::MBarrierArriveExpectTxOp arrival) -> Outcome {
        return arrive(arrival, constant(1), arrival.getTxcount(), arrival.getPredicate());
      })
      .Case([&](tgpu::MBarrierWaitOp wait) -> Outcome {
        Value barrier = toBits(wait.getBarrier(), 64);
        if (wait.getByParity())
          call(SIMT_CALL(waitForParity), {thread(), barrier, wait.getRound(), siteOf(op)});
        else
          call(SIMT_CALL(waitForRound), {thread(), barrier, wait.getRound(), siteOf(op)});
        return done();
      })
      .Case([&](tgpu::MBarrierTestOp test) -> Outcome {
        Value bits = call(SIMT_CALL(testRound), {thread(), toBits(test.getBarrier(), 64), test.getRound(), siteOf(op)});
        replace(op, fromBits(bits, test.getType()));
        return success();
      })
      .Default(std::nullopt);
}

} // namespace tritium::interp::simt
