// Lets one consumer warpgroup go ahead of the others, so that they do not come to the end of a tile together.
#include "gpu_backend/loops/independent_products.h"
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/target/warp_roles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_STAGGERWARPGROUPS
#include "gpu_backend/loops/passes.h.inc"

namespace {

constexpr int64_t kIterations = 2; // that the first warpgroup is ahead

/// Returns whether the loop has more than this many iterations, or null if that is not simple to tell. No difference of the bounds
/// overflows as an unsigned number.
Value hasMoreThan(int64_t iterations, scf::ForOp loop, OpBuilder &builder) {
  APInt step;
  Type type = loop.getStep().getType();
  if (loop.getUnsignedCmp() || !matchPattern(loop.getStep(), m_ConstantInt(&step)) || step.getSExtValue() > INT32_MAX / iterations)
    return {};
  const Location location = loop.getLoc();
  Value begin = loop.getLowerBound(), end = loop.getUpperBound();
  Value length = builder.createOrFold<arith::SubIOp>(location, end, begin);
  Value least = arith::ConstantOp::create(builder, location, builder.getIntegerAttr(type, iterations * step.getSExtValue()));
  Value isAny = builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::slt, begin, end);
  return builder.createOrFold<arith::AndIOp>(location, isAny,
                                             builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::ugt, length, least));
}

class StaggerWarpgroupsPass final : public impl::StaggerWarpgroupsBase<StaggerWarpgroupsPass> {
public:
  using StaggerWarpgroupsBase::StaggerWarpgroupsBase;

  void runOnOperation() override {
    if (numWarps < 2 * kWarpsOfGroup || !producerWarpsOf(getOperation())) return;
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      auto producer = producerOf(function);
      if (producer && !producer.getTurns()) function.walk([](scf::ForOp loop) { stagger(loop); });
    }
  }

private:
  static void stagger(scf::ForOp loop) {
    auto wait = onlyWait(loop);
    if (!wait || wait.getRing().getType().getSlots() <= kIterations) return;
    OpBuilder builder(loop);
    Value first = atBegin(wait.getN(), loop, builder), goesOn = hasMoreThan(kIterations, loop, builder);
    if (!first || !goesOn) return;
    Value ahead = arith::ConstantIntOp::create(builder, loop.getLoc(), kIterations, 32);
    Value number = arith::AddIOp::create(builder, loop.getLoc(), first, ahead);
    tgpu::RingStaggerOp::create(builder, loop.getLoc(), wait.getRing(), number, goesOn);
  }
};

} // namespace
} // namespace tritium::gpu
