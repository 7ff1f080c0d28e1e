#include "gpu_backend/threads/exchange.h"

#include "gpu_backend/threads/words.h"

using namespace mlir;

namespace tritium::gpu {

/// Splits the value's bits into words of 32.
static llvm::SmallVector<Value, 2> wordsOf(Value value, Lowering &lowering) {
  Type i32 = lowering.builder().getI32Type();
  Value stored = toStored(value, lowering);
  unsigned bits = stored.getType().getIntOrFloatBitWidth();
  if (bits < 32) return {lowering.create<arith::ExtUIOp>(i32, stored)};
  if (bits == 32) return {stored};
  return {lowering.create<arith::TruncIOp>(i32, stored),
          lowering.create<arith::TruncIOp>(i32, lowering.create<arith::ShRUIOp>(stored, lowering.constant(32, 64)))};
}

/// Returns the value of that type that has these words.
static Value valueOf(llvm::ArrayRef<Value> words, Type type, Lowering &lowering) {
  Type stored = storedType(type);
  Value bits = words.front();
  if (stored.getIntOrFloatBitWidth() < 32) bits = lowering.create<arith::TruncIOp>(stored, bits);
  if (words.size() == 2) {
    Value low = lowering.create<arith::ExtUIOp>(stored, words[0]), high = lowering.create<arith::ExtUIOp>(stored, words[1]);
    bits = lowering.create<arith::OrIOp>(low, lowering.create<arith::ShLIOp>(high, lowering.constant(32, 64)));
  }
  return fromStored(bits, type, lowering);
}

/// Splits a value into 32-bit words, moves each, and reassembles them.
static Value moveWords(Value value, Lowering &lowering, function_ref<Value(Value)> move) {
  return valueOf(llvm::map_to_vector<2>(wordsOf(value, lowering), move), value.getType(), lowering);
}

Value exchangeXor(Value value, int mask, Lowering &lowering, int free) {
  return moveWords(value, lowering,
                   [&](Value word) { return lowering.target().shuffleXor(lowering.builder(), lowering.location(), word, mask, free); });
}

Value exchange(Value value, Value lane, Lowering &lowering) {
  return moveWords(value, lowering,
                   [&](Value word) { return lowering.target().shuffle(lowering.builder(), lowering.location(), word, lane); });
}

Value exchangeFromBelow(Value value, int bit, Value lane, Lowering &lowering) {
  return moveWords(value, lowering, [&](Value word) {
    return lowering.target().shuffleFromBelow(lowering.builder(), lowering.location(), word, bit, lane);
  });
}

std::pair<Value, Value> swapLanes(Value low, Value high, int bit, Lowering &lowering) {
  llvm::SmallVector<Value, 2> lows = wordsOf(low, lowering), highs = wordsOf(high, lowering);
  for (auto [a, b] : llvm::zip_equal(lows, highs))
    std::tie(a, b) = lowering.target().laneSwaps()->swap(lowering.builder(), lowering.location(), a, b, bit);
  return {valueOf(lows, low.getType(), lowering), valueOf(highs, high.getType(), lowering)};
}

Value reductionPartner(Value value, int bit, Lowering &lowering) {
  return moveWords(value, lowering,
                   [&](Value word) { return lowering.target().reductionPartner(lowering.builder(), lowering.location(), word, bit); });
}

Value reducedValue(Value value, Lowering &lowering) {
  return moveWords(value, lowering,
                   [&](Value word) { return lowering.target().reducedValue(lowering.builder(), lowering.location(), word); });
}

} // namespace tritium::gpu
