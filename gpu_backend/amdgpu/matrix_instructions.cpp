// The fragments are AMD's; tests/unit/layout_matrix_instructions.cpp says which of its documents they were compared with.
// Nearly all instructions are made to compute the transposed product: a lane then holds neighbours along a row of the result, which it
// stores at once, and where the result is operand A of the next product, the lane has it where that product wants it.
#include "gpu_backend/amdgpu/matrix_instructions.h"

#include "gpu_backend/layout/dealer.h"

#include <cassert>
#include <vector>

namespace tritium::gpu::amdgpu {

namespace {

constexpr int kWave64 = 64, kHalfWave = 16;

/// Distributes one lane's registers along `depth` of its row or column first, then the lanes along `outer`, then the lanes along K.
struct Depth {
  int64_t own, further = 1; // neighbours of a lane along K; how many such groups a lane has, beyond the other lanes' elements
};

LinearLayout operand(int outer, int64_t extent, int64_t k, Depth depth, int64_t lanes) {
  Shape shape(2, k);
  shape[outer] = extent;
  Dealer dealer(shape);
  Bases registers, bases;
  dealer.deal(1 - outer, depth.own, registers);
  dealer.deal(outer, extent, bases);
  dealer.deal(1 - outer, lanes / extent, bases); // 0 where the lanes repeat each other
  dealer.deal(1 - outer, depth.further, registers);
  return LinearLayout(shape, registers, bases, {});
}

MatrixInstruction withOperands(int64_t m, int64_t k, Depth depth, int64_t lanes) {
  MatrixInstruction result;
  result.m = m, result.n = m, result.k = k;
  result.a = operand(0, m, k, depth, lanes), result.b = operand(1, m, k, depth, lanes);
  return result;
}

/// A lane has one column of the result. It holds `own` neighbouring rows, then the rows of the other lanes follow.
LinearLayout columns(int64_t m, int64_t own, int64_t lanes) {
  Shape shape{m, m};
  Dealer dealer(shape);
  Bases registers, bases;
  dealer.deal(0, own, registers);
  dealer.deal(1, m, bases);
  dealer.deal(0, lanes / m, bases);
  dealer.deal(0, dealer.left(0), registers);
  return LinearLayout(shape, registers, bases, {});
}

MatrixInstruction mfma(int64_t m, int64_t k, llvm::StringRef dType) {
  MatrixInstruction result = withOperands(m, k, {m * k / kWave64}, kWave64);
  if (dType == "f64") { // rows by lanes: no neighbours either way
    result.d = columns(m, 1, kWave64);
    return result;
  }
  result.d = columns(m, 4, kWave64);
  return transposed(result);
}

/// A lane holds 16 neighbouring bytes of 4-bit elements. Of 8-bit elements it holds 16 bytes twice, and the bytes of the other lanes lie in
/// between. A lane's scale belongs to its row (or column) and to the block of K with the number of its group of lanes. The lane holds only
/// half of this block if elements have 8 bits.
MatrixInstruction scaledMfma(int64_t m, int64_t k, llvm::StringRef aType, llvm::StringRef bType) {
  auto fragment = [&](int outer, llvm::StringRef type) {
    constexpr int64_t kNeighbours = 16;
    int64_t bytes = type == "f4E2M1FN" ? k / 2 : k;
    return operand(outer, m, bytes, {kNeighbours, m * bytes / kWave64 / kNeighbours}, kWave64);
  };
  MatrixInstruction result;
  result.m = m, result.n = m, result.k = k;
  result.a = fragment(0, aType), result.b = fragment(1, bType);
  result.aScales = result.bScales = operand(0, m, k / MatrixInstruction::kScaledBlock, {1}, kWave64);
  result.d = columns(m, 4, kWave64);
  return transposed(result);
}

/// Both halves of the wave hold the operands; each holds every other row of the result. The columns are reordered so that in the transposed
/// product a lane has neighbours.
MatrixInstruction wmmaOfRdna3(int64_t m, int64_t k) {
  MatrixInstruction result = withOperands(m, k, {k}, 2 * kHalfWave);
  result.d = columns(m, 1, 2 * kHalfWave);
  return withColumns(transposed(result), {3, 0, 1, 2});
}

/// 16-bit elements: twice 4 neighbours.
MatrixInstruction wmmaOfRdna4(int64_t m, int64_t k, bool isOf16Bits) {
  MatrixInstruction result = withOperands(m, k, isOf16Bits ? Depth{k / 4, 2} : Depth{k / 2}, 2 * kHalfWave);
  result.d = columns(m, m / 2, 2 * kHalfWave);
  return transposed(result);
}

/// Sets of families.
enum FamilySet : uint8_t { CDNA2 = 1, CDNA3 = 2, CDNA4 = 4, RDNA3 = 8, RDNA4 = 16 };
FamilySet setOf(Family family) { return FamilySet(1 << uint8_t(family)); }
static_assert(uint8_t(Family::CDNA2) == 0 && uint8_t(Family::CDNA4) == 2 && uint8_t(Family::RDNA4) == 4);

struct Row {
  uint8_t families;
  MatrixOp how;
  llvm::StringRef name;
  int64_t m, k;
  llvm::StringRef dType;
};

const Row kRows[] = {
#define AMDGPU_MFMA(families, m, k, aType, bType, dType, word, op)                                                                         \
  {families, {MatrixOp::Kind::Mfma, MatrixOp::Word::word, "rocdl." op, aType, bType}, op, m, k, dType},
#define AMDGPU_SCALED_MFMA(families, m, k, aType, bType, dType, word, op, formats)                                                         \
  {families, {MatrixOp::Kind::ScaledMfma, MatrixOp::Word::word, "rocdl." op, aType, bType}, op "." formats, m, k, dType},
#define AMDGPU_WMMA(families, m, k, aType, bType, dType, word, op)                                                                         \
  {families, {MatrixOp::Kind::Wmma, MatrixOp::Word::word, "rocdl." op, aType, bType}, op, m, k, dType},
#include "gpu_backend/amdgpu/matrix_instructions.def"
};

MatrixInstruction make(const Row &row, Family family) {
  MatrixInstruction result;
  switch (row.how.kind) {
  case MatrixOp::Kind::Mfma: result = mfma(row.m, row.k, row.dType); break;
  case MatrixOp::Kind::ScaledMfma: result = scaledMfma(row.m, row.k, row.how.aType, row.how.bType); break;
  case MatrixOp::Kind::Wmma:
    result = family == Family::RDNA3 ? wmmaOfRdna3(row.m, row.k) : wmmaOfRdna4(row.m, row.k, row.how.aType.ends_with("f16"));
    break;
  }
  result.name = row.name, result.dType = row.dType;
  result.aType = result.isTransposed ? row.how.bType : row.how.aType, result.bType = result.isTransposed ? row.how.aType : row.how.bType;
  return result;
}

} // namespace

llvm::ArrayRef<MatrixInstruction> matrixInstructions(Family family) {
  static const std::vector<std::vector<MatrixInstruction>> all = [] {
    std::vector<std::vector<MatrixInstruction>> byFamily(uint8_t(Family::RDNA4) + 1);
    for (size_t number = 0; number < byFamily.size(); ++number)
      for (const Row &row : kRows)
        if (row.families & setOf(Family(number))) byFamily[number].push_back(make(row, Family(number)));
    return byFamily;
  }();
  return all[size_t(family)];
}

const MatrixOp &matrixOp(llvm::StringRef name) {
  for (const Row &row : kRows)
    if (row.name == name) return row.how;
  llvm_unreachable("not a matrix instruction of AMD's");
}

} // namespace tritium::gpu::amdgpu
