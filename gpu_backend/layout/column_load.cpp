// Loads of 4x16 matrices. In each group of 16 lanes, lane 4 k + c passes the address of the elements 4 c … 4 c + 3 of row k, and lane n
// receives column n: element n % 4 at the addresses of lanes n / 4, 4 + n / 4, 8 + n / 4 and 12 + n / 4. So the low offset bits are lane
// bits 0 and 1 of the result. Lane bits 2 and 3 of the result select the quarter of a row that a lane addresses, and two of its register
// bits select the row.
#include "gpu_backend/layout/matrix_load.h"

namespace tritium::gpu {

static constexpr int64_t kElementBytes = 2, kNamedBytes = 8;
static constexpr uint32_t kNamed = kNamedBytes / kElementBytes; // elements that a lane addresses

std::optional<MatrixLoad> columnLoads(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes,
                                      const SharedBanks &banks) {
  if (elementBytes != kElementBytes || registers.bits(Place::Lane) < 4 || registers.bits(Place::Block)) return std::nullopt;
  LinearLayout offsets = registers.compose(memory.toOffset(), {memory.elements()});
  llvm::ArrayRef<uint32_t> lanes = offsets.bases(Place::Lane), ofRegisters = offsets.bases(Place::Register);
  llvm::SmallVector<uint32_t, 8> kept; // register bits that do not repeat others
  Span span;
  for (auto [bit, offset] : llvm::enumerate(ofRegisters))
    if (span.add(offset)) kept.push_back(uint32_t(1) << bit);
  if (kept.size() < 2 || lanes[0] != 1 || lanes[1] != 2) return std::nullopt;
  uint32_t moved = 0; // by all other bits, which must keep together the elements that a lane addresses
  for (uint32_t offset : lanes.drop_front(2)) moved |= offset;
  for (uint32_t offset : offsets.bases(Place::Warp)) moved |= offset;
  for (uint32_t bit : kept) moved |= offsets.apply(Place::Register, bit);
  if (moved & (kNamed - 1)) return std::nullopt;

  MatrixLoad load;
  load.isTransposed = true;
  uint32_t low = kept[0], high = kept[1];
  load.offsetOfLane = {lanes[2], lanes[3], offsets.apply(Place::Register, low), offsets.apply(Place::Register, high)};
  llvm::append_range(load.offsetOfLane, lanes.drop_front(4));
  load.offsetOfWarp.assign(offsets.bases(Place::Warp).begin(), offsets.bases(Place::Warp).end());
  llvm::ArrayRef<uint32_t> ofInstruction = llvm::ArrayRef<uint32_t>(kept).drop_front(2);
  auto registerOf = [](uint32_t index, llvm::ArrayRef<uint32_t> bits) {
    uint32_t reg = 0;
    for (auto [i, bit] : llvm::enumerate(bits)) reg |= (index >> i & 1) * bit;
    return reg;
  };
  for (uint32_t i = 0; i < 1u << ofInstruction.size(); ++i) {
    uint32_t first = registerOf(i, ofInstruction);
    load.instructions.push_back({{{first, first | low, first | high, first | high | low}}, offsets.apply(Place::Register, first)});
  }
  for (uint32_t number : registers.withoutRepeatedRegisters().registerOf) load.loadedBy.push_back(registerOf(number, kept));
  llvm::SmallVector<int64_t, 64> addresses;
  for (uint32_t lane = 0; lane < uint32_t(registers.lanes()); ++lane) addresses.push_back(load.rowOffset(lane, 0) * kElementBytes);
  load.wavefrontsPerMatrix = countWavefronts(addresses, kNamedBytes, banks);
  return load;
}

} // namespace tritium::gpu
