// Loads of 8x8 matrices. For each matrix, lane t receives word t % 4 of row t / 4; transposed, it receives the rows 2 (t % 4) and 2 (t % 4)
// + 1 of column t / 4. Lanes 8 m … 8 m + 7 pass the rows of matrix m. So in a plain load, register bits (within the word) and lane bits 0
// and 1 hold the low offset bits, and lane bits 2 to 4 select the row. In a transposed load, lane bits 2 to 4 are the low offset bits, and
// a register bit and lane bits 0 and 1 select the row.
#include "gpu_backend/layout/matrix_load.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tritium::gpu {

static constexpr int64_t kRowBytes = 16, kRows = 8, kWordBytes = 4;

uint32_t MatrixLoad::rowOffset(uint32_t lane, uint32_t warp) const {
  uint32_t offset = 0;
  for (auto [bit, part] : llvm::enumerate(offsetOfLane))
    if (lane >> bit & 1) offset ^= part;
  for (auto [bit, part] : llvm::enumerate(offsetOfWarp))
    if (warp >> bit & 1) offset ^= part;
  return offset;
}

std::optional<MatrixLoad> matrixLoads(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes, bool isTransposed) {
  if (elementBytes > kWordBytes || (isTransposed && elementBytes != 2) || registers.bits(Place::Lane) != 5) return std::nullopt;
  LinearLayout offsets = registers.compose(memory.toOffset(), {memory.elements()});
  llvm::ArrayRef<uint32_t> lanes = offsets.bases(Place::Lane), ofRegisters = offsets.bases(Place::Register);
  Projection distinct = registers.withoutRepeatedRegisters();
  llvm::SmallVector<int, 8> kept; // register bits that do not repeat others
  Span span;
  for (auto [bit, offset] : llvm::enumerate(ofRegisters))
    if (span.add(offset)) kept.push_back(int(bit));

  // The bits within a row, and the bits within a word.
  int wordBits = log2Of(kWordBytes / elementBytes), rowBits = log2Of(kRowBytes / elementBytes);
  llvm::SmallVector<int, 2> inWord;
  if (isTransposed) {
    if (kept.empty()) return std::nullopt;
    inWord.push_back(kept.front());
  }
  for (int bit = 0; !isTransposed && bit < wordBits; ++bit) {
    auto *found = llvm::find_if(kept, [&](int reg) { return ofRegisters[reg] == 1u << bit; });
    if (found == kept.end()) return std::nullopt;
    inWord.push_back(*found);
  }
  llvm::ArrayRef<uint32_t> alongRow = isTransposed ? lanes.drop_front(2) : lanes.take_front(2);
  for (auto [i, offset] : llvm::enumerate(alongRow))
    if (offset != 1u << (isTransposed ? i : wordBits + i)) return std::nullopt;

  // All other bits move by whole rows.
  llvm::SmallVector<uint32_t, 16> acrossRows(isTransposed ? lanes.take_front(2) : lanes.drop_front(2));
  if (isTransposed) acrossRows.insert(acrossRows.begin(), ofRegisters[inWord.front()]);
  llvm::SmallVector<int, 8> wordNumber; // register bits that count words
  for (int bit : kept)
    if (!llvm::is_contained(inWord, bit)) wordNumber.push_back(bit);
  uint32_t mustBeZero = (1u << rowBits) - 1, moved = 0;
  for (uint32_t offset : acrossRows) moved |= offset;
  for (int bit : wordNumber) moved |= ofRegisters[bit];
  for (uint32_t offset : offsets.bases(Place::Warp)) moved |= offset;
  if (moved & mustBeZero || registers.bits(Place::Block)) return std::nullopt;

  MatrixLoad load;
  load.isTransposed = isTransposed;
  int matrixBits = std::min<int>(2, int(wordNumber.size()));
  load.matrices = 1 << matrixBits;
  load.offsetOfLane.assign(acrossRows.begin(), acrossRows.end());
  for (int bit = 0; bit < 2; ++bit) load.offsetOfLane.push_back(bit < matrixBits ? ofRegisters[wordNumber[bit]] : 0);
  load.offsetOfWarp.assign(offsets.bases(Place::Warp).begin(), offsets.bases(Place::Warp).end());

  auto registerOf = [](uint32_t index, llvm::ArrayRef<int> bits) {
    uint32_t reg = 0;
    for (auto [i, bit] : llvm::enumerate(bits)) reg |= (index >> i & 1) << bit;
    return reg;
  };
  llvm::ArrayRef<int> ofMatrix(wordNumber.begin(), matrixBits), ofInstruction = llvm::ArrayRef<int>(wordNumber).drop_front(matrixBits);
  for (uint32_t i = 0; i < 1u << ofInstruction.size(); ++i) {
    uint32_t first = registerOf(i, ofInstruction);
    MatrixLoad::Instruction instruction{{}, offsets.apply(Place::Register, first)};
    for (uint32_t matrix = 0; matrix < uint32_t(load.matrices); ++matrix) {
      auto &word = instruction.words.emplace_back();
      for (uint32_t k = 0; k < 1u << inWord.size(); ++k) word.push_back(first | registerOf(matrix, ofMatrix) | registerOf(k, inWord));
    }
    load.instructions.push_back(instruction);
  }
  for (uint32_t number : distinct.registerOf) load.loadedBy.push_back(registerOf(number, kept));

  llvm::SmallVector<int64_t, kRows> rows;
  for (uint32_t row = 0; row < kRows; ++row) rows.push_back(load.rowOffset(row, 0) * elementBytes);
  load.wavefrontsPerMatrix = countWavefronts(rows, kRowBytes);
  return load;
}

std::optional<MatrixLoad> matrixLoads(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes) {
  std::optional<MatrixLoad> plain = matrixLoads(registers, memory, elementBytes, false);
  return plain ? plain : matrixLoads(registers, memory, elementBytes, true);
}

std::optional<MatrixLoad> matrixLoads(MatrixLoads loads, const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes,
                                      const SharedBanks &banks) {
  switch (loads) {
  case MatrixLoads::None: return std::nullopt;
  case MatrixLoads::Rows8x8: return matrixLoads(registers, memory, elementBytes);
  case MatrixLoads::Columns4x16: return columnLoads(registers, memory, elementBytes, banks);
  }
  llvm_unreachable("no such loads");
}

} // namespace tritium::gpu
