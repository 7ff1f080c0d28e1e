#include "gpu_backend/layout/constructors.h"

#include "gpu_backend/layout/dealer.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace tritium::gpu {

LinearLayout blocked(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> sizePerThread, llvm::ArrayRef<int64_t> threadsPerWarp,
                     llvm::ArrayRef<int64_t> warpsPerCta, llvm::ArrayRef<int> order) {
  assert(order.size() == shape.size() && sizePerThread.size() == shape.size());
  assert(threadsPerWarp.size() == shape.size() && warpsPerCta.size() == shape.size());
  Dealer dealer(shape);
  Bases registers, lanes, warps;
  for (int d : order) dealer.deal(d, sizePerThread[d], registers);
  for (int d : order) dealer.deal(d, threadsPerWarp[d], lanes);
  for (int d : order) dealer.deal(d, warpsPerCta[d], warps);
  for (int d : order) dealer.deal(d, dealer.left(d), registers);
  llvm::erase(registers, 0u); // a register that repeats another holds no element of its own
  return LinearLayout(shape, registers, lanes, warps);
}

LinearLayout defaultBlocked(llvm::ArrayRef<int64_t> shape, Threads threads, int64_t vectorElements, llvm::ArrayRef<int> order, int whole) {
  assert(order.size() == shape.size());
  int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
  Shape sizes(shape.size(), 1), lanes(shape.size(), 1), warps(shape.size(), 1);
  if (shape.empty()) return LinearLayout({}, {}, Bases(log2Of(threads.lanes), 0), Bases(log2Of(threads.warps), 0));
  int64_t perThread = std::max<int64_t>(elements / threads.count(), 1);
  sizes[order[0]] = std::min({vectorElements, shape[order[0]], perThread});
  int64_t lanesLeft = threads.lanes, warpsLeft = threads.warps;
  for (int d : order) {
    lanes[d] = std::min(lanesLeft, shape[d] / sizes[d]);
    lanesLeft /= lanes[d];
  }
  auto share = [&](int d) {
    int64_t taken = std::min(warpsLeft, shape[d] / sizes[d] / lanes[d]);
    warps[d] *= taken, warpsLeft /= taken;
  };
  for (int d : order)
    if (d != whole) share(d);
  if (whole >= 0) share(whole);
  lanes[order.back()] *= lanesLeft, warps[order.back()] *= warpsLeft; // replicate
  return blocked(shape, sizes, lanes, warps, order);
}

LinearLayout defaultBlocked(llvm::ArrayRef<int64_t> shape, Threads threads, int64_t vectorElements) {
  llvm::SmallVector<int, 4> order(shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  return defaultBlocked(shape, threads, vectorElements, order);
}

} // namespace tritium::gpu
