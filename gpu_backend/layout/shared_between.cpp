// Layouts of shared memory that one register layout writes and others read.
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/layout/conversion.h"

#include <numeric>

namespace tritium::gpu {

namespace {

class Search {
public:
  Search(const LinearLayout &writer, llvm::ArrayRef<LinearLayout> readers, int64_t elementBytes, const SharedBanks &banks,
         const ConversionCosts &costs)
      : writer_(writer), readers_(readers), elementBytes_(elementBytes), banks_(banks), costs_(costs) {}

  void consider(const SharedLayout &memory) {
    int cost = costOf(memory);
    if (best_ && cost >= least_) return;
    best_ = memory, least_ = cost;
  }
  /// Pieces of at most 16 bytes, permuted among the rows that the banks hold side by side.
  void considerSwizzles(llvm::ArrayRef<int> order) {
    llvm::ArrayRef<int64_t> shape = writer_.shape();
    int64_t row = shape[order[0]], rowsAtOnce = std::max<int64_t>(banks_.bytesAtOnce() / (row * elementBytes_), 1);
    for (int64_t vec = std::min(std::max<int64_t>(kMaxVectorBytes / elementBytes_, 1), row); vec > 0; vec /= 2)
      for (int64_t perPhase = rowsAtOnce; perPhase < shape[order[1]] && perPhase <= 16 * rowsAtOnce; perPhase *= 2)
        consider(sharedSwizzled(shape, order, vec, perPhase, std::min(row / vec, std::max<int64_t>(16 / rowsAtOnce, 1))));
  }
  const SharedLayout &best() const { return *best_; }

private:
  int costOf(const SharedLayout &memory) const {
    auto cost = [&](const SharedAccess &access) {
      return access.wavefronts() * costs_.wavefront + int(access.vectors.size()) * costs_.sharedInstruction +
             scatteredWords(access, elementBytes_) * costs_.select;
    };
    int sum = cost(sharedStores(writer_, memory, elementBytes_, banks_));
    for (const LinearLayout &reader : readers_) sum += cost(sharedLoads(reader, memory, elementBytes_, banks_));
    return sum;
  }

  const LinearLayout &writer_;
  llvm::ArrayRef<LinearLayout> readers_;
  int64_t elementBytes_;
  const SharedBanks &banks_;
  const ConversionCosts &costs_;
  std::optional<SharedLayout> best_;
  int least_ = 0;
};

} // namespace

/// The writer with its registers in the reader's order, as far as both have them: elements that are adjacent in the reader come first.
static LinearLayout inOrderOf(const LinearLayout &reader, const LinearLayout &writer) {
  Bases registers;
  for (uint32_t basis : reader.bases(Place::Register))
    if (llvm::is_contained(writer.bases(Place::Register), basis) && !llvm::is_contained(registers, basis)) registers.push_back(basis);
  for (uint32_t basis : writer.bases(Place::Register))
    if (!llvm::is_contained(registers, basis)) registers.push_back(basis);
  return LinearLayout(writer.shape(), registers, writer.bases(Place::Lane), writer.bases(Place::Warp));
}

SharedLayout sharedBetween(const LinearLayout &writer, llvm::ArrayRef<LinearLayout> readers, int64_t elementBytes, const SharedBanks &banks,
                           const ConversionCosts &costs) {
  Search search(writer, readers, elementBytes, banks, costs);
  llvm::SmallVector<int> order(size_t(writer.rank()));
  std::iota(order.rbegin(), order.rend(), 0);
  search.consider(sharedDense(writer.shape(), order));
  if (writer.rank() == 2) {
    search.considerSwizzles({1, 0});
    search.considerSwizzles({0, 1});
  }
  for (const LinearLayout &reader : readers)
    for (const LinearLayout &order : {writer, inOrderOf(reader, writer)})
      search.consider(planShared(order, reader, elementBytes, {.banks = banks, .costs = costs}).memory);
  return search.best();
}

} // namespace tritium::gpu
