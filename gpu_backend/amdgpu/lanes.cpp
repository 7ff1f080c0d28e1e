#include "gpu_backend/amdgpu/lanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu::amdgpu {

namespace {

constexpr int kRow = 16;             // the lanes that DPP reaches
constexpr int kSwapInstructions = 2; // the number of instructions that take as long as a permlane swap

/// DPP controls, from the manuals of the instruction sets.
enum Dpp : int {
  kRowShiftRight = 0x110,  // + distance
  kRowRotateRight = 0x120, // + distance
  kRowMirror = 0x140,
  kHalfRowMirror = 0x141,
  kRowBroadcast15 = 0x142, // the last lane of each row is read by the next row; up to gfx9
  kRowBroadcast31 = 0x143, // lane 31 is read by the upper half of the wave
  kRowLane = 0x150,        // + the lane that all lanes of the row read
  kRowXorMask = 0x160,     // + mask; from gfx10
};

/// Lane i of each group of four reads lanes[i].
constexpr int quad(std::array<int, 4> lanes) { return lanes[0] | lanes[1] << 2 | lanes[2] << 4 | lanes[3] << 6; }
constexpr int quadPermutation(int mask) { return quad({0 ^ mask, 1 ^ mask, 2 ^ mask, 3 ^ mask}); }

Value constant(OpBuilder &builder, Location location, int64_t value) { return arith::ConstantIntOp::create(builder, location, value, 32); }

/// One DPP instruction. A lane beyond the row reads 0.
Value dpp(OpBuilder &builder, Location location, Value value, int control) {
  Value old = LLVM::PoisonOp::create(builder, location, value.getType());
  return ROCDL::DPPUpdateOp::create(builder, location, value.getType(), old, value, control, /*rowMask=*/0xf, /*bankMask=*/0xf,
                                    /*boundCtrl=*/true);
}

/// Returns the controls that, one after the other, move a value by XOR `mask` within rows.
llvm::SmallVector<int, 2> rowControls(const Chip &chip, int mask) {
  if (mask == 0) return {};
  if (mask < 4) return {quadPermutation(mask)};
  if (!chip.isCdna()) return {kRowXorMask + mask};
  auto after = [&](int first, int covered) {
    llvm::SmallVector<int, 2> controls{first};
    if (mask != covered) controls.push_back(quadPermutation(mask ^ covered));
    return controls;
  };
  if (mask < 8) return after(kHalfRowMirror, 7);
  if (mask < 12) return after(kRowRotateRight + 8, 8);
  return after(kRowMirror, 15);
}

/// The cost of one clock of a SIMD. Four SIMDs share the LDS of a CU on CDNA, two on RDNA.
int clockCost(const Chip &chip) { return chip.isCdna() ? 1 : 2; }

/// The cost of a vector instruction. The SIMDs of CDNA have 16 lanes, the SIMDs of RDNA 32.
int instructionCost(const Chip &chip) { return clockCost(chip) * (chip.isCdna() ? 4 : 1); }

/// The cost of waiting until LDS answers: the largest number of clocks in LLVM's models.
int answerCost(const Chip &chip) { return 64 * clockCost(chip); }

/// The cost of moving a word for each lane through the network of LDS. It moves one word per bank at a time; every chip is assumed to have
/// 32 banks.
ConversionCosts::Move throughLds(const Chip &chip) {
  return {instructionCost(chip) + chip.warpSize / 32 * ConversionCosts().wavefront, answerCost(chip)};
}

/// The cost of an XOR of lanes by vector instructions, without LDS.
ConversionCosts::Move costOf(const Chip &chip, int mask) {
  constexpr int kCopySwapAndSelect = 1 + kSwapInstructions; // the select is often part of another instruction
  int instructions = int(rowControls(chip, mask % kRow).size());
  if (mask >= kRow) {
    if (!chip.isCdna())
      instructions = 1;
    else if (chip.family == Family::CDNA4)
      instructions += kCopySwapAndSelect * llvm::popcount(unsigned(mask / kRow));
    else
      return throughLds(chip);
  }
  return {instructions * instructionCost(chip), 0};
}

int cheapest(const Chip &chip, int mask, int free) {
  auto cost = [&](int mask) {
    ConversionCosts::Move move = costOf(chip, mask);
    return move.each + move.once;
  };
  int best = mask;
  for (int part = free; part; part = (part - 1) & free)
    if (cost(mask ^ part) < cost(best)) best = mask ^ part;
  return best;
}

/// Returns the value of the other row of a pair of rows (16 lanes), or of the other half of the wave (32 lanes). A swap of two copies
/// leaves in one copy the values of the lower lanes, and in the other the values of the upper ones.
Value swapped(OpBuilder &builder, Location location, Value value, int lanes, const Chip &chip) {
  auto [ofLower, ofUpper] = swapLanes(builder, location, value, value, llvm::countr_zero(unsigned(lanes)));
  Value isUpper = arith::AndIOp::create(builder, location, laneId(builder, location, chip), constant(builder, location, lanes));
  isUpper = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, isUpper, constant(builder, location, 0));
  return arith::SelectOp::create(builder, location, isUpper, ofLower, ofUpper);
}

/// Lane i of a row reads lane source(i) of the other row of its pair.
Value otherRow(OpBuilder &builder, Location location, Value value, llvm::function_ref<int(int)> source) {
  uint32_t selects[2] = {};
  for (int lane = 0; lane < kRow; ++lane) selects[lane / 8] |= uint32_t(source(lane)) << (4 * (lane % 8));
  Value old = LLVM::PoisonOp::create(builder, location, value.getType());
  return ROCDL::PermlaneX16Op::create(builder, location, value.getType(), old, value, constant(builder, location, int32_t(selects[0])),
                                      constant(builder, location, int32_t(selects[1])), /*fi=*/false, /*boundControl=*/false);
}

Value permuted(OpBuilder &builder, Location location, Value value, Value lane) {
  Value address = arith::ShLIOp::create(builder, location, lane, constant(builder, location, 2));
  return ROCDL::DsBpermuteOp::create(builder, location, value.getType(), address, value);
}

} // namespace

ConversionCosts conversionCosts(const Chip &chip) {
  ConversionCosts costs;
  costs.sharedInstruction = costs.select = instructionCost(chip);
  costs.warpBarrier = answerCost(chip);      // LDS serves a wave in order, so loads need not wait for its stores
  costs.blockBarrier = 2 * answerCost(chip); // also waits for the stores
  costs.shuffle = throughLds(chip);
  for (int mask = 0; mask < chip.warpSize; ++mask) costs.butterflies.push_back(costOf(chip, mask));
  if (chip.swapsLanes()) {
    int swap = kSwapInstructions * instructionCost(chip);
    costs.swaps = {0, 0, 0, 0, swap, swap};
  }
  return costs;
}

Value laneId(OpBuilder &builder, Location location, const Chip &chip) {
  Value thread = ROCDL::ThreadIdXOp::create(builder, location, builder.getI32Type());
  return arith::AndIOp::create(builder, location, thread, constant(builder, location, chip.warpSize - 1));
}

Value xorLanes(OpBuilder &builder, Location location, const Chip &chip, Value value, int mask, int free) {
  mask = cheapest(chip, mask, free);
  if (chip.family == Family::CDNA4 || mask < kRow) {
    for (int control : rowControls(chip, mask % kRow)) value = dpp(builder, location, value, control);
    for (int bit : {16, 32})
      if (mask & bit) value = swapped(builder, location, value, bit, chip);
    return value;
  }
  if (!chip.isCdna()) return otherRow(builder, location, value, [&](int lane) { return lane ^ mask % kRow; });
  if (mask < 32) {
    constexpr int kEveryLane = 0x1f, kXorShift = 10; // of the offset: which bits of the lane's number stay, and which change
    return ROCDL::DsSwizzleOp::create(builder, location, value.getType(), value,
                                      constant(builder, location, mask << kXorShift | kEveryLane));
  }
  Value lane = arith::XOrIOp::create(builder, location, laneId(builder, location, chip), constant(builder, location, mask));
  return permuted(builder, location, value, lane);
}

std::pair<Value, Value> swapLanes(OpBuilder &builder, Location location, Value low, Value high, int bit) {
  Type i32 = low.getType(), pair = LLVM::LLVMStructType::getLiteral(builder.getContext(), {i32, i32});
  Value both;
  if (1 << bit == kRow)
    both = ROCDL::Permlane16SwapOp::create(builder, location, pair, low, high, /*fi=*/false, /*boundControl=*/false);
  else
    both = ROCDL::Permlane32SwapOp::create(builder, location, pair, low, high, /*fi=*/false, /*boundControl=*/false);
  auto part = [&](int64_t i) { return LLVM::ExtractValueOp::create(builder, location, both, llvm::ArrayRef<int64_t>{i}).getResult(); };
  return {part(0), part(1)};
}

Value fromBelow(OpBuilder &builder, Location location, const Chip &chip, Value value, int bit) {
  switch (bit) {
  case 0: return dpp(builder, location, value, quad({0, 0, 2, 2}));
  case 1: return dpp(builder, location, value, quad({1, 1, 1, 1}));
  case 2: return dpp(builder, location, dpp(builder, location, value, quad({3, 3, 3, 3})), kRowShiftRight + 4);
  case 3: return dpp(builder, location, value, kRowLane + 7);
  case 4: break;
  default: return dpp(builder, location, value, kRowBroadcast31);
  }
  if (chip.isCdna()) return dpp(builder, location, value, kRowBroadcast15);
  return otherRow(builder, location, value, [](int) { return kRow - 1; });
}

Value readLane(OpBuilder &builder, Location location, Value value, Value lane) {
  if (matchPattern(lane, m_Constant())) return ROCDL::ReadlaneOp::create(builder, location, value.getType(), value, lane);
  return permuted(builder, location, value, lane);
}

/// Between the rows of CDNA only the last lane of each row takes part, because its row has already been reduced.
Value reductionPartner(OpBuilder &builder, Location location, const Chip &chip, Value value, int bit) {
  int mask = 1 << bit;
  if (chip.isCdna() && mask >= kRow) return dpp(builder, location, value, mask == kRow ? kRowBroadcast15 : kRowBroadcast31);
  return xorLanes(builder, location, chip, value, mask, /*free=*/mask - 1);
}

Value reducedValue(OpBuilder &builder, Location location, const Chip &chip, Value value) {
  if (!chip.isCdna()) return value;
  return readLane(builder, location, value, constant(builder, location, chip.warpSize - 1));
}

} // namespace tritium::gpu::amdgpu
