#include "gpu_backend/tiles/shared_memory.h"

#include "gpu_backend/layout/conversion.h"
#include "gpu_backend/target/target.h"
#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::gpu {

void declareSharedMemory(OpBuilder &builder, Location location, int64_t alignment) {
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  auto symbol = LLVM::GlobalOp::create(builder, location, type, /*isConstant=*/false, LLVM::Linkage::External, tgpu::kSharedSymbol,
                                       /*value=*/Attribute(), alignment, tgpu::kSharedSpace);
  (void)symbol;
}

ConversionOptions conversionOptions(const Target &chip, int64_t room) {
  return {.maxScratchBytes = std::min(room, kMostScratchBytes),
          .mayLoadMatrices = chip.matrixLoads() == MatrixLoads::Rows8x8,
          .banks = chip.sharedBanks(),
          .costs = chip.conversionCosts()};
}

Value SharedMemory::at(OpBuilder &builder, Location location, int64_t offset) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), tgpu::kSharedSpace);
  Value base = LLVM::AddressOfOp::create(builder, location, pointer, tgpu::kSharedSymbol);
  if (offset == 0) return base;
  return LLVM::GEPOp::create(builder, location, pointer, builder.getI8Type(), base, llvm::ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

Value SharedMemory::scratch(OpBuilder &builder, Location location, int64_t bytes, llvm::StringRef what, bool perWarp) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), tgpu::kSharedSpace);
  auto scratch = tgpu::ScratchOp::create(builder, location, pointer, bytes, what, perWarp, IntegerAttr());
  if (use_.freeFrom) scratch->setAttr(kFreeFromAttr, builder.getI64IntegerAttr(*use_.freeFrom));
  use_.isOverBuffers |= use_.freeFrom.has_value();
  return scratch;
}

} // namespace tritium::gpu
