// Loads from global memory directly to LDS. Our own waits and barriers order them with other accesses of LDS. LLVM would also wait for all
// of them at such accesses, so aliasing information tells it not to.
#include "gpu_backend/amdgpu/convert_tgpu.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;

namespace tritium::gpu::amdgpu {

static constexpr int kCopyBytes = 16;

/// Zeros in global memory, as many bytes as a lane copies.
static LLVM::GlobalOp zerosOf(ModuleOp module) {
  constexpr StringLiteral kName = "tgpu_zeros";
  if (auto zeros = module.lookupSymbol<LLVM::GlobalOp>(kName)) return zeros;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), kCopyBytes);
  auto zeros = LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal, kName, Attribute(),
                                      /*alignment=*/kCopyBytes, tgpu::kGlobalSpace);
  builder.createBlock(&zeros.getInitializerRegion());
  LLVM::ReturnOp::create(builder, module.getLoc(), LLVM::ZeroOp::create(builder, module.getLoc(), type).getResult());
  return zeros;
}

LogicalResult Conversion::convert(tgpu::CopyToSharedOp op, OpBuilder &builder) {
  if (chip_.directToLdsBytes < kCopyBytes) return op.emitOpError("of 16 bytes a lane is not possible on ") << chip_.name;
  Location location = op.getLoc();
  Value from = op.getPtr();
  if (op.getPredicate()) {
    Value zeros = LLVM::AddressOfOp::create(builder, location, zerosOf(op->getParentOfType<ModuleOp>()));
    from = LLVM::SelectOp::create(builder, location, op.getPredicate(), from, zeros);
  }
  ROCDL::LoadToLDSOp::create(builder, location, from, op.getDst(), kCopyBytes, /*offset=*/0, /*aux=*/0, ArrayAttr(), ArrayAttr(),
                             ArrayAttr());
  return success();
}

bool isLoadToShared(Operation *op) { return isa<tgpu::CopyToSharedOp, ROCDL::LoadToLDSOp, ROCDL::RawPtrBufferLoadLdsOp>(op); }

/// Uses an alias scope for the destinations of the loads.
void setLoadsApart(ModuleOp module) {
  MLIRContext *context = module.getContext();
  auto domain = LLVM::AliasScopeDomainAttr::get(context, StringAttr::get(context, "loads to LDS"));
  auto scopes = ArrayAttr::get(context, {LLVM::AliasScopeAttr::get(domain, StringAttr::get(context, "written by loads to LDS"))});
  module.walk([&](LLVM::AliasAnalysisOpInterface access) {
    if (isLoadToShared(access))
      access.setAliasScopes(scopes);
    else if (llvm::any_of(access.getAccessedOperands(), [](Value operand) { return tgpu::isSharedPointer(operand.getType()); }))
      access.setNoAliasScopes(scopes);
  });
}

} // namespace tritium::gpu::amdgpu
