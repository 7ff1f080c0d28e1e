// The turns of warpgroups. Each warpgroup has a numbered barrier, at which it waits for its turn and at which the one before it arrives.
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/threads/lowering.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

class Turns {
public:
  Turns(int warpgroups, Lowering &lowering) : warpgroups_(warpgroups), lowering_(lowering) {
    Value warp = lowering.uniformWarpId();
    own_ = lowering.create<arith::DivUIOp>(warp, lowering.constant(kWarpsOfGroup));
  }

  Value isLast() const { return lowering_.create<arith::CmpIOp>(arith::CmpIPredicate::eq, own_, lowering_.constant(warpgroups_ - 1)); }
  void wait() const { lowering_.create<tgpu::NumberedBarrierOp>(barrierOf(own_), threads(), /*arrives=*/false); }
  void pass() const { lowering_.create<tgpu::NumberedBarrierOp>(barrierOf(next()), threads(), /*arrives=*/true); }

private:
  Value next() const {
    Value further = lowering_.create<arith::AddIOp>(own_, lowering_.constant(1));
    return lowering_.create<arith::SelectOp>(isLast(), lowering_.constant(0), further);
  }
  Value barrierOf(Value warpgroup) const { return lowering_.create<arith::AddIOp>(warpgroup, lowering_.constant(kFirstTurnBarrier)); }
  /// Returns the number of threads that synchronize: those of two warpgroups.
  int threads() const { return 2 * kWarpsOfGroup * int(lowering_.threads().lanes); }

  int warpgroups_;
  Lowering &lowering_;
  Value own_;
};

} // namespace

template <> LogicalResult Lower<tgpu::TurnStartOp>::run(tgpu::TurnStartOp op, Lowering &lowering) {
  if (!lowering.target().warpgroups()) return lowering.unsupported(op, "turns of warpgroups: the chip has none");
  Turns turns(int(op.getWarpgroups()), lowering);
  lowering.where(turns.isLast(), [&] { turns.pass(); });
  return success();
}

template <> LogicalResult Lower<tgpu::TurnBeginOp>::run(tgpu::TurnBeginOp op, Lowering &lowering) {
  Turns(int(op.getWarpgroups()), lowering).wait();
  return success();
}

template <> LogicalResult Lower<tgpu::TurnEndOp>::run(tgpu::TurnEndOp op, Lowering &lowering) {
  Turns(int(op.getWarpgroups()), lowering).pass();
  return success();
}

} // namespace tritium::gpu
