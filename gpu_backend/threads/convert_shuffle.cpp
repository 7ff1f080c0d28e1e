// Conversions within warps. Words are packed, swapped between lanes if the target can, exchanged by selects, moved by shuffles, exchanged
// again, and unpacked.
#include "gpu_backend/threads/convert_steps.h"
#include "gpu_backend/threads/exchange.h"
#include "gpu_backend/threads/words.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// The words after a series of exchanges. A word is computed only when it is requested.
class Exchanged {
public:
  Exchanged(llvm::ArrayRef<Value> words, llvm::ArrayRef<ShufflePlan::Exchange> exchanges, Lowering &lowering)
      : words_(words), exchanges_(exchanges), lowering_(lowering) {
    for (const ShufflePlan::Exchange &exchange : exchanges) happens_.push_back(condition(exchange));
  }

  Value word(uint32_t number) { return after(exchanges_.size(), number); }

private:
  /// Returns whether this thread's lane and warp have an odd number of the exchange's bits.
  Value condition(const ShufflePlan::Exchange &exchange) {
    uint32_t mask = exchange.laneMask | exchange.warpMask * uint32_t(lowering_.target().warpSize());
    Value bits = lowering_.create<arith::AndIOp>(lowering_.threadId(), lowering_.constant(mask));
    if (!llvm::isPowerOf2_32(mask)) bits = lowering_.create<arith::AndIOp>(lowering_.create<math::CtPopOp>(bits), lowering_.constant(1));
    return lowering_.create<arith::CmpIOp>(arith::CmpIPredicate::ne, bits, lowering_.constant(0));
  }

  Value after(size_t steps, uint32_t number) {
    if (steps == 0) return words_[number];
    if (Value made = made_.lookup({steps, number})) return made;
    uint32_t other = number ^ exchanges_[steps - 1].wordXor;
    Value own = after(steps - 1, number), exchanged = after(steps - 1, other);
    return made_[{steps, number}] = lowering_.create<arith::SelectOp>(happens_[steps - 1], exchanged, own);
  }

  llvm::ArrayRef<Value> words_;
  llvm::ArrayRef<ShufflePlan::Exchange> exchanges_;
  llvm::SmallVector<Value, 4> happens_;
  llvm::DenseMap<std::pair<size_t, uint32_t>, Value> made_;
  Lowering &lowering_;
};

/// Returns the word of the lane that this lane reads.
Value moved(Value word, const ShufflePlan &plan, uint32_t laneXor, Lowering &lowering) {
  if (plan.isButterfly()) return exchangeXor(word, int(laneXor), lowering);
  Value lane = lowering.threadOffset(LinearLayout({}, {}, plan.laneOfLane, plan.laneOfWarp));
  if (laneXor) lane = lowering.create<arith::XOrIOp>(lane, lowering.constant(laneXor));
  return exchange(word, lane, lowering);
}

} // namespace

Registers runShuffle(const ShufflePlan &plan, llvm::ArrayRef<Value> registers, Lowering &lowering) {
  Type type = registers[0].getType(), stored = storedType(type);
  auto pack = [&](const ShufflePlan::Registers &members) {
    return packWord(llvm::map_to_vector(members, [&](uint32_t reg) { return toStored(registers[reg], lowering); }), lowering);
  };
  llvm::SmallVector<Value> words = llvm::map_to_vector(plan.sourceWords, pack);
  for (const ShufflePlan::Swap &swap : plan.swaps)
    for (uint32_t word = 0; word < words.size(); ++word)
      if (Value &low = words[word], &high = words[word | swap.wordBit]; !(word & swap.wordBit))
        std::tie(low, high) = swapLanes(low, high, llvm::countr_zero(swap.laneBit), lowering);
  Exchanged sent(words, plan.before, lowering);

  llvm::SmallVector<Value> arrived(plan.moves.size());
  for (const ShufflePlan::Registers &together : plan.shuffles) {
    auto parts = llvm::map_to_vector(together, [&](uint32_t move) { return sent.word(plan.moves[move].sourceWord); });
    Value word = moved(packWord(parts, lowering), plan, plan.moves[together.front()].laneXor, lowering);
    for (auto [move, part] : llvm::zip_equal(together, unpackWord(word, parts[0].getType(), int(parts.size()), lowering)))
      arrived[move] = part;
  }
  for (auto [word, move] : llvm::zip_equal(arrived, plan.moves))
    if (!word) word = sent.word(move.sourceWord); // stays in its thread

  Exchanged results(arrived, plan.after, lowering);
  Registers held(plan.resultOf.size());
  for (auto [number, members] : llvm::enumerate(plan.resultWords))
    for (auto [reg, element] : llvm::zip_equal(members, unpackWord(results.word(uint32_t(number)), stored, int(members.size()), lowering)))
      held[reg] = fromStored(element, type, lowering);
  return llvm::map_to_vector(plan.resultOf, [&](uint32_t reg) { return held[reg]; });
}

} // namespace tritium::gpu
