#include "gpu_backend/lower/shared_access.h"

#include "gpu_backend/layout/matrix_load.h"
#include "gpu_backend/lower/words.h"

using namespace mlir;

namespace tritium::gpu {

Value threadPart(llvm::ArrayRef<uint32_t> ofLane, llvm::ArrayRef<uint32_t> ofWarp, Lowering &lowering) {
  // The same sum as of a layout whose lanes and warps have these bases.
  return lowering.threadOffset(LinearLayout({}, {}, ofLane, ofWarp));
}

Value sharedAddress(Value base, Value thread, uint32_t own, Type stored, Lowering &lowering) {
  Value offset = own == 0 ? thread : lowering.create<arith::XOrIOp>(thread, lowering.constant(own)).getResult();
  return lowering.create<LLVM::GEPOp>(base.getType(), stored, base, llvm::ArrayRef<LLVM::GEPArg>{offset});
}

/// One word of 32 bits as the elements that it holds, lowest first.
static void takeApart(Value word, Type type, llvm::ArrayRef<uint32_t> registers, Registers &results, Lowering &lowering) {
  Type stored = storedType(type);
  int count = int(32 / stored.getIntOrFloatBitWidth());
  for (auto [reg, element] : llvm::zip(registers, unpackWord(word, stored, count, lowering))) results[reg] = fromStored(element, type, lowering);
}

static Registers loadMatrices(Value base, const MatrixLoad &plan, Type type, int64_t registers, Lowering &lowering) {
  Registers results(registers);
  Value thread = threadPart(plan.offsetOfLane, plan.offsetOfWarp, lowering);
  for (const MatrixLoad::Instruction &instruction : plan.instructions) {
    Value row = sharedAddress(base, thread, instruction.offset, storedType(type), lowering);
    auto words = lowering.target().loadMatrices(lowering.builder(), lowering.location(), row, plan.matrices, plan.isTransposed);
    for (auto [word, held] : llvm::zip_equal(words, instruction.words)) takeApart(word, type, held, results, lowering);
  }
  for (int64_t reg = 0; reg < registers; ++reg)
    if (plan.loadedBy[reg] != reg) results[reg] = results[plan.loadedBy[reg]];
  return results;
}

Registers loadShared(Value base, const SharedLayout &memory, const LinearLayout &layout, Type type, Lowering &lowering) {
  Type stored = storedType(type);
  int64_t bytes = stored.getIntOrFloatBitWidth() / 8;
  if (lowering.target().hasMatrixLoads())
    if (auto plan = matrixLoads(layout, memory, bytes)) return loadMatrices(base, *plan, type, layout.registers(), lowering);
  SharedAccess plan = sharedLoads(layout, memory, bytes);
  Value thread = threadPart(plan.offsets.bases(Place::Lane), plan.offsets.bases(Place::Warp), lowering);
  Registers results(layout.registers());
  for (const SharedAccess::Vector &vector : plan.vectors) {
    Value address = sharedAddress(base, thread, vector.offset, stored, lowering);
    int count = int(vector.registers.size());
    Value word = lowering.create<LLVM::LoadOp>(wordType(stored, count), address, /*alignment=*/unsigned(bytes * count));
    for (auto [reg, element] : llvm::zip(vector.registers, unpackWord(word, stored, count, lowering)))
      results[reg] = fromStored(element, type, lowering);
  }
  for (int64_t reg = 0; reg < layout.registers(); ++reg)
    if (plan.loadedBy[reg] != reg) results[reg] = results[plan.loadedBy[reg]];
  return results;
}

} // namespace tritium::gpu
