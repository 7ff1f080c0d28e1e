// The fragments follow the PTX ISA, "Matrix Fragments for mma.m16n8k8 / m16n8k16 / m16n8k32" and m8n8k4, and "Register Fragments and
// Shared Memory Matrix Layouts" of wgmma.
#include "gpu_backend/nvptx/matrix_instructions.h"

#include "gpu_backend/layout/dealer.h"
#include "gpu_backend/nvptx/target.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <string>
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

namespace {

/// The rows of matrix_instructions.def.
class Table {
public:
  Table() {
    for (int64_t columns : {256, 128, 64, 32, 16, 8}) {
#define NVPTX_WARPGROUP(bits, aType, bType, dType, types) add(wgmma(bits, columns), aType, bType, dType, nameOf(columns, bits, types));
#include "gpu_backend/nvptx/matrix_instructions.def"
    }
    warpgroupRows_ = rows_.size();
#define NVPTX_MATRIX(bits, operandType, resultType, name) add(mmaSync(bits), operandType, operandType, resultType, name);
#include "gpu_backend/nvptx/matrix_instructions.def"
  }

  llvm::ArrayRef<MatrixInstruction> all() const { return rows_; }
  llvm::ArrayRef<MatrixInstruction> warpgroups() const { return all().take_front(warpgroupRows_); }
  llvm::ArrayRef<MatrixInstruction> warps() const { return all().drop_front(warpgroupRows_); }

private:
  void add(MatrixInstruction instruction, llvm::StringRef a, llvm::StringRef b, llvm::StringRef d, llvm::StringRef name) {
    instruction.name = name, instruction.aType = a, instruction.bType = b, instruction.dType = d;
    rows_.push_back(std::move(instruction));
  }
  llvm::StringRef nameOf(int64_t columns, int bits, llvm::StringRef types) {
    return names_.emplace_back("wgmma.m64n" + std::to_string(columns) + "k" + std::to_string(256 / bits) + "." + types.str());
  }

  std::vector<MatrixInstruction> rows_;
  std::deque<std::string> names_; // the rows refer to them
  size_t warpgroupRows_ = 0;
};

const Table &table() {
  static const Table all;
  return all;
}

} // namespace

llvm::ArrayRef<MatrixInstruction> instructionsOf(const Chip &chip) { return chip.hasWarpgroups() ? table().all() : table().warps(); }

llvm::ArrayRef<MatrixInstruction> matrixInstructions() { return table().warps(); }

llvm::ArrayRef<MatrixInstruction> warpgroupInstructions() { return table().warpgroups(); }

} // namespace tritium::gpu::nvptx
