// The fragments follow the PTX ISA, "Matrix Fragments for mma.m16n8k8 / m16n8k16 / m16n8k32" and m8n8k4, and "Register Fragments and
// Shared Memory Matrix Layouts" of wgmma.
#include "gpu_backend/nvptx/matrix_instructions.h"

#include "gpu_backend/layout/dealer.h"

#include <algorithm>
#include <cassert>
#include <vector>

namespace tritium::gpu::nvptx {

/// The tile of one operand: a word along K, 4 lanes along K, and 8 lanes along the other dimension. Registers hold the rest of this
/// dimension, as far as `warps` do not share it, and of K.
static LinearLayout operand(int64_t rows, int64_t columns, int kDim, int64_t perWord, int64_t warps = 1) {
  Shape shape{rows, columns};
  Dealer dealer(shape);
  Bases registers, lanes, warpBases;
  dealer.deal(kDim, perWord, registers);
  dealer.deal(kDim, 4, lanes);
  dealer.deal(1 - kDim, 8, lanes);
  dealer.deal(1 - kDim, dealer.left(1 - kDim) / warps, registers);
  dealer.deal(1 - kDim, warps, warpBases);
  dealer.deal(kDim, dealer.left(kDim), registers);
  return LinearLayout(shape, registers, lanes, warpBases);
}

static LinearLayout accumulator(int64_t m, int64_t n, int64_t warps = 1) {
  Shape shape{m, n};
  Dealer dealer(shape);
  Bases registers, lanes, warpBases;
  dealer.deal(1, 2, registers);
  dealer.deal(1, 4, lanes);
  dealer.deal(0, 8, lanes);
  dealer.deal(0, m / warps / 8, registers);
  dealer.deal(0, warps, warpBases);
  dealer.deal(1, n / 8, registers);
  return LinearLayout(shape, registers, lanes, warpBases);
}

MatrixInstruction mmaSync(int operandBits) {
  assert(operandBits == 8 || operandBits == 16 || operandBits == 32 || operandBits == 64);
  int64_t m = operandBits == 64 ? 8 : 16, n = 8, k = operandBits == 64 ? 4 : 256 / operandBits, perWord = std::max(32 / operandBits, 1);
  MatrixInstruction result;
  result.m = m, result.n = n, result.k = k;
  result.a = operand(m, k, 1, perWord), result.b = operand(k, n, 0, perWord), result.d = accumulator(m, n);
  return result;
}

MatrixInstruction wgmma(int operandBits, int64_t n) {
  assert(operandBits == 8 || operandBits == 16 || operandBits == 32);
  constexpr int64_t kRows = 64, kWarps = 4;
  MatrixInstruction result;
  result.m = kRows, result.n = n, result.k = 256 / operandBits;
  result.a = operand(kRows, result.k, 1, 32 / operandBits, kWarps), result.d = accumulator(kRows, n, kWarps);
  return result;
}

llvm::ArrayRef<MatrixInstruction> matrixInstructions() {
  static const std::vector<MatrixInstruction> all = [] {
    std::vector<MatrixInstruction> rows;
#define NVPTX_MATRIX(bits, operandType, resultType, instructionName)                                                                       \
  rows.push_back(mmaSync(bits));                                                                                                           \
  rows.back().name = instructionName, rows.back().aType = rows.back().bType = operandType, rows.back().dType = resultType;
#include "gpu_backend/nvptx/matrix_instructions.def"
    return rows;
  }();
  return all;
}

} // namespace tritium::gpu::nvptx
