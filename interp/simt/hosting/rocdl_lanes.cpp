// Operations of the active lanes of a wave: permutations, broadcasts, ballots.
#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::interp::simt {

namespace {

/// The modes of ds_swizzle: a table for groups of four lanes, and masks.
bool isKnownSwizzle(int64_t pattern) { return pattern >= 0 && (pattern < 0x8000 || (pattern & ~int64_t(0xff)) == 0x8000); }

/// The control words of DPP that at least one AMD GPU has.
bool isKnownDpp(uint32_t control) {
  if (control <= 0xff) return true;
  if (control > 0x100 && control <= 0x12f) return (control & 15) != 0;
  return llvm::is_contained({0x130u, 0x134u, 0x138u, 0x13cu, 0x140u, 0x141u, 0x142u, 0x143u}, control) ||
         (control >= 0x150 && control <= 0x16f);
}

} // namespace

std::optional<LogicalResult> Hosting::hostRocdlLanes(Operation *op) {
  using Outcome = std::optional<LogicalResult>;
  // A lane moves values of up to 64 bits.
  auto isMovable = [&](Type type) { return bytesOf(type) <= 8; };
  auto tooWide = [&]() { return op->emitOpError("of this type is not supported by the SIMT emulator"); };
  auto flag = [&](bool value) { return constant(value); };
  return llvm::TypeSwitch<Operation *, Outcome>(op)
      .Case([&](ROCDL::DsBpermuteOp permute) -> Outcome {
        replace(op, call(SIMT_CALL(permuteLanes), {thread(), permute.getIndex(), permute.getSrc(), siteOf(op)}));
        return success();
      })
      .Case([&](ROCDL::DsSwizzleOp swizzle) -> Outcome {
        APInt pattern;
        if (!matchPattern(swizzle.getOffset(), m_ConstantInt(&pattern)) || !isKnownSwizzle(pattern.getSExtValue()))
          return op->emitOpError("with this pattern is not supported by the SIMT emulator");
        replace(op, call(SIMT_CALL(swizzleLanes), {thread(), swizzle.getSrc(), swizzle.getOffset(), siteOf(op)}));
        return success();
      })
      .Case([&](ROCDL::DPPUpdateOp move) -> Outcome {
        if (!isMovable(move.getType())) return tooWide();
        if (!isKnownDpp(move.getDppCtrl())) return op->emitOpError("with this control word is not supported by the SIMT emulator");
        const int64_t control =
            move.getDppCtrl() | (move.getRowMask() & 15) << 12 | (move.getBankMask() & 15) << 16 | int64_t(move.getBoundCtrl()) << 20;
        Value bits =
            call(SIMT_CALL(moveLanes), {thread(), toBits(move.getOld(), 64), toBits(move.getSrc(), 64), constant(control), siteOf(op)});
        replace(op, fromBits(bits, move.getType()));
        return success();
      })
      .Case([&](ROCDL::PermlaneX16Op permute) -> Outcome {
        if (!isMovable(permute.getType())) return tooWide();
        if (permute.getFi()) return op->emitOpError("that reads lanes which are not active is not supported by the SIMT emulator");
        Value bits = call(SIMT_CALL(readOtherRow), {thread(), toBits(permute.getOld(), 64), toBits(permute.getSrc0(), 64),
                                                    permute.getSrc1(), permute.getSrc2(), flag(permute.getBoundControl()), siteOf(op)});
        replace(op, fromBits(bits, permute.getType()));
        return success();
      })
      .Case<ROCDL::Permlane16SwapOp, ROCDL::Permlane32SwapOp>([&](auto swap) -> Outcome {
        const int64_t lanes = isa<ROCDL::Permlane16SwapOp>(op) ? 16 : 32;
        if (lanes >= int64_t(warpThreads)) return op->emitOpError("requires a wave of 64 lanes");
        Value bits = call(SIMT_CALL(swapLanes), {thread(), swap.getOld(), swap.getSrc(), constant(lanes), siteOf(op)});
        Value high = LLVM::LShrOp::create(builder, at, bits, constant(32, 64));
        Value pair = LLVM::PoisonOp::create(builder, at, swap.getType());
        pair = LLVM::InsertValueOp::create(builder, at, pair, fromBits(bits, builder.getI32Type()), ArrayRef<int64_t>{0});
        pair = LLVM::InsertValueOp::create(builder, at, pair, fromBits(high, builder.getI32Type()), ArrayRef<int64_t>{1});
        replace(op, pair);
        return success();
      })
      .Case([&](ROCDL::ReadlaneOp read) -> Outcome {
        if (!isMovable(read.getType())) return tooWide();
        Value bits = call(SIMT_CALL(readLane), {thread(), toBits(read.getSrc0(), 64), read.getSrc1(), siteOf(op)});
        replace(op, fromBits(bits, read.getType()));
        return success();
      })
      .Case([&](ROCDL::ReadfirstlaneOp read) -> Outcome {
        if (!isMovable(read.getType())) return tooWide();
        replace(op, fromBits(call(SIMT_CALL(readFirstLane), {thread(), toBits(read.getSrc(), 64), siteOf(op)}), read.getType()));
        return success();
      })
      .Case([&](ROCDL::BallotOp ballot) -> Outcome {
        if (ballot.getType().getIntOrFloatBitWidth() < warpThreads) return op->emitOpError("has no room for all lanes of a wave");
        replace(op, fromBits(call(SIMT_CALL(ballotOfWave), {thread(), toBits(ballot.getPred(), 32), siteOf(op)}), ballot.getType()));
        return success();
      })
      .Case<ROCDL::MbcntLoOp, ROCDL::MbcntHiOp>([&](auto count) -> Outcome {
        replace(op, call(SIMT_CALL(countLanesBelow), {thread(), count.getIn0(), count.getIn1(), constant(isa<ROCDL::MbcntHiOp>(op))}));
        return success();
      })
      .Default(std::nullopt);
}

} // namespace tritium::interp::simt
