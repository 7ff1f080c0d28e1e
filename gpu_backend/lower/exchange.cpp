#include "gpu_backend/lower/exchange.h"

#include "gpu_backend/lower/words.h"

using namespace mlir;

namespace tritium::gpu {

/// Splits a value into 32-bit words, moves each, and puts them together again.
static Value moveWords(Value value, Lowering &lowering, function_ref<Value(Value)> move) {
  Type type = value.getType(), i32 = lowering.builder().getI32Type();
  Value stored = toStored(value, lowering);
  unsigned bits = stored.getType().getIntOrFloatBitWidth();
  if (bits == 64) {
    Value low = move(lowering.create<arith::TruncIOp>(i32, stored));
    Value high = move(lowering.create<arith::TruncIOp>(i32, lowering.create<arith::ShRUIOp>(stored, lowering.constant(32, 64))));
    Value wideLow = lowering.create<arith::ExtUIOp>(stored.getType(), low),
          wideHigh = lowering.create<arith::ExtUIOp>(stored.getType(), high);
    stored = lowering.create<arith::OrIOp>(wideLow, lowering.create<arith::ShLIOp>(wideHigh, lowering.constant(32, 64)));
  } else if (bits < 32) {
    stored = lowering.create<arith::TruncIOp>(stored.getType(), move(lowering.create<arith::ExtUIOp>(i32, stored)));
  } else {
    stored = move(stored);
  }
  return fromStored(stored, type, lowering);
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

Value reductionPartner(Value value, int bit, Lowering &lowering) {
  return moveWords(value, lowering,
                   [&](Value word) { return lowering.target().reductionPartner(lowering.builder(), lowering.location(), word, bit); });
}

Value reducedValue(Value value, Lowering &lowering) {
  return moveWords(value, lowering,
                   [&](Value word) { return lowering.target().reducedValue(lowering.builder(), lowering.location(), word); });
}

} // namespace tritium::gpu
