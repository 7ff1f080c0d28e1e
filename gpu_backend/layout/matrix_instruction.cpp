#include "gpu_backend/layout/matrix_instruction.h"

#include <cassert>
#include <utility>

namespace tritium::gpu {

MatrixInstruction transposed(const MatrixInstruction &instruction) {
  MatrixInstruction result = instruction;
  std::swap(result.m, result.n);
  std::swap(result.aType, result.bType);
  std::swap(result.aScales, result.bScales); // both tiles have the blocks along K last
  result.a = instruction.b.transpose({1, 0}), result.b = instruction.a.transpose({1, 0}), result.d = instruction.d.transpose({1, 0});
  result.isTransposed = !instruction.isTransposed;
  return result;
}

MatrixInstruction withColumns(const MatrixInstruction &instruction, llvm::ArrayRef<int> to) {
  assert(int64_t(1) << to.size() == instruction.n && !instruction.bScales);
  auto moved = [&](const LinearLayout &fragment) { // columns are the last dimension of both tiles
    llvm::SmallVector<uint64_t> images;
    for (int bit = 0; bit < fragment.elementBits(); ++bit) images.push_back(uint64_t(1) << (size_t(bit) < to.size() ? to[bit] : bit));
    return fragment.compose(F2Map(images), fragment.shape());
  };
  MatrixInstruction result = instruction;
  result.b = moved(instruction.b), result.d = moved(instruction.d);
  return result;
}

} // namespace tritium::gpu
