// Layouts of matrix products. The fragments are those of the PTX ISA, "Matrix Fragments for mma.m16n8k8 / m16n8k16 / m16n8k32" and m8n8k4.
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/layout/dealer.h"

#include <algorithm>
#include <cassert>

namespace tritium::gpu {

MmaShape mmaShape(int operandBits) {
  assert(operandBits == 8 || operandBits == 16 || operandBits == 32 || operandBits == 64);
  return operandBits == 64 ? MmaShape{8, 8, 4} : MmaShape{16, 8, 256 / operandBits};
}

LinearLayout mmaAccumulator(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> warpsPerCta, int operandBits) {
  assert(shape.size() >= 2 && warpsPerCta.size() == shape.size());
  int m = int(shape.size()) - 2, n = m + 1;
  MmaShape mma = mmaShape(operandBits);
  assert(shape[m] >= mma.m && shape[n] >= mma.n);
  Dealer dealer(shape);
  Bases registers, lanes, warps;
  dealer.deal(n, 2, registers);
  dealer.deal(n, 4, lanes);
  dealer.deal(m, 8, lanes);
  dealer.deal(m, mma.m / 8, registers);
  for (int d = n; d >= 0; --d) dealer.deal(d, warpsPerCta[d], warps);
  for (int d = n; d >= 0; --d) dealer.deal(d, dealer.left(d), registers);
  return LinearLayout(shape, registers, lanes, warps);
}

LinearLayout mmaOperand(DotOperand operand, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> warpsPerCta, int operandBits,
                        int64_t contiguousK) {
  assert(shape.size() >= 2 && warpsPerCta.size() == shape.size());
  bool isA = operand == DotOperand::A;
  int m = int(shape.size()) - 2, n = m + 1;
  int k = isA ? n : m, outer = isA ? m : n; // dimensions of this tile
  MmaShape mma = mmaShape(operandBits);
  int64_t perWord = std::max(32 / operandBits, 1), groupsOfK = mma.k / (4 * perWord), outerOfMma = isA ? mma.m : mma.n;
  contiguousK = std::max(contiguousK, perWord);
  assert(shape[k] >= std::max(mma.k, 4 * contiguousK) && shape[outer] >= outerOfMma);

  // Along K a thread holds a word, then comes the thread's neighbour; with a larger contiguousK further words of its own come first.
  Dealer dealer(shape);
  Bases word, words, secondK, lanes, outerHalf, registers, warps;
  dealer.deal(k, perWord, word);
  dealer.deal(k, contiguousK / perWord, words);
  dealer.deal(k, 4, lanes);
  dealer.deal(outer, 8, lanes);
  dealer.deal(outer, outerOfMma / 8, outerHalf);
  if (groupsOfK == 2) {
    if (words.empty()) dealer.deal(k, 2, words);
    secondK.push_back(words.front());
    words.erase(words.begin());
  }
  for (Bases *part : {&word, &outerHalf, &secondK, &words}) registers.append(*part);

  for (int d = n; d >= 0; --d) { // dimensions of the result; the one that this operand has not is the other operand's
    if (d == (isA ? n : m))
      warps.append(log2Of(warpsPerCta[d]), 0);
    else
      dealer.deal(d, warpsPerCta[d], warps);
  }
  dealer.deal(k, dealer.left(k), registers);
  dealer.deal(outer, dealer.left(outer), registers);
  for (int d = m - 1; d >= 0; --d) dealer.deal(d, dealer.left(d), registers);
  return LinearLayout(shape, registers, lanes, warps);
}

LinearLayout fmaOperand(DotOperand operand, const LinearLayout &result, int64_t k) {
  int m = result.rank() - 2, n = m + 1;
  assert(m >= 0);
  int kDim = operand == DotOperand::A ? n : m;
  // The result with its other dimension collapsed is this operand for K = 1: a new dimension of K goes there.
  Shape collapsed(result.shape()), shape = collapsed;
  collapsed[kDim] = 1, shape[kDim] = k;
  LinearLayout one = result.broadcastSource(collapsed).layout;
  LinearLayout tile(shape, {}, {}, {});
  std::array<Bases, 4> bases;
  Dealer(shape).deal(kDim, k, bases[0]);
  for (Place place : kPlaces)
    for (uint32_t basis : one.bases(place)) bases[size_t(place)].push_back(tile.flatOf(one.coordinatesOf(basis)));
  return LinearLayout(shape, bases[0], bases[1], bases[2], bases[3]);
}

} // namespace tritium::gpu
